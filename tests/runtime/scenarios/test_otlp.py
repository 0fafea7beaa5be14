"""--otlp: metrics and records at a collector, one that checks, and ones that are slow, full, or gone."""

import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from dvmtest import DVM, ENV, dvm, errors_on_terminal, eventually, skip_or_fail, together

try:  # the published definitions of the protocol: requirements.txt
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    PROTOCOL = {"/v1/metrics": ExportMetricsServiceRequest, "/v1/logs": ExportLogsServiceRequest}
except ImportError:
    PROTOCOL = None

PATIENCE = 120  # seconds until something that must happen has happened
DIRECT = dict(ENV, no_proxy="*")  # no proxy stands between


def has_otlp():
    return bool(os.environ.get("DVM_NO_SKIP")) or "dvm was built without" not in dvm("run", "--otlp", "http://127.0.0.1:9", "-n", "BEGIN { exit(0); }").stderr


class Collector(http.server.ThreadingHTTPServer):
    """Keeps all requests as (path, headers, body, time). answer(path, number) gives a status, headers and a body, or None: hang up."""

    daemon_threads = True

    def __init__(self, answer=lambda path, number: (200, {}, b"{}"), context=None):
        self.requests, self.answer, self.lock = [], answer, threading.Lock()
        super().__init__(("127.0.0.1", 0), Request)
        if context:
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"http{'s' if context else ''}://127.0.0.1:{self.server_address[1]}"

    def bodies(self, path):
        return [json.loads(body) for its, _, body, _ in self.requests if its == path]

    def handle_error(self, request, client_address):
        pass  # a client that goes away


class Request(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            number = sum(path == self.path for path, *_ in self.server.requests)
            self.server.requests.append((self.path, dict(self.headers), body, time.monotonic()))
        answer = self.server.answer(self.path, number)
        if answer is None:
            self.close_connection = True
            return
        status, headers, body = answer
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def collector(*args, **kwargs):
    with Collector(*args, **kwargs) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)  # shutdown() waits for as long
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()


def run(url, script, *options):
    return subprocess.run([DVM, "run", "-q", "--otlp", url, *options, "-n", script], capture_output=True, text=True, errors="replace", env=DIRECT,
                          timeout=PATIENCE, check=False)


def attributes(things):
    values = {}
    for one in things:
        ((kind, value),) = one["value"].items()
        values[one["key"]] = int(value) if kind == "intValue" else value
    return values


def metrics_of(body):
    (resource,) = body["resourceMetrics"]
    (scope,) = resource["scopeMetrics"]
    return {metric["name"]: metric for metric in scope["metrics"]}


def records_of(server):
    return [record for body in server.bodies("/v1/logs") for resource in body["resourceLogs"]
            for scope in resource["scopeLogs"] for record in scope["logRecords"]]


@unittest.skipUnless(has_otlp(), "dvm was built without libcurl")
class OtlpTest(unittest.TestCase):
    def check(self, result, status=0, stderr=""):
        self.assertEqual((result.returncode, result.stderr), (status, stderr))

    def test_metrics(self):
        script = """BEGIN { @c[execname] = count(); @s = sum(-5); @q = quantize(3); @q = quantize(1024); @a = avg(10); @a = avg(-4);
                            @m = max((uint64_t)-1); exit(0); }"""
        with collector() as server:
            self.check(run(server.url, script))
        metrics = metrics_of(server.bodies("/v1/metrics")[-1])
        (point,) = metrics["dvm.agg_c"]["sum"]["dataPoints"]
        self.assertEqual((metrics["dvm.agg_c"]["sum"]["isMonotonic"], metrics["dvm.agg_c"]["sum"]["aggregationTemporality"]), (True, 2))
        self.assertEqual((point["asInt"], list(attributes(point["attributes"]))), ("1", ["execname"]))
        self.assertLessEqual(int(point["startTimeUnixNano"]), int(point["timeUnixNano"]))
        self.assertLess(abs(int(point["timeUnixNano"]) / 1e9 - time.time()), 3600)
        self.assertEqual((metrics["dvm.agg_s"]["sum"]["isMonotonic"], metrics["dvm.agg_s"]["sum"]["dataPoints"][0]["asInt"]), (False, "-5"))
        (point,) = metrics["dvm.agg_q"]["histogram"]["dataPoints"]
        self.assertEqual(len(point["bucketCounts"]), len(point["explicitBounds"]) + 1)
        self.assertEqual((point["count"], sum(map(int, point["bucketCounts"]))), ("2", 2))
        self.assertEqual((point["explicitBounds"][0], point["explicitBounds"][-1]), (1, 2047))
        (point,) = metrics["dvm.agg_a"]["summary"]["dataPoints"]
        self.assertEqual((point["count"], point["sum"]), ("2", 6))
        self.assertEqual(metrics["dvm.agg_m"]["gauge"]["dataPoints"][0]["asDouble"], float(2**64 - 1))
        self.assertEqual(metrics["dvm.drops"]["sum"]["dataPoints"][0]["asInt"], "0")
        resource = attributes(server.bodies("/v1/metrics")[-1]["resourceMetrics"][0]["resource"]["attributes"])
        self.assertEqual((resource["service.name"], resource["host.name"]), ("dvm", socket.gethostname()))

    def test_records_are_logs(self):
        script = r'BEGIN { printf("a \"quote\" \\ %s\n", "\377"); trace(7); } END { printf("end"); } tick-1ms { exit(3); }'
        with collector() as server:
            self.check(run(server.url, script), status=3)
        records = records_of(server)
        self.assertEqual([record["body"]["stringValue"] for record in records], ['a "quote" \\ \ufffd\n7', "", "end"])
        about = attributes(records[0]["attributes"])
        self.assertEqual(about["dvm.probe"], "dtrace:::BEGIN")
        self.assertEqual(set(about), {"dvm.probe", "cpu", "process.pid", "thread.id", "thread.name"})
        self.assertLess(abs(int(records[0]["timeUnixNano"]) / 1e9 - time.time()), 3600)
        self.assertEqual({headers["Content-Type"] for _, headers, _, _ in server.requests}, {"application/json"})

    def test_headers_of_the_environment(self):
        with collector() as server:
            subprocess.run([DVM, "run", "-q", "--otlp", server.url, "-n", "BEGIN { exit(0); }"], capture_output=True, timeout=PATIENCE, check=True,
                           env=dict(DIRECT, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer a=b,=c,d,bad=\r\nX-Other: y,x-two=2"))
        headers = server.requests[0][1]
        self.assertEqual((headers["authorization"], headers["x-two"]), ("Bearer a=b", "2"))
        self.assertNotIn("X-Other", headers)

    def test_a_certificate_that_is_trusted(self):
        if not shutil.which("openssl"):
            skip_or_fail(self, "needs openssl")
        certificate, context = self.certificate()
        with collector(context=context) as server:
            result = subprocess.run([DVM, "run", "-q", "--otlp", server.url, "-n", "BEGIN { exit(0); }"], capture_output=True, text=True,
                                    timeout=PATIENCE, check=False, env=dict(DIRECT, OTEL_EXPORTER_OTLP_CERTIFICATE=certificate))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual({path for path, *_ in server.requests}, {"/v1/metrics", "/v1/logs"})

    def test_requests_are_what_the_protocol_defines(self):
        if PROTOCOL is None:
            self.skipTest("needs the Python packages of tests/runtime/requirements.txt, which ./bootstrap check fetches")
        script = r"""BEGIN { @c["\377"] = count(); @s = sum(-5); @q = quantize(3); @l = lquantize(2, 0, 10); @a = avg(10); @d = stddev(4);
                             @m = max((uint64_t)-1); printf("%s", "\200"); exit(0); }"""
        with collector() as server:
            self.check(run(server.url, script))
        kinds = set()
        for path, _, body, _ in server.requests:
            request = json_format.Parse(body, PROTOCOL[path]())  # refuses unknown fields and wrong types
            if path == "/v1/metrics":
                kinds |= {metric.WhichOneof("data") for metric in request.resource_metrics[0].scope_metrics[0].metrics}
        self.assertEqual({path for path, *_ in server.requests}, set(PROTOCOL))
        self.assertEqual(kinds, {"sum", "gauge", "summary", "histogram"})

    def test_values_are_sent_while_tracing(self):
        with collector() as server:
            command = [DVM, "run", "-q", "-x", "aggrate=10ms", "--otlp", server.url + "/", "-n", "tick-1ms { @ = count(); }"]
            with subprocess.Popen(command, env=DIRECT, stdout=subprocess.DEVNULL) as tracer:
                deadline = time.monotonic() + PATIENCE
                while len(server.requests) < 5 and time.monotonic() < deadline:
                    time.sleep(0.02)
                tracer.send_signal(signal.SIGINT)
        counts = [int(metrics_of(body)["dvm.agg"]["sum"]["dataPoints"][0]["asInt"]) for body in server.bodies("/v1/metrics")
                  if "dvm.agg" in metrics_of(body)]
        self.assertGreater(len(counts), 2)
        self.assertEqual(counts, sorted(counts))

    def test_clear_begins_anew(self):
        with collector() as server:
            self.check(run(server.url, "BEGIN { @ = count(); } tick-200ms { clear(@); } tick-600ms { exit(0); }",
                           "-x", "aggrate=20ms", "-x", "switchrate=20ms"))
        points = [metrics_of(body)["dvm.agg"]["sum"]["dataPoints"][0] for body in server.bodies("/v1/metrics") if "dvm.agg" in metrics_of(body)]
        self.assertGreater(int(points[-1]["startTimeUnixNano"]), int(points[0]["startTimeUnixNano"]))

    def test_temporary_failures_are_tried_again(self):
        failures = ((503, {"Retry-After": "1"}, b""), (429, {}, b""), (502, {}, b""), (504, {}, b""), None)
        for failure, (server, result) in zip(failures, together(self.run_with_first_answer, failures)):
            with self.subTest(failure=failure):
                self.assertEqual([record["body"]["stringValue"] for record in records_of(server)].count("kept"), 2)  # refused, then taken
                for line in result.stderr.splitlines():
                    self.assertTrue(line.startswith(f"dvm: cannot export to {server.url}: "), line)
                self.assertEqual(result.returncode, 0)
                tries = [at for path, _, _, at in server.requests if path == "/v1/logs"]
                if failure:  # libcurl itself tries again at once if a connection that it had used before is closed
                    self.assertGreater(tries[1] - tries[0], 0.7)

    @staticmethod
    def run_with_first_answer(first):
        with collector(lambda path, number: first if number == 0 else (200, {}, b"{}")) as server:
            return server, run(server.url, 'BEGIN { printf("kept"); } tick-2s { exit(0); }')

    def test_retry_after_is_obeyed(self):
        with collector(lambda path, number: (503, {"Retry-After": "2"}, b"") if number == 0 else (200, {}, b"{}")) as server:
            run(server.url, "tick-4s { exit(0); }", "-x", "aggrate=100ms")
        tries = [at for path, _, _, at in server.requests if path == "/v1/metrics"]
        self.assertGreater(tries[1] - tries[0], 1.9)

    def test_refusals_are_lost_and_counted(self):
        with collector(lambda path, number: (400, {}, b"bad \x1b[31m thing")) as server:
            result = run(server.url, 'BEGIN { printf("x"); printf("y"); exit(0); }', "--strict-drops")
            self.assertEqual(result.returncode, 1)
            first, last = result.stderr.splitlines()
            self.assertEqual(first, f"dvm: cannot export to {server.url}: status 400: bad  [31m thing")
            self.assertRegex(last, r"^dvm: not exported: 1 record was rejected, \d+ snapshots? of metrics (was|were) rejected$")

    def test_partial_success(self):
        answers = {"/v1/logs": b'{"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": "too old"}}', "/v1/metrics": b""}
        with collector(lambda path, number: (200, {}, answers[path])) as server:
            result = run(server.url, 'BEGIN { printf("x"); } tick-1ms { exit(0); }')
        self.check(result, stderr=f"dvm: {server.url}/v1/logs rejects a part of what is exported: too old\n"
                                  "dvm: not exported: 1 record was rejected\n")

    def test_more_is_rejected_than_was_sent(self):
        lie = b'{"partialSuccess": {"rejectedDataPoints": "18446744073709551615", "errorMessage": "all"}}'
        with collector(lambda path, number: (200, {}, lie if path == "/v1/metrics" else b"")) as server:
            result = run(server.url, "BEGIN { exit(0); }")
            sent = sum(len(kind["dataPoints"]) for body in server.bodies("/v1/metrics") for metric in metrics_of(body).values()
                       for kind in metric.values() if isinstance(kind, dict))
        self.assertIn(f"dvm: not exported: {sent} values of metrics were rejected\n", result.stderr)

    def test_answers_of_any_kind(self):
        for body in (b"", b"\xff\xfe", b"[]", b'{"partialSuccess": 7}', b'{"partialSuccess": {"rejectedLogRecords": -5}}', b"x" * 1000000):
            with collector(lambda path, number, body=body: (200, {}, body)) as server:
                self.check(run(server.url, 'BEGIN { printf("x"); exit(0); }'))

    def test_answers_that_are_none(self):
        """Data that the collector does not take are counted as lost; dvm ends in time whatever it answers."""
        def head(status, *lines):
            return "".join(line + "\r\n" for line in (f"HTTP/1.1 {status}", *lines, "")).encode()

        waits = r"not exported: 2 records were not sent in time, the last metrics were not sent\n$"
        cases = ((bytes(range(256)) * 10, "HTTP/0.9.*" + waits), (b"\x15\x03\x01\0\2\2\x28", "HTTP/0.9.*" + waits),
                 (head("200 OK", "Content-Length: 100") + b"{", "transfer closed.*" + waits), (head("200 OK", *["X: " + "y" * 60000] * 20), "too large|Too large"),
                 (head("200 OK", "Transfer-Encoding: chunked") + b"zzz\r\n", waits), (None, "Connection reset by peer.*" + waits),
                 (head("429 X", "Retry-After: -5", "Content-Length: 0"), "status 429.*" + waits),
                 (head("503 X", "Retry-After: Fri, 31 Dec 2099 23:59:59 GMT", "Content-Length: 0"), "status 503.*" + waits),
                 (head("503 X", "Retry-After: " + "9" * 20, "Content-Length: 0"), "status 503.*" + waits),
                 (head("302 Found", "Location: /v1/logs", "Content-Length: 0"), "status 302.*2 records were rejected"), (head("204 No Content"), "^$"),
                 (head("200 OK", "Content-Type: application/x-protobuf", "Content-Length: 3") + b"\n\1\0", "^$"))
        for (answer, said), result in zip(cases, together(self.run_with_answer, [answer for answer, _ in cases])):
            with self.subTest(answer and answer[:60]):
                self.assertEqual((result.returncode, result.stdout.strip()), (0, "x"))
                self.assertRegex(result.stderr, "(?s)" + said)

    def run_with_answer(self, answer):
        """Each connection is answered with these bytes, or reset."""
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection = server.accept()[0]
                    with connection, contextlib.suppress(OSError):
                        connection.recv(1 << 16)
                        if answer is None:
                            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        else:
                            connection.sendall(answer)

        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=serve, daemon=True).start()
            return run(f"http://127.0.0.1:{server.getsockname()[1]}", 'BEGIN { printf("x"); } tick-500ms { exit(0); }')

    def test_series_are_limited(self):
        def sent(server):
            metrics = metrics_of(server.bodies("/v1/metrics")[-1]) if server.requests else {}
            if "dvm.agg" not in metrics:
                return None
            return len(metrics["dvm.agg"]["sum"]["dataPoints"]), metrics["dvm.aggregation_keys_left_out"]["gauge"]["dataPoints"][0]["asInt"]

        script = "BEGIN { i = 0; } tick-1ms /i < 12000/ { " + 500 * "@[i++] = count(); " + "}"
        with collector() as server:
            with subprocess.Popen([DVM, "run", "-q", "--otlp", server.url, "-n", script], env=DIRECT, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as tracer:
                found = eventually(lambda: sent(server) == (10000, "2000"), PATIENCE)
                tracer.send_signal(signal.SIGINT)
        self.assertTrue(found, sent(server))

    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        result = run(url, 'BEGIN { printf("x"); exit(0); }')
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "x"))
        first, last = result.stderr.splitlines()
        self.assertTrue(first.endswith(": Connection refused"), first)
        self.assertEqual(last, "dvm: not exported: 1 record was not sent in time, the last metrics were not sent")

    def test_a_collector_that_never_answers(self):
        stop = threading.Event()
        with collector(lambda path, number: stop.wait(PATIENCE) and None) as server:
            result = run(server.url, 'tick-1ms /i++ < 50/ { printf("%d ", i); } tick-300ms { exit(0); }')
            stop.set()
        self.assertEqual(len(result.stdout.split()), 50)  # tracing went on
        self.assertEqual(result.returncode, 0)
        self.assertIn("not exported: 51 records were not sent in time", result.stderr)

    def test_a_terminal_shows_that_the_end_waits(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            said, _ = errors_on_terminal(self, DVM, "run", "-q", "--otlp", url, "-n", "BEGIN { trace(1); exit(0); }", env=DIRECT)
        self.assertIn("\r\033[Kdvm: sending the remaining data to the collector (2 s)", said)
        self.assertIn("\r\033[Kdvm: not exported: 1 record was not sent in time", said)

    def test_the_queue_is_bounded(self):
        clauses = 'tick-1ms { printf("%8000d", 1); } ' * 20
        stop = threading.Event()
        with collector(lambda path, number: stop.wait(PATIENCE) and None) as server:
            result = run(server.url, clauses + "tick-2s { exit(0); }", "-x", "bufsize=32m", "-x", "switchrate=100ms", "--account=json")
            stop.set()
        self.assertRegex(result.stderr, r"not exported: \d+ records found no room in the queue, \d+ records were not sent in time")

    def certificate(self):
        """The file of a self-signed certificate, and how a server uses it."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj",
                        "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return certificate, context

    def test_a_certificate_that_nobody_vouches_for(self):
        if not shutil.which("openssl"):
            skip_or_fail(self, "needs openssl")
        with collector(context=self.certificate()[1]) as server:
            result = run(server.url, "BEGIN { exit(0); }")
        self.assertIn("certificate", result.stderr)
        self.assertEqual(server.requests, [])

    def test_bad_urls_end_the_run_before_it_begins(self):
        for url, reason in (("localhost:4318", "neither http:// nor https://"), ("ftp://x", "neither http:// nor https://"),
                            ("http://", "cannot export to"), ("http://a b", "cannot export to"), ("http://x:99999", "cannot export to")):
            result = dvm("run", "--otlp", url, "-n", 'BEGIN { printf("began"); exit(0); }', "-c", "/bin/echo ran")
            self.assertEqual((result.returncode, result.stdout, len(result.stderr.splitlines())), (1, "", 1), url)
            self.assertIn(reason, result.stderr)


if __name__ == "__main__":
    unittest.main()
