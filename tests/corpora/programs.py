"""The programs that run beside published scripts: interpreters and servers with markers, shells, and stand-ins for others."""

import itertools
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

import stand_ins

# Reads and writes sockets; a shell reads its script character by character.
BUSY_SHELL = """
cd "$1"
python3 -c '
import ctypes, mmap, os, socket, time
libc = ctypes.CDLL(None)
server = socket.create_server(("127.0.0.1", 0))
open("mapped", "wb").write(b"x" * 4096)
while True:
  client = socket.create_connection(server.getsockname())
  peer, _ = server.accept()
  client.send(b"question"); peer.recv(99); os.write(peer.fileno(), b"answer"); os.read(client.fileno(), 99)
  client.close(); peer.close(); os.close(libc.creat(b"made", 0o600))
  file = os.open("mapped", os.O_RDWR); mmap.mmap(file, 4096).close(); os.close(file)
  os.close(libc.syscall(2, b"mapped", 0, 0)); libc.syscall(2, b"/tmp/a path that nothing has", 0, 0); libc.setuid(0); time.sleep(0.05)
' &
while :; do echo :; sleep 0.02; done | bash &
while :; do
  echo some text > file; cat file file > copy; ls -l / > list; mkdir -p folder; ln -sf file link; grep -c root /etc/passwd > /dev/null
  rm -f copy; stat link > /dev/null; kill -0 $$; sh -c 'exit 3'; sh -c 'kill -SEGV $$'; dd if=list of=disk bs=4k conv=fsync 2> /dev/null; sleep 0.02
done
"""
# Each: the code, the names of its interpreter, and the name of the file.
PROGRAMS = {
    # Python 3.11 reaches the marker of entries only while it traces lines or profiles; ''.format() is no function of Python's.
    "python": ("import sys, time\ndef inner(n):\n  return sum(bytearray(100 * n))\ndef outer(n):\n  return [inner(n) for _ in range(9)]\n"
               "sys.setprofile(''.format)\nwhile True:\n  outer(50)\n  open('/dev/null').close()\n  time.sleep(0.01)\n",
               ["python3.11", "python3.12", "python3"], "busy.py"),
    "perl": ("sub inner { my $n = 0; $n += $_ for 1..50; $n } sub outer { inner() for 1..9; open(my $null, '<', '/dev/null') }\n"
             "while (1) { outer(); select undef, undef, undef, 0.01 }\n", ["perl"], "busy.pl"),
    # Ruby 3.1 reaches the markers of methods only while it traces calls.
    "ruby": ("TracePoint.new(:call, :return) {}.enable\n"
             "class Busy; def inner; (1..50).sum; end\ndef outer; 9.times { inner }; end; end\n"
             "loop { Busy.new.outer; File.open('/dev/null').close; begin; raise 'no'; rescue; end\n"
             "'a' + 'b'; GC.start if rand(20) == 0; sleep 0.01 }\n", ["ruby"], "busy.rb"),
    "php": ("<?php function inner() { return array_sum(range(1, 50)); } function outer() { for ($i = 0; $i < 9; $i++) inner();\n"
            "  fclose(fopen('/dev/null', 'r')); }\nwhile (true) { outer(); usleep(10000); }\n", ["php"], "busy.php"),
    "tcl": ("proc inner {} { set n 0; for {set i 0} {$i < 50} {incr i} { incr n $i } }\n"
            "proc outer {} { for {set i 0} {$i < 9} {incr i} inner; close [open /dev/null] }\n"
            "while 1 { outer; after 10 }\n", ["tclsh"], "busy.tcl"),
    "java": ("class Busy { static int inner(int n) { return new int[n].length; } static void outer() { for (int i = 0; i < 9; i++) inner(i); }\n"
             "static Object ready; public static void main(String[] words) throws Exception {\n"
             "ready = new java.io.RandomAccessFile(words[0], \"r\").getChannel().map(java.nio.channels.FileChannel.MapMode.READ_ONLY, 0, 1);\n"
             "for (int i = 0;; i++) { for (int j = 0; j < 50; j++) outer(); new java.io.File(\"/dev/null\").length(); Thread.sleep(50);\n"
             "if (i % 10 == 0) new Thread(Busy::outer).start();\n"
             "if (i % 100 == 5) java.lang.reflect.Proxy.newProxyInstance(new ClassLoader() {}, new Class<?>[] {Runnable.class}, (a, b, c) -> null);\n"
             "if (i % 20 == 0) System.gc(); } } }\n", ["java"], "Busy.java"),
}
# Programs in Python that have the name of another one, which scripts select by execname.
NAMED = {
    "httpd": "import ctypes, os, socket, threading, time\nlibc = ctypes.CDLL(None)\nserver = socket.create_server(('127.0.0.1', 0))\ndef ask():\n  while True:\n"
             "    client = socket.create_connection(server.getsockname()); client.send(b'GET /index.html HTTP/1.1\\r\\nHost: here\\r\\n\\r\\n')\n"
             "    client.recv(99); client.close(); time.sleep(0.02)\nthreading.Thread(target=ask).start()\nwhile True:\n"
             "  peer = libc.accept(server.fileno(), None, None); os.read(peer, 999); os.write(peer, b'HTTP/1.1 200 OK'); os.close(peer)\n",
    "mozilla-bin": "import os, socket, time\nwhile True:\n  a, b = socket.socketpair(); request = b'GET http://example.org/a/page.html HTTP/1.1 ' + b'-' * 80\n"
                   "  os.write(a.fileno(), request); b.recv(999); b.send(b'HTTP/1.1 200 OK'); os.read(a.fileno(), 99); a.close(); b.close(); time.sleep(0.02)\n",
    "sshd": "import os, socket, time\nserver = socket.create_server(('127.0.0.1', 0))\nwhile True:\n"
            "  client = socket.create_connection(server.getsockname()); peer, _ = server.accept(); os.write(peer.fileno(), b'SSH-2.0'); time.sleep(0.02)\n"
            "  client.close(); peer.close()\n",
    "scp": "import time\nwhile True: print('\\rfile 100% 1024KB', end='', flush=True); time.sleep(0.02)\n",
    "sockets": "import os, socket, time\nserver = socket.create_server(('127.0.0.1', 0))\nwhile True:\n"
               "  client = socket.create_connection(server.getsockname()); os.write(client.fileno(), b'a'); server.accept()[0].close(); client.close()\n"
               "  time.sleep(0.02)\n",
    "brk": "import ctypes, time\nlibc = ctypes.CDLL(None); libc.sbrk.argtypes = [ctypes.c_long]\nwhile True: libc.sbrk(4096); libc.sbrk(-4096); time.sleep(0.02)\n",
    "setuid": "import ctypes, os, time\nlibc = ctypes.CDLL(None)\nwhile True:\n  if os.fork() == 0: os.setuid(65534); libc.setuid(0); time.sleep(1); os._exit(0)\n"
              "  os.wait()\n",
    "ssh": "import ctypes, time, zlib\nlibrary = ctypes.CDLL('libcrypto.so.3')\n"
           "library.EVP_CIPHER_CTX_new.restype = library.EVP_aes_128_ctr.restype = ctypes.c_void_p\n"
           "context, cipher = ctypes.c_void_p(library.EVP_CIPHER_CTX_new()), ctypes.c_void_p(library.EVP_aes_128_ctr())\n"
           "out, size = ctypes.create_string_buffer(999), ctypes.c_int()\nwhile True:\n"
           "  library.EVP_EncryptInit_ex(context, cipher, None, b'k' * 16, b'i' * 16)\n"
           "  library.EVP_EncryptUpdate(context, out, ctypes.byref(size), b'x' * 512, 512)\n"
           "  zlib.decompress(zlib.compress(b'text' * 99)); time.sleep(0.02)\n",
}
# Providers, and the program that has their markers.
WORKLOADS = {"python": "python", "perl": "perl", "ruby": "ruby", "php": "php", "tcl": "tcl", "hotspot": "java", "hotspot_jni": "java",
             "postgresql": "postgres", "sh": "sh", "javascript": "javascript", "mysql": "mysql"}
# Scripts that need one program: its name in NAMED or in stand_ins.FUNCTIONS, or a language.
PARTICULAR = {
    "py_profile.d": "python", "py_mallocstk.d": "python", "j_profile.d": "java",
    "httpdurls.d": "httpd", "httpdstat.d": "httpd", "weblatency.d": "mozilla-bin", "sshdactivity.d": "sshd", "scpwatcher.d": "scp",
    **dict.fromkeys(["sshcipher.d", "sshcipher2.d", "sshcipher3.d"], "ssh"),
    "networkwho.d": "sockets", "brk.d": "brk", "nosetuid.d": "setuid", "mysqld_pid_qtime.d": "mysqld", "libmysql_snoop.d": "mysql",
    "pg_pid_qtime.d": "postgres", "dnsgetname.d": "named", "nismatch.d": "ypserv", "proftpdcmd.d": "proftpd", "proftpdtime.d": "proftpd",
    "proftpdio.d": "proftpd", "tnftpdcmd.d": "ftpd", "ldapsyslog.d": "syslogger", "getaddrinfo.d": "resolver",
}
# What their programs take before the file, and where their markers are if the program is not linked with that library.
FLAGS = {"java": ["-XX:+ExtendedDTraceProbes", "-Xint"]}
LIBRARIES = {"java": "../lib/server/libjvm.so"}
# A file that such a program has mapped once it is there to be traced; that of Java maps its own source, which it is given as a word.
READY = {"java": ".java", "postgres": "bin/postgres"}

# How many times longer scripts run beside it: dvm reads the symbols of large programs first.
PATIENCE = {"java": 3, "ruby": 2}

# The only process of a database, which reads its queries.
POSTGRES = """
PATH=$1:$PATH; cd "$2"; chown postgres .; as="setpriv --reuid=postgres --regid=postgres --clear-groups"
$as initdb -D data > /dev/null; mkfifo queries; chown postgres queries
{ while :; do echo 'select count(*) from pg_class a, pg_class b;'; sleep 0.02; done > queries; } &
exec $as postgres --single -D data postgres < queries
"""


class Choice:
    """What runs beside a script: words in a folder of its own; or why there is nothing."""

    def __init__(self, words=None, reason="", language="", stands_in_for=""):
        self.words, self.reason, self.language, self.stands_in_for = words, reason, language, stands_in_for
        self.ready = READY.get(language, "")


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


def interpreter(language, provider, folder):
    """The words of a program with the provider's markers (any program without a provider), or None."""
    code, names, file = PROGRAMS[language]
    for name, path in itertools.product(names, os.environ["PATH"].split(":")):
        program = os.path.join(path, name)
        if os.access(program, os.X_OK) and pathlib.Path(os.path.realpath(program)).read_bytes()[:4] == b"\x7fELF" \
                and (not provider or has_markers(program, provider)):
            (folder / file).write_text(code)
            return [program, *FLAGS.get(language, []), str(folder / file), str(folder / file)]
    return None


def particular(name, folder):
    """The program that one script needs."""
    if name in PROGRAMS:
        words = interpreter(name, "", folder)
        return Choice(words, f"no {name} is installed", name)
    if name in stand_ins.FUNCTIONS:
        program = stand_ins.functions(name, folder)
        return Choice(program and [program], "no C compiler is installed", stands_in_for=name)
    (folder / name).symlink_to("/usr/bin/python3")
    return Choice([str(folder / name), "-c", NAMED[name]], stands_in_for=name)


def with_markers(provider, dvm, folder):
    """A program with the provider's markers: itself, or a stand-in."""
    language = WORKLOADS[provider]
    if language == "postgres":
        return Choice(postgres(), "no postgres with markers is installed", language)
    words = language in PROGRAMS and interpreter(language, provider, folder)
    if words:
        return Choice(words, language=language)
    program = provider in stand_ins.LANGUAGES and stand_ins.language(provider, dvm, folder)
    return Choice(program and [program], f"no program with markers of {provider} is installed", stands_in_for=provider)


def choose(script, providers, dvm, folder):
    """What runs beside the script of that name."""
    if script in PARTICULAR:
        return particular(PARTICULAR[script], folder)
    for provider in WORKLOADS:
        if provider in providers:
            return with_markers(provider, dvm, folder)
    return Choice(["sh", "-c", BUSY_SHELL, "sh", "FOLDER"])


class Workload:
    """A program that runs beside a script, in a folder of its own."""

    def __init__(self, choice):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen([word.replace("FOLDER", self.folder.name) for word in choice.words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                        env={**os.environ, "USE_ZEND_DTRACE": "1", "USE_ZEND_ALLOC": "0"})  # so that PHP has functions to trace, and calls malloc
        if choice.ready:
            self.wait_for(choice.ready)

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
