"""--prometheus: aggregations as metrics, read by a strict reader of the format and by a real Prometheus, and what a server must survive."""

import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from dvmtest import DVM, ENV, SANITIZED, dvm, million_keys, skip_or_fail
from exposition import Exposition

try:
    from prometheus_client.parser import text_string_to_metric_families
except ImportError:
    text_string_to_metric_families = None

PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"
PATIENCE = 120  # seconds until something that must happen has happened


def has_metrics():
    return bool(os.environ.get("DVM_NO_SKIP")) or "dvm was built without" not in dvm("run", "--prometheus", "127.0.0.1:0", "-n", "BEGIN { exit(0); }").stderr


def open_url(url, **headers):
    request = urllib.request.Request(url, headers=headers)
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE)


def get(url):
    with open_url(url) as answer:
        return answer.read()


def has_native_histograms():
    """Whether the format that has them is served."""
    if os.environ.get("DVM_NO_SKIP"):
        return True
    with traced("BEGIN { @c = count(); }") as tracer:
        scrape_when(tracer, "dvm_agg_c_total")
        with open_url(tracer.url, Accept=PROTOBUF) as answer:
            return answer.headers["Content-Type"].startswith("application/vnd.google.protobuf")


def wait_for(attempt):
    """What attempt() returns, once that is neither None nor False."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if result := attempt():
            return result
        time.sleep(0.02)
    raise AssertionError("it did not come")


@contextlib.contextmanager
def traced(script, *options, address="127.0.0.1:0"):
    """dvm while it runs a script; it has .url and .scrape()."""
    command = [DVM, "run", "-q", "-x", "aggrate=10ms", "--prometheus", address, *options, "-n", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV) as tracer:
        try:
            line = tracer.stderr.readline()
            assert line.startswith("dvm: serving metrics at http://"), line
            tracer.url = line.split()[-1]
            tracer.scrape = lambda: Exposition(get(tracer.url))
            yield tracer
        finally:
            tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=PATIENCE)


def scrape_when(tracer, name, least=0):
    """The first exposition with a sample of this name above `least`. Before tracing begins, the server says 503."""
    def attempt():
        try:
            found = tracer.scrape()
        except urllib.error.HTTPError as error:
            assert error.code == 503, error
            return None
        return found if any(value > least for value in found.of(name).values()) else None
    return wait_for(attempt)


@unittest.skipUnless(has_metrics(), "dvm was built without libmicrohttpd")
class PrometheusTest(unittest.TestCase):
    def test_each_function_has_its_type(self):
        script = """BEGIN { @c = count(); @s = sum(-5); @lo = min(-3); @hi = max(7); @a[1] = avg(-4); @a[1] = avg(10); @d = stddev(1);
                            @d = stddev(7); @u = max((uint64_t)-1); }"""
        with traced(script) as tracer:
            found = scrape_when(tracer, "dvm_agg_c_total")
        self.assertEqual({name: found.types["dvm_agg_" + name] for name in ("c_total", "s", "lo", "hi", "a", "d")},
                         {"c_total": "counter", "s": "gauge", "lo": "gauge", "hi": "gauge", "a": "summary", "d": "gauge"})
        self.assertEqual([found.get("dvm_agg_" + name) for name in ("c_total", "s", "lo", "hi", "d")], [1, -5, -3, 7, 3])
        self.assertEqual((found.get("dvm_agg_a_sum", key1="1"), found.get("dvm_agg_a_count", key1="1")), (6, 2))
        self.assertEqual(found.get("dvm_agg_u"), float(2**64 - 1))

    def test_distributions_are_exact(self):
        script = """BEGIN { @q = quantize(-5); @q = quantize(0); @q = quantize(1024); @q = quantize(1023);
                            @l = lquantize(3, 0, 100, 10); @l = lquantize(-1, 0, 100, 10); @l = lquantize(1000, 0, 100, 10);
                            @g = llquantize(5, 10, 0, 2, 20); @g = llquantize(-5, 10, 0, 2, 20); @g = llquantize(5000, 10, 0, 2, 20); }"""
        with traced(script) as tracer:
            found = scrape_when(tracer, "dvm_agg_g_count")
        at = lambda name, le: found.get(f"dvm_agg_{name}_bucket", le=le)
        self.assertEqual([at("q", le) for le in ("-8", "-4", "-1", "0", "511", "1023", "2047")], [0, 1, 1, 2, 2, 3, 4])
        self.assertEqual([at("l", le) for le in ("-1", "9", "99", "+Inf")], [1, 2, 2, 3])
        self.assertEqual([at("g", le) for le in ("-6", "-5", "4", "5", "999", "+Inf")], [0, 1, 1, 2, 2, 3])

    def test_labels_hold_any_bytes(self):
        script = r"""BEGIN { @k["quote \" back \\ line \n tab \t", execname] = count(); @b["a\377b"] = count(); @b["a\376b"] = count();
                             @e[probefunc, probename, probename, 2 + 3] = count(); }"""
        with traced(script) as tracer:
            found = scrape_when(tracer, "dvm_agg_e_total")
        (labels,) = found.of("dvm_agg_k_total")
        self.assertEqual(dict(labels)["key1"], 'quote " back \\ line \n tab \t')
        self.assertIn("execname", dict(labels))
        # Keys that read the same are one series: Prometheus refuses a page with two.
        self.assertEqual(found.of("dvm_agg_b_total"), {(("key1", "a\ufffdb"),): 2})
        self.assertEqual(found.get("dvm_agg_e_total", probefunc="", probename="BEGIN", probename_3="BEGIN", key4="5"), 1)

    def test_names_do_not_clash(self):
        with traced("BEGIN { @x = count(); @x_total = sum(2); @ = count(); }") as tracer:
            found = scrape_when(tracer, "dvm_agg_total")
        self.assertEqual(sorted(found.get(name) for name in ("dvm_agg_x_total", "dvm_agg_x_total_")), [1, 2])

    def test_series_are_limited(self):
        script = "BEGIN { i = 0; } tick-1ms /i < 500/ { @[i] = count(); @q[i] = quantize(i % 7); i++; } tick-1ms /i == 500/ { @done = count(); }"
        with traced(script, "-x", "maxseries=100") as tracer:
            found = scrape_when(tracer, "dvm_agg_done_total")
        self.assertEqual(len(found.of("dvm_agg_total")), 100)
        self.assertEqual({labels[0][1] for labels in found.of("dvm_agg_total")}, {str(i) for i in range(100)})  # the first that came
        self.assertEqual(found.get("dvm_aggregation_keys", aggregation="agg"), 500)
        self.assertEqual(found.get("dvm_aggregation_keys_left_out", aggregation="agg", reason="maxseries"), 400)
        distributions, samples = len(found.of("dvm_agg_q_count")), len(found.of("dvm_agg_q_count")) + len(found.of("dvm_agg_q_bucket"))
        self.assertLessEqual(samples, 100)
        self.assertGreater(distributions, 5)
        self.assertEqual(found.get("dvm_aggregation_keys_left_out", aggregation="agg_q", reason="maxseries"), 500 - distributions)

    def test_a_million_keys_are_bounded(self):
        with traced(million_keys(), "-x", "aggrate=200ms", "-x", "aggsize=64m") as tracer:
            found = scrape_when(tracer, "dvm_agg_done_total")
            self.assertLess(len(get(tracer.url)), 1 << 20)
            status = pathlib.Path(f"/proc/{tracer.pid}/status").read_text()
        self.assertEqual(len(found.of("dvm_agg_total")), 10000)  # the default of maxseries
        self.assertEqual(found.get("dvm_aggregation_keys", aggregation="agg"), 1000000)
        self.assertEqual(found.get("dvm_aggregation_keys_left_out", aggregation="agg", reason="maxseries"), 990000)
        if not SANITIZED:  # ASan's own memory is several times dvm's, and varies
            self.assertLess(int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]), 400000)

    def test_negative_counts_are_left_out(self):
        with traced("BEGIN { @q[1] = quantize(5, -2); @q[2] = quantize(5, 3); }") as tracer:
            found = scrape_when(tracer, "dvm_agg_q_count")
        self.assertEqual(found.of("dvm_agg_q_count"), {(("key1", "2"),): 3})
        self.assertEqual(found.get("dvm_aggregation_keys_left_out", aggregation="agg_q", reason="negative"), 1)

    def test_values_are_those_before_normalize(self):
        # What clear() leaves of an extreme has no value: then the record with both actions has been consumed.
        with traced("BEGIN { @s = sum(5000); @m = min(5); } tick-50ms { normalize(@s, 1000); clear(@m); }", "-x", "switchrate=10ms") as tracer:
            scrape_when(tracer, "dvm_agg_s")
            found = wait_for(lambda: (page := tracer.scrape()) and not page.of("dvm_agg_m") and page)
        self.assertEqual(found.types["dvm_agg_m"], "gauge")
        self.assertEqual(found.get("dvm_agg_s"), 5000)

    def test_overhead_and_drops(self):
        with traced("tick-1ms { @ = count(); trace(1); }", "--account") as tracer:
            first = scrape_when(tracer, "dvm_agg_total", 2)
            later = scrape_when(tracer, "dvm_agg_total", max(first.of("dvm_agg_total").values()))
        self.assertGreater(later.get("dvm_firings_total"), first.get("dvm_firings_total"))
        self.assertGreater(later.get("dvm_cpu_seconds_total"), first.get("dvm_cpu_seconds_total"))
        self.assertEqual(later.types["dvm_drops_total"], "counter")
        self.assertEqual(later.get("dvm_drops_total", kind="aggregation"), 0)
        self.assertGreater(later.get("dvm_stage_seconds", stage="actions"), 0)

    def test_drops_are_counted(self):
        with traced("tick-1ms { speculation(); }", "-x", "nspec=1") as tracer:
            found = scrape_when(tracer, "dvm_drops_total")
        self.assertGreater(found.get("dvm_drops_total", kind="unavailable"), 0)

    def test_formats(self):
        """Text, unless the request prefers protobuf."""
        with traced("BEGIN { @c = count(); }") as tracer:
            scrape_when(tracer, "dvm_agg_c_total")
            for accept in ("*/*", PROTOBUF + ";q=0.1,text/plain;q=0.2", "application/openmetrics-text"):
                with open_url(tracer.url, Accept=accept) as answer:
                    self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8", accept)
                    self.assertIn(b"\ndvm_agg_c_total 1\n", answer.read())

    def test_other_requests(self):
        with traced("BEGIN { @c = count(); }") as tracer:
            scrape_when(tracer, "dvm_agg_c_total")
            with self.assertRaises(urllib.error.HTTPError) as missing:
                get(tracer.url + "x")
            self.assertEqual(missing.exception.code, 404)
            request = urllib.request.Request(tracer.url, data=b"x" * 100000)
            with self.assertRaises(urllib.error.HTTPError) as posted:
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=PATIENCE)
            self.assertEqual(posted.exception.code, 405)

    def test_requests_that_are_none(self):
        """Each is answered with an error, and none affects the next."""
        get_it, post = b"GET /metrics HTTP/1.1\r\nHost: x\r\n", b"POST /metrics HTTP/1.1\r\nHost: x\r\n"
        cases = ((get_it + b"X: " + b"a" * 1000000 + b"\r\n\r\n", 431), (get_it + b"X: y\r\n" * 20000 + b"\r\n", 431),
                 (b"GET /" + b"a" * 1000000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 414), (bytes(range(256)) * 100, 400), (b"GET /metrics\r\n\r\n", 400),
                 (b"GET /metrics HTTP/9.9\r\nHost: x\r\n\r\n", 505), (b"BREW /metrics HTTP/1.1\r\nHost: x\r\n\r\n", 405),
                 (post + b"Content-Length: -5\r\n\r\n", 400), (post + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n", 413),
                 (post + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nx", 413), (b"GET /met\0rics HTTP/1.1\r\nHost: x\r\n\r\n", 404),
                 (get_it + b"Accept: text/plain;q=0." + b"9" * 20000 + b"\r\n\r\n", 200),
                 (get_it + b"Accept: ;;,=;q=,\xff/\xff;q=nan,application/vnd.google.protobuf;q=1e999\r\n\r\n", 200), ((get_it + b"\r\n") * 200, 200))
        with traced("tick-1ms { @c = count(); }") as tracer:
            first = max(scrape_when(tracer, "dvm_agg_c_total").of("dvm_agg_c_total").values())
            where = urllib.parse.urlsplit(tracer.url)
            for request, status in cases:
                with self.subTest(request[:60]), socket.create_connection((where.hostname, where.port), timeout=PATIENCE) as connection:
                    connection.sendall(request)
                    self.assertRegex(connection.recv(100), b"^HTTP/1.1 %d " % status)
            scrape_when(tracer, "dvm_agg_c_total", first)
        self.assertEqual(tracer.returncode, 0)

    def test_scrapers_that_hang_delay_nobody(self):
        """Idle connections, some with half a request and some that do not read, beside one that works; and dvm ends at once."""
        with traced("tick-1ms { @c = count(); }") as tracer:
            scrape_when(tracer, "dvm_agg_c_total")
            address = urllib.parse.urlsplit(tracer.url)
            hanging = [socket.create_connection((address.hostname, address.port)) for _ in range(100)]
            for i, connection in enumerate(hanging):
                connection.sendall([b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"][i % 3])
            first = max(tracer.scrape().of("dvm_agg_c_total").values())
            scrape_when(tracer, "dvm_agg_c_total", first)
            tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=PATIENCE)
            self.assertEqual(tracer.returncode, 0)
            for connection in hanging:
                connection.close()

    def test_scrapers_that_drip_make_room(self):
        """As many as the server takes, each of which sends a byte every second, so that none is idle."""
        with traced("tick-1ms { @c = count(); }") as tracer:
            scrape_when(tracer, "dvm_agg_c_total")
            address = urllib.parse.urlsplit(tracer.url)
            with contextlib.ExitStack() as stack:
                dripping = [stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=PATIENCE)) for _ in range(256)]

                def is_answered():
                    for connection in dripping:
                        with contextlib.suppress(OSError):
                            connection.sendall(b"G")
                    return select.select(dripping[:1], [], [], 1)[0]
                wait_for(is_answered)
                self.assertRegex(dripping[0].recv(100), b"^HTTP/1.1 408 ")
                first = max(tracer.scrape().of("dvm_agg_c_total").values())
                scrape_when(tracer, "dvm_agg_c_total", first)
        self.assertEqual(tracer.returncode, 0)

    def test_bad_addresses_end_the_run_before_it_begins(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            cases = {
                "localhost": "it is not HOST:PORT",
                "localhost:http": "the port is not a number from 0 to 65535",
                "localhost:65536": "the port is not a number from 0 to 65535",
                "::1:9464": "an IPv6 address needs brackets: [::1]:9464",
                "nosuch.invalid:9464": None,  # the resolver says it in its words
                "203.0.113.1:9464": "Cannot assign requested address",
                f"127.0.0.1:{taken.getsockname()[1]}": "Address already in use",
            }
            for address, reason in cases.items():
                result = dvm("run", "--prometheus", address, "-n", 'BEGIN { printf("began"); exit(0); }', "-c", "/bin/echo ran")
                self.assertEqual((result.returncode, result.stdout), (1, ""), address)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertTrue(result.stderr.startswith(f"dvm: cannot serve metrics at '{address}': {reason or ''}"), result.stderr)

    def test_a_port_without_permission(self):
        command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", DVM, "run", "--prometheus", "127.0.0.1:80", "-n", "BEGIN { exit(0); }"]
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start", encoding="ascii") as file:
            if os.geteuid() != 0 or not shutil.which("setpriv") or int(file.read()) <= 80:
                self.skipTest("every user may use port 80 here, or nobody else can be asked")
        result = subprocess.run(command, capture_output=True, text=True, env=ENV, timeout=PATIENCE, check=False)
        self.assertEqual((result.returncode, result.stderr), (1, "dvm: cannot serve metrics at '127.0.0.1:80': Permission denied\n"))

    def test_the_reference_parser_agrees(self):
        if text_string_to_metric_families is None:
            self.skipTest("needs python3-prometheus-client")
        script = r'BEGIN { @c["a\n\"\\"] = count(); @q = quantize(10); @a = avg(3); }'
        with traced(script) as tracer:
            scrape_when(tracer, "dvm_agg_q_count")
            families = {one.name: one for one in text_string_to_metric_families(get(tracer.url).decode())}
        self.assertEqual(families["dvm_agg_c"].samples[0].labels, {"key1": 'a\n"\\'})
        self.assertEqual([families[name].type for name in ("dvm_agg_c", "dvm_agg_q", "dvm_agg_a")], ["counter", "histogram", "summary"])


@unittest.skipUnless(has_metrics(), "dvm was built without libmicrohttpd")
class RealPrometheusTest(unittest.TestCase):
    def setUp(self):
        if not shutil.which("prometheus"):
            skip_or_fail(self, "needs prometheus")

    def query(self, port, text):
        try:
            answer = json.loads(get(f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": text})))
        except (urllib.error.URLError, ConnectionError):
            return None
        return answer["data"]["result"]

    @contextlib.contextmanager
    def prometheus(self, url, *options):
        """A Prometheus that scrapes the URL; gives a function that asks it until the answer is not empty."""
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/prometheus.yml", "w", encoding="ascii") as file:
                target = urllib.parse.urlsplit(url).netloc
                file.write("scrape_configs: [{job_name: dvm, scrape_interval: 1s, static_configs: [{targets: ['%s']}]}]\n" % target)
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            command = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}"]
            with subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
                try:
                    yield lambda text: wait_for(lambda: self.query(port, text))
                finally:
                    server.terminate()

    def test_prometheus_scrapes(self):
        script = r'tick-10ms { @n["a \"b\" \377"] = count(); @q = quantize(100); @a = avg(4); }'
        with traced(script) as tracer, self.prometheus(tracer.url) as ask:
            self.assertEqual(ask("dvm_agg_n_total > 1")[0]["metric"]["key1"], 'a "b" \ufffd')
            self.assertEqual(ask('up{job="dvm"} == 1')[0]["value"][1], "1")
            median = float(ask("histogram_quantile(0.5, rate(dvm_agg_q_bucket[1m])) > 0")[0]["value"][1])
            self.assertTrue(63 < median <= 127, median)
            self.assertEqual(float(ask("rate(dvm_agg_a_sum[1m]) / rate(dvm_agg_a_count[1m]) > 0")[0]["value"][1]), 4)
            self.assertEqual(ask('scrape_samples_scraped{job="dvm"} > 10')[0]["metric"]["job"], "dvm")

    def test_native_histograms(self):
        """Each distribution has one range of values, of which quantiles must lie in the native bucket."""
        if not has_native_histograms():
            self.skipTest("dvm was built without libprotobuf")
        ranges = {"zero": (0, (0, 1e-9)), "one": (1, (0.5, 1)), "power": (64, (64, 128)), "below": (127, (64, 128)), "negative": (-100, (-128, -64)),
                  "largest": ("0x7fffffffffffffff", (2**62, 2**63)), "smallest": ("(-0x7fffffffffffffff - 1)", (-2**63, -2**62))}
        script = "BEGIN { " + " ".join(f"@{name} = quantize({value}, 3);" for name, (value, _) in ranges.items()) + """
                                @both = quantize(-5); @both = quantize(0); @both = quantize(1, 2); @both = quantize(1000);
                                @key["a"] = quantize(5); @l = lquantize(3, 0, 100, 10); }"""
        with traced(script) as tracer, self.prometheus(tracer.url, "--enable-feature=native-histograms") as ask:
            for name, (value, (low, high)) in ranges.items():
                self.assertEqual(ask(f"histogram_count(dvm_agg_{name})")[0]["value"][1], "3", name)
                median = float(ask(f"histogram_quantile(0.5, dvm_agg_{name})")[0]["value"][1])
                self.assertTrue(low <= median <= high, (name, median))
            self.assertEqual(ask("histogram_count(dvm_agg_both)")[0]["value"][1], "5")
            self.assertEqual(ask("histogram_sum(dvm_agg_both)")[0]["value"][1], "NaN")
            self.assertEqual(float(ask("histogram_fraction(0.5, 1, dvm_agg_both)")[0]["value"][1]), 0.4)
            self.assertEqual(ask('histogram_count(dvm_agg_key{key1="a"})')[0]["value"][1], "1")
            self.assertEqual(ask('dvm_agg_l_bucket{le="9.0"} or dvm_agg_l_bucket{le="9"}')[0]["value"][1], "1")


if __name__ == "__main__":
    unittest.main()
