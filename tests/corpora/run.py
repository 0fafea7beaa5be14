#!/usr/bin/env python3
"""Runs the D scripts of a folder on live programs and checks that they print plausible rows.

usage: run.py [--seconds N] FOLDER [PART-OF-A-PATH...]

The folder holds a published collection, such as the DTraceToolkit; none of it is kept here. For each script, the providers that it names
decide what runs beside it (WORKLOADS): a shell that starts commands, or an interpreter or server with the markers of the provider, if one
is installed. The script is interrupted after some seconds. One line each:

  ok       rows were printed, and nothing else was reported
  EMPTY    no row was printed
  FAULTS   clauses ended with faults
  FAILED   it does not compile, or dvm ended with an error
  skipped  it needs the kernel, a program that is not here, or another system

The exit status is 1 if a script failed. DVM names the program to test.
"""

import argparse
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from not_here import BROKEN, NOT_HERE, is_command_line, needs

DVM = os.environ.get("DVM", str(pathlib.Path(__file__).parent.parent.parent / "build/release/cmd/dvm"))
NAME = re.compile(r"(?m)^\s*(?:,\s*)?([a-zA-Z_][\w$*-]*):[^;={}]*(?=[,\n/{]|$)")

# Reads and writes sockets; a shell reads its script character by character.
BUSY_SHELL = """
cd "$1"
python3 -c '
import ctypes, os, socket, time
server = socket.create_server(("127.0.0.1", 0))
while True:
  client = socket.create_connection(server.getsockname())
  peer, _ = server.accept()
  client.send(b"question"); peer.recv(99); os.write(peer.fileno(), b"answer"); os.read(client.fileno(), 99)
  client.close(); peer.close(); os.close(ctypes.CDLL(None).creat(b"made", 0o600)); time.sleep(0.05)
' &
while :; do echo :; sleep 0.02; done | bash &
while :; do
  echo some text > file; cat file file > copy; ls -l / > list; mkdir -p folder; ln -sf file link; grep -c root /etc/passwd > /dev/null
  rm -f copy; stat link > /dev/null; kill -0 $$; sh -c 'exit 3'; dd if=list of=disk bs=4k conv=fsync 2> /dev/null; sleep 0.02
done
"""
INTERRUPTED = "interrupted before it could trace: a slow build, or a busy machine"
PROGRAMS = {
    # Python 3.11 reaches the marker of entries only while it traces lines or profiles.
    "python": ("import sys, time\ndef inner(n):\n  return sum(bytearray(100 * n))\ndef outer(n):\n  return [inner(n) for _ in range(9)]\n"
               "sys.setprofile(lambda *_: None)\nwhile True:\n  outer(50)\n  time.sleep(0.01)\n", ["python3.11", "python3.12", "python3"]),
    "perl": ("sub inner { my $n = 0; $n += $_ for 1..50; $n } sub outer { inner() for 1..9 } while (1) { outer(); select undef, undef, undef, 0.01 }\n",
             ["perl"]),
    "ruby": ("def inner; (1..50).sum; end\ndef outer; 9.times { inner }; end\nloop { outer; sleep 0.01 }\n", ["ruby"]),
    "php": ("<?php function inner() { return array_sum(range(1, 50)); } function outer() { for ($i = 0; $i < 9; $i++) inner(); }\n"
            "while (true) { outer(); usleep(10000); }\n", ["php"]),
    "tcl": ("proc inner {} { set n 0; for {set i 0} {$i < 50} {incr i} { incr n $i } }\nproc outer {} { for {set i 0} {$i < 9} {incr i} inner }\n"
            "while 1 { outer; after 10 }\n", ["tclsh"]),
    "java": ("class Busy { static int inner(int n) { return new int[n].length; } static void outer() { for (int i = 0; i < 9; i++) inner(i); }\n"
             "static Object ready; public static void main(String[] words) throws Exception {\n"
             "ready = new java.io.RandomAccessFile(words[0], \"r\").getChannel().map(java.nio.channels.FileChannel.MapMode.READ_ONLY, 0, 1);\n"
             "for (int i = 0;; i++) { outer(); Thread.sleep(50);\n"
             "if (i % 10 == 0) new Thread(Busy::outer).start(); if (i % 20 == 0) System.gc(); } } }\n", ["java"]),
    "sh": ("inner() { echo $1 > /dev/null; }; outer() { for i in 1 2 3; do inner $i; done; }; while :; do outer; sleep 0.01; done\n", ["sh", "bash"]),
}
# Providers, and the program that has their markers.
WORKLOADS = {"python": "python", "perl": "perl", "ruby": "ruby", "php": "php", "tcl": "tcl", "hotspot": "java", "hotspot_jni": "java",
             "postgresql": "postgres", "sh": "sh"}
# Scripts that cannot be tried, and why.
UNTRIED = {
    "watchexec.d": "it starts a program of its author, and again for each such start",
    "woof.d": "it prints nothing, but plays a sound",
    "weblatency.d": "it needs a browser",
    "httpdurls.d": "it needs httpd",
    "ldapsyslog.d": "it needs a program that calls syslog()",
    "getaddrinfo.d": "it needs a program that resolves names",
    "brk.d": "it needs a program that grows its heap by brk()",
    "networkwho.d": "it needs a process of its own with sockets",
    "j_who.d": "it needs a program that calls Java from C",
    **dict.fromkeys(["proftpdcmd.d", "proftpdtime.d", "tnftpdcmd.d"], "it needs a server of FTP"),
    **dict.fromkeys(["scpwatcher.d", "sshcipher.d", "sshcipher2.d", "sshcipher3.d", "sshdactivity.d", "sshkeysnoop.d"], "it needs ssh"),
}
# What their programs take before the file, and where their markers are if the program is not linked with that library.
FLAGS = {"java": ["-XX:+ExtendedDTraceProbes", "-Xint"]}
LIBRARIES = {"java": "../lib/server/libjvm.so"}
# A file that such a program has mapped once it is there to be traced; that of Java maps its own source, which it is given as a word.
READY = {"java": ".java", "postgres": "bin/postgres"}

# The only process of a database, which reads its queries.
POSTGRES = """
PATH=$1:$PATH; cd "$2"; chown postgres .; as="setpriv --reuid=postgres --regid=postgres --clear-groups"
$as initdb -D data > /dev/null; mkfifo queries; chown postgres queries
{ while :; do echo 'select count(*) from pg_class a, pg_class b;'; sleep 0.02; done > queries; } &
exec $as postgres --single -D data postgres < queries
"""


def without_comments(text):
    return re.sub(r"/\*.*?\*/|^\s*#.*?$", "", text, flags=re.S | re.M)


def providers_of(text):
    return {re.sub(r"(\$target|\$1|\d+|\*)$", "", name) for name in NAME.findall(without_comments(text))}


def files_of(program):
    """The program, and the libraries that it is linked with."""
    path = os.path.realpath(program)
    listed = subprocess.run(["ldd", path], capture_output=True, text=True)
    library = os.path.join(os.path.dirname(path), LIBRARIES.get(os.path.basename(path), ""))
    return [path] + re.findall(r"=> (/\S+)", listed.stdout) + [library] * os.path.isfile(library)


def has_markers(program, provider):
    note = b"stapsdt\0"
    return any(note in (data := pathlib.Path(file).read_bytes()) and provider.encode() + b"\0" in data for file in files_of(program))


def postgres():
    """The words of a server with the markers of postgresql, or None."""
    for program in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        if has_markers(program, "postgresql"):
            return ["sh", "-c", POSTGRES, "sh", str(program.parent), "FOLDER"]
    return None


class Workload:
    """A program that runs beside a script, in a folder of its own."""

    def __init__(self, words, ready):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([word.replace("FOLDER", self.folder.name) for word in words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                        env={**os.environ, "USE_ZEND_DTRACE": "1"})  # without it PHP has no functions to trace
        if ready:
            self.wait_for(ready)

    def wait_for(self, mapped, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end and mapped not in pathlib.Path(f"/proc/{self.process.pid}/maps").read_text():
            time.sleep(0.1)
        time.sleep(1)  # until it does what it is there for

    def __enter__(self):
        return self.process.pid

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.folder.cleanup()


def interpreter(language, provider):
    """The words of a program with the provider's markers, or None."""
    if language == "postgres":
        return postgres()
    code, names = PROGRAMS[language]
    for name, folder in itertools.product(names, os.environ["PATH"].split(":")):
        program = os.path.join(folder, name)
        if os.access(program, os.X_OK) and pathlib.Path(os.path.realpath(program)).read_bytes()[:4] == b"\x7fELF" and has_markers(program, provider):
            file = tempfile.NamedTemporaryFile("w", suffix="." + language, delete=False)
            file.write(code)
            file.close()
            return [program, *FLAGS.get(language, []), file.name, file.name]
    return None


def choose_workload(text):
    """The words of a program to run beside the script, the file that it maps when it is ready, and why there is none."""
    providers = providers_of(text)
    if absent := providers & NOT_HERE:
        return None, "", "it needs " + ", ".join(sorted(absent))
    for provider, language in WORKLOADS.items():
        if provider in providers:
            words = interpreter(language, provider)
            return words, READY.get(language, ""), f"no program with markers of {provider} is installed"
    foreign = providers - {"dtrace", "syscall", "proc", "sched", "io", "vminfo", "sysinfo", "profile", "tick", "pid", "BEGIN", "END", ""}
    if foreign - {"plockstat"}:
        return None, "", "it needs " + ", ".join(sorted(foreign))
    return ["sh", "-c", BUSY_SHELL, "sh", "FOLDER"], "", ""


def argument(number, code):
    if re.search(rf"syscall::\${number}\b", code):
        return "write"
    if not re.search(rf"\$\${number}\b", code):
        return "1"
    return "Busy" if "hotspot" in code else "sh"


def arguments_of(text):
    """One for each $N that the script names: 1, or a word where it wants a string: a class of Java, a program, a system call."""
    code = without_comments(text)
    most = max([int(n) for n in re.findall(r"\$\$?(\d+)", code)] + [0])
    return [argument(n, code) for n in range(1, most + 1)]


def flags_of(text):
    """The options of the script's first line, without the -s before its name."""
    first = re.match(r"#!\S*dtrace\s*(-.*)", text)
    words = first[1].split() if first else []
    return [word for word in (re.sub(r"s$", "", w) if re.fullmatch(r"-\w*s", w) else w for w in words) if word != "-"]


def rows_of(out):
    """Lines with a number or a bar in them that are neither empty nor a heading."""
    return [line for line in out.splitlines() if re.search(r"\d|@|->|<-|\|", line) and "Tracing" not in line]


def run_script(path, text, pid, seconds):
    words = [DVM, "run", "-w", "-Z", *flags_of(text), "-s", str(path)]
    if "$target" in text or providers_of(text) & set(WORKLOADS):
        words += ["-p", str(pid)]
    words += arguments_of(text)
    tracer = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              errors="replace", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell ignores it in the background
    try:
        out, err = tracer.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        tracer.send_signal(signal.SIGINT)
        try:
            out, err = tracer.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            tracer.kill()
            tracer.communicate()
            return "FAILED", "it does not end"
    if tracer.returncode == -signal.SIGINT:
        return "FAILED", INTERRUPTED
    verdict, why = judge(tracer.returncode, out, err)
    if verdict == "EMPTY" and (probe := unmatched(words)):
        return "skipped", f"there is no {probe}"
    return verdict, why


def unmatched(words):
    """A probe of the script that the program beside it does not have, or None."""
    only_compile = [word for word in words if word != "-Z"]
    ran = subprocess.run([*only_compile[:2], "-e", *only_compile[2:]], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    found = re.search(r"(?:probe description (\S+) does not match|failed to lookup (\S+ in module \S+)|has no tracepoint for (\S+))", ran.stderr)
    return found and (found[1] or found[2] or found[3])


def judge(status, out, err):
    faults = [line for line in err.splitlines() if "error in dt_clause" in line or "error on enabled probe" in line]
    if status not in (0, None):
        if reason := needs(err):
            return "skipped", reason
        return "FAILED", (err.splitlines() or [f"status {status}"])[0 if "failed to compile" in err else -1]
    if faults:
        return "FAULTS", f"{len(faults)}: {faults[0]}"
    rows = rows_of(out)
    return ("ok", f"{len(rows)} rows") if rows else ("EMPTY", " ".join(out.split())[:100])


def check(path, seconds):
    text = path.read_text(errors="replace")
    left_out = BROKEN | UNTRIED
    if is_command_line(text) or path.name in left_out:
        return "skipped", left_out.get(path.name, "it is a command line")
    words, ready, reason = choose_workload(text)
    if words is None:
        return "skipped", reason
    with Workload(words, ready) as pid:
        verdict, why = run_script(path, text, pid, seconds)
        return run_script(path, text, pid, 5 * seconds) if why == INTERRUPTED else (verdict, why)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4, help="how long each script runs (default 4)")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("part", nargs="*", help="run only scripts whose path contains one of these")
    given = parser.parse_args()
    counts = {}
    for path in sorted(given.folder.rglob("*.d")):
        if path.is_symlink() or (given.part and not any(part in str(path) for part in given.part)):
            continue
        verdict, why = check(path, given.seconds)
        counts[verdict] = counts.get(verdict, 0) + 1
        print(f"{verdict:8} {path.relative_to(given.folder)}: {why}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    sys.exit(1 if counts.get("FAILED") else 0)


if __name__ == "__main__":
    main()
