"""Further servers under load, in long form only: "./bootstrap torture" runs them. See test_torture_servers.py."""

import os
import pathlib
import unittest

import dvmtest
from scenarios.test_torture import IS_LONG
from scenarios.test_torture_servers import Load, UnderLoad, children_of, free_port, served

MEMCACHED_CLIENT = """
import socket, sys
with socket.create_connection(("127.0.0.1", %d)) as server, server.makefile("rb") as answers:
    for n in range(3000):
        value = b"%%d" %% (n * n)
        server.sendall(b"set k%%d 0 0 %%d\\r\\n%%b\\r\\nget k%%d\\r\\n" %% (n, len(value), value, n))
        lines = [answers.readline() for _ in range(4)]
        assert lines[0] == b"STORED\\r\\n" and lines[2] == value + b"\\r\\n", lines
print("all right")
"""
PAGE = '<?php $all = []; for ($i = 0; $i < 2000; $i++) $all[] = md5($i); sort($all); try { intdiv(1, 0); } catch (DivisionByZeroError $e) { echo "caught "; } ' \
       '$fiber = new Fiber(function () { foreach ([1, 2, 3] as $n) Fiber::suspend($n); }); $sum = $fiber->start(); ' \
       'while (!$fiber->isTerminated()) $sum += $fiber->resume(); echo $sum, " ", crc32(implode($all)), str_repeat("x", 100);'
QUERIES = "select sum(a), count(distinct a % 7), max(md5(b)) from d.t; insert into d.o select a, b from d.t limit 10; delete from d.o; " \
          "select a, repeat(b, 3) from d.t order by md5(a) limit 20; select 1 / 0, sqrt(2), json_extract('[1, 2]', '$[1]');"


@unittest.skipUnless(IS_LONG, "only in long form")
class Services(UnderLoad):
    def check_web(self, server, pids, port, page, count, workers=1):
        self.answers(port)
        self.assertTrue(dvmtest.eventually(lambda: len(pids()) == workers))
        before = pids()
        self.check(Load(self, ["ab", "-q", "-n", str(count), "-c", "8", f"http://127.0.0.1:{port}/{page}"], served(count)), pids)
        self.assertEqual((server.poll(), pids()), (None, before))
        for pid in before:
            self.code_is_restored(pid)

    def write(self, name, text):
        path = pathlib.Path(self.folder, name)
        path.write_text(text)
        path.chmod(0o666)
        return str(path)

    def test_haproxy_before_nginx(self):
        self.needs("haproxy", "nginx", "ab")
        behind, port = free_port(), free_port()
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.write("nginx.conf", f"daemon off; pid {self.folder}/nginx.pid; error_log stderr; events {{}}\n"
                                 f"http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{behind}; location / {{ return 200 right; }} }} }}\n")
        self.start(["nginx", "-p", self.folder, "-e", "stderr", "-c", f"{self.folder}/nginx.conf"])
        self.answers(behind)
        conf = self.write("haproxy.conf", "global\n nbthread 4\ndefaults\n mode http\n timeout connect 5s\n timeout client 20s\n timeout server 20s\n"
                                          f"listen all\n bind 127.0.0.1:{port}\n server one 127.0.0.1:{behind}\n")
        server = self.start(["haproxy", "-db", "-f", conf])
        self.check_web(server, lambda: [server.pid], port, "", 2000)

    def test_php_fpm(self):
        self.needs("nginx", "ab")
        fpm = next((str(path) for path in pathlib.Path("/usr/sbin").glob("php-fpm*")), None)
        if not fpm:
            self.skipTest("php-fpm is not installed")
        port = free_port()
        conf = self.write("fpm.conf", f"[global]\nerror_log = {self.folder}/fpm.log\n[www]\nlisten = {self.folder}/fpm\npm = static\npm.max_children = 3\n")
        page = self.write("page.php", PAGE)
        server = self.start([fpm, "-F", "-y", conf, "-n"])
        temporary = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        self.write("nginx.conf", f"daemon off; pid {self.folder}/nginx.pid; error_log stderr; events {{}}\nhttp {{ access_log off; {temporary} server {{ "
                                 f"listen 127.0.0.1:{port}; location / {{ fastcgi_pass unix:{self.folder}/fpm; fastcgi_param SCRIPT_FILENAME {page}; "
                                 "fastcgi_param REQUEST_METHOD GET; } } }\n")
        self.start(["nginx", "-p", self.folder, "-e", "stderr", "-c", f"{self.folder}/nginx.conf"])
        self.check_web(server, lambda: children_of(server.pid), port, "page.php", 500, workers=3)

    def test_memcached(self):
        self.needs("memcached")
        port = free_port()
        server = self.start(["memcached", "-l", "127.0.0.1", "-p", str(port), "-t", "4"] + ["-u", "root"] * (os.geteuid() == 0 and not self.PREFIX))
        self.answers(port)
        self.check(Load(self, ["/usr/bin/python3", "-c", MEMCACHED_CLIENT % port], "all right"), lambda: [server.pid])
        self.assertIsNone(server.poll())
        self.code_is_restored(server.pid)

    def test_mariadb(self):
        self.needs("mariadbd", "mariadb-install-db", "mariadb", "mariadb-slap")
        data, socket = f"{self.folder}/data", f"{self.folder}/socket"
        made = self.plain(["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"])
        self.assertEqual(made.returncode, 0, made.stderr)
        server = self.start(["mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={socket}", "--skip-networking", f"--pid-file={self.folder}/pid",
                             "--innodb-flush-log-at-trx-commit=0"] + ["--user=root"] * (os.geteuid() == 0 and not self.PREFIX))
        ask = lambda text: self.plain(["mariadb", "--no-defaults", "-S", socket, "-u", "root", "-N", "-e", text])
        self.assertTrue(dvmtest.eventually(lambda: ask("select 1").returncode == 0))
        made = ask("create database d; create table d.t (a int primary key, b varchar(20)); create table d.o (a int, b varchar(20)); "
                   "use d; insert into t select seq, left(md5(seq), 20) from seq_1_to_5000")
        self.assertEqual(made.returncode, 0, made.stderr)
        expected = ask(QUERIES).stdout
        self.assertEqual(len(expected.splitlines()), 22, ask(QUERIES))
        load = Load(self, ["mariadb-slap", "--no-defaults", "-S", socket, "-u", "root", "-q", QUERIES, "-c", "4", "-i", "2", "--delimiter=;", "--create-schema=d"], "Average")
        self.check(load, lambda: [server.pid])
        self.assertEqual((server.poll(), ask(QUERIES).stdout), (None, expected))
        self.code_is_restored(server.pid)


if __name__ == "__main__":
    unittest.main()
