"""The rows that published scripts print here, and what makes their values plausible.

usage: rows.py FOLDER     judges what run.py --keep FOLDER has kept
"""

import fnmatch
import os
import pathlib
import re
import sys

CPUS = os.cpu_count()
LONGEST = 300  # seconds that a run may have taken on a busy machine

# The least and the largest value of a group of a row, by its name without digits.
RANGES = {
    "pid": (0, 1 << 22), "count": (1, 1e9), "number": (-1, 1e10), "cpu": (0, CPUS - 1), "uid": (0, 1e5), "fd": (0, 4096), "error": (0, 200), "percent": (0, 100),
    "bytes": (0, 1e11), "year": (2020, 2100), "port": (1, 65535), "major": (1, 511), "ns": (0, LONGEST * CPUS * 1e9), "us": (0, LONGEST * CPUS * 1e6),
    "ms": (0, LONGEST * CPUS * 1e3), "seconds": (0, LONGEST * CPUS), "mhz": (100, 10000), "priority": (-1, 200),
}
TIME = r"(?P<year>\d{4}) \w{3} +\d+ \d\d:\d\d:\d\d"
# The programs that the shell beside the scripts starts.
COMMAND = r"(?:ba)?sh|ls|cat|dd|rm|ln|grep|stat|mkdir|sleep|python3"
# CPU, process, thread, microseconds since the row before, perhaps file and line, and kind.
INFO = r"^\s*(?P<cpu>\d+)\s+(?P<pid>\d+)(?:/\d+)?\s+(?P<us>\d+)\s+(?:\S.*:\S+\s+)?\w+\s+"
BUCKETS = r"\n\s+value\s+-+ Distribution -+ count\s*\n(?:\s+[<>=]* ?-?\d+ \|@*\s+\d+\s*\n)*?\s+[<>=]* ?-?\d+ \|@+\s+(?P<count>\d+)\s*$"
ANY_BUCKETS = r".*" + BUCKETS

# Two or more words of upper case, perhaps with units, as in "TIME(ms)  UID  kr/s".
HEADING = re.compile(r"\s*{0}(?:\s+{0})+\s*".format(r"(?:[A-Z%][A-Z0-9_%./:-]*(?:\([A-Za-z/]+\))?|--|[a-z]+/s)"))
# Scripts whose published examples are of other versions of them.
OTHER_HEADINGS = {"cswstat.d", "shortlived.d", "tcl_who.d"}

# How many times longer scripts run that print late.
PATIENCE = {"proftpdio.d": 3, "rwa.d": 3, "wrun.d": 3, "iotimeq.d": 3, "j_flowtime.d": 4}

# Names of scripts, and patterns that their output must have. Of the places where a pattern matches, nine in ten must be plausible.
EXPECTED = (
    # Languages: outer() calls inner() nine times.
    ("*_methodcalls.d tcl_proccalls.d", r"^\s*(?P<pid>\d+)\s+(?P<count>\d+) (?:Busy\.)?inner$"),
    ("*_calls.d *_funccalls.d *_subcalls.d *_proccalls.d", r"^.*\binner\b.*?\s(?P<count>\d+)$", r"^.*\bouter\b.*?\s(?P<count>\d+)$"),
    ("*_calltime.d *_cputime.d", r"\binner\s+(?P<count>\d+)$", r"\binner\s+(?P<us>\d+)$", r"\bouter\s+(?P<us>\d+)$"),
    ("*_calldist.d *_cpudist.d", r"\b(?:inner|outer)\b[^\n]*" + BUCKETS),
    ("pl_syscolors.d", r"\binner:2\s+sub\s+-> busy\.pl$", r"\ssyscall\s+-> \w+$"),  # it takes the file for the function
    ("tcl_insflow.d", r"^\s*(?P<cpu>\d+)\s+(?P<pid>\d+)\s+\d+\s+(?P<us>\d+)\s+\w+\s+-> "),
    ("*_flow.d *_classflow.d *_procflow.d", r"^\s*(?P<cpu>\d+)\s.*-> (?:\S*[.:])?inner$", r"<- (?:\S*[.:])?outer$"),
    ("*_flowtime.d", r"^\s*(?P<cpu>\d+)\s.*\s(?P<us>\d+)\s+-> (?:\S*[.:])?inner$", r"\s(?P<us>\d+)\s+<- (?:\S*[.:])?outer$"),
    ("*_flowinfo.d", INFO + r"-> (?:\S*[.:])?inner$", INFO + r"<- (?:\S*[.:])?outer$"),
    ("*_syscolors.d *_pidcolors.d", INFO + r"-> (?:\S*[.:])?inner$", INFO.replace(r"\w+", "syscall") + r"-> \w+$"),
    ("*_syscalls.d", r"\b(?:inner|outer|Busy\.\w+)\s+(?P<count>\d+)$", r"\bsyscall\s+\w+\s+(?P<count>\d+)$"),
    ("tcl_who.d", r"^\s*(?P<pid>\d+)\s+(?P<uid>\d+)\s+(?P<count>\d+)\s+\S*/tcl\s*$"),
    ("*_who.d", r"^\s*(?P<pid>\d+)\s+(?P<uid>\d+)\s+(?P<count>\d+)\s+.*busy"),
    ("*_malloc.d", r"(?:malloc|alloc|TOTAL|bytes)", ANY_BUCKETS),
    ("*_mallocstk.d", r"^\s+\S+`\S+(?:\+0x[0-9a-f]+)?$", ANY_BUCKETS),
    ("*_profile.d", r"^\s+\S+`\S+(?:\+0x[0-9a-f]+)?$", r"^\s+(?P<count>\d+)$"),
    ("*_stat.d", TIME + r"(?:\s+\d+)+$"),
    ("*_objnew.d", r"\b(?P<number>\d+)\s*$"),
    ("*_objcpu.d *_objgc.d", r"\b(?:Date|Busy|String|Object)\b"),
    ("*_lines.d", r"^\s*\S*busy\.\w+(?::|\s+)(?P<number>\d+)\s+(?P<count>\d+)$"),
    ("js_execs.d", TIME + r"\s+busy\.js:(?P<count>\d+)$"),
    ("j_events.d", r"^\s*(?P<pid>\d+)\s+thread-start\s+(?P<count>\d+)$"),
    ("j_thread.d", TIME + r"\s+(?P<pid>\d+)/(?P<pid2>\d+)\s+=> Thread-\d+$"),
    ("j_package.d", r"^\s*(?P<pid>\d+)\s+(?P<count>\d+)\s+\S+$"),
    ("sh_wasted.d", r"^\s+busy\.sh\s+/bin/ls\s+(?P<us>\d+)$"),
    ("tcl_ins.d", r"^\s*(?P<pid>\d+)\s+inst\s+\S+\s+(?P<count>\d+)$"),
    # Servers.
    ("libmysql_snoop.d", r"^(?P<ms>\d+)\s+(?P<ms2>\d+)\s+\d+ select 1$"),
    ("mysqld_pid_qtime.d pg_pid_qtime.d", r"^\s+select 1\s*" + BUCKETS),
    ("mysqld_qchit.d", r"^\s+select inner\s+miss\s+(?P<count>\d+)$", r"^Hit Rate\s*:\s+(?P<percent>\d+)%"),
    ("mysqld_qslower.d", r"^\s*(?P<ms>[2-9]|\d\d+)\s+(?P<ms2>[2-9]|\d\d+)\s+(?P<ms3>\d+)\s+miss select inner$"),
    ("mysqld_qsnoop.d", r"^(?P<ms>\d+)\s+shop\s+ada@localhost\s+(?P<ms2>\d+)\s+0 select inner$"),
    ("pg_qslower.d", r"^(?P<ms>\d+)\s+(?P<ms2>\d+)\s+(?P<ms3>\d+)\s+(?P<ms4>\d+) select count"),
    ("brk.d", r"^Allocated (?:-?4096)$"),
    ("dnsgetname.d", r"^example\.org$"),
    ("getaddrinfo.d", TIME + r"\s+(?P<ms>\d+)\s+localhost$"),
    ("httpdurls.d", r"^\s+HTTP/1\.1\s+/index\.html\s+(?P<count>\d+)$"),
    ("httpdstat.d", TIME + r"\s+(?P<number>\d+)\s+(?P<number2>\d+)\s+0\s+0\s+0$", TIME + r"\s+[1-9]\d*\s+[1-9]\d*\s+0"),
    ("ldapsyslog.d", r"a word of 1"),
    ("networkwho.d", r"^\s+libc\.so\.6`write\+0x", r":entry\s+sockfs\s*$"),
    ("nismatch.d", TIME + r"\s+example\s+hosts\.byname\s+here"),
    ("nosetuid.d", TIME + r" KILLED setuid (?P<uid>65534) -> 0"),
    ("proftpdcmd.d tnftpdcmd.d", TIME + r"\s+(?P<us>\d+)\s+RETR file$"),
    ("proftpdtime.d", r"^\s+RETR file\s*\n\s+value"),
    ("proftpdio.d", r"^\s+(?P<count>\d+)\s+(?P<count2>\d+)\s+(?P<number>\d+)\s+(?P<number2>\d+)\s+(?P<count3>\d+)\s+(?P<ms>\d+)$"),
    ("scpwatcher.d", r"^file 100% 1024KB$"),
    ("sshdactivity.d", TIME + r"\s+(?P<uid>\d+)\s+(?P<pid>\d+)\s+accept4?\s+CONNECTION STARTED$", r"\s+write\s+7 bytes$"),
    ("sshcipher*.d", r"\w*crypt\w*" + ANY_BUCKETS),
    ("weblatency.d", r"NUM\s+example\.org\s+(?P<count>\d+)$", r"^example\.org\s+(?P<ms>\d+)$"),
    # Disks.
    ("bitesize.d seeksize.d", r"^\s*(?P<pid>\d+)\s+\S.*" + BUCKETS),
    ("disklatency.d", r"^\s+\w+ \((?P<major>\d+),\d+\), us:.*" + BUCKETS),
    ("hotspot.d", r"^Disk: \w+\s+Major,Minor: (?P<major>\d+),\d+$", ANY_BUCKETS),
    ("iofileb.d", r"^\s*(?P<pid>\d+) \S+\s+(?P<number>\d+) <unknown>$"),
    ("iolatency.d", r"^\s+disk I/O latency \(ns\)\s*" + BUCKETS),
    ("iotimeq.d", r"^\s+\w+\s+(?:READS|WRITES)\(ms\)\s*" + BUCKETS),
    ("iotypes.d", r"^\s+[\w-]+\s+(?:no|yes)\s+Success\s+(?P<count>\d+)\s+(?P<us>\d+)\s+(?P<ms>\d+)$"),
    ("rwtime.d", r"^\s+(?:read|write) I/O, us\s*" + BUCKETS, r"^\s+average (?:read|write) I/O, us\s+(?P<us>\d+)$"),
    ("nfswizard.d", r"^NFS Client Wizard\. " + TIME),
    # Processes and signals.
    ("chap2_pexec.d", TIME + rf"\s+(?P<uid>\d+)\s+(?P<pid>\d+)\s+(?P<pid2>\d+)\s+(?:{COMMAND})$"),
    ("chpt1_exec.d newproc.d", rf"^\s*(?P<cpu>\d+)\s+\d+\s+:exec-success\s+(?:{COMMAND})\b"),
    ("procsnoop.d", rf"^(?P<ms>\d+)\s+(?P<uid>\d+)\s+(?P<pid>\d+)\s+(?P<pid2>\d+) (?:{COMMAND})\b"),
    ("shortlived.d", r"^short lived processes:\s+(?P<seconds>[\d.]+) secs$", rf"^\s+(?:{COMMAND})\s+(?P<ms>\d+)"),
    ("kill.d", r"^\s*(?P<pid>\d+)\s+sh\s+11\s+(?P<pid2>\d+)\s+0$"),
    ("sigdist.d", rf"^\s+sh\s+(?:{COMMAND})\s+11\s+(?P<count>\d+)$"),
    ("crash.d", r"SIGSEGV|\b11\b"),
    ("pidpersec.d", TIME + r"\s+(?P<pid>\d+)\s+(?P<count>\d+)$"),
    # Schedulers and statistics.
    ("cputypes.d", r"^\s+(?P<cpu>\d+)\s+(?P<number>\d+)\s+\d+\s+\d+\s+(?P<mhz>\d+)\s+x86_64\s"),
    ("cpuwalk.d", r"^\s+PID: (?P<pid>\d+)\s+CMD: \S+.*" + BUCKETS),
    ("cswstat.d", TIME + r"\s+(?P<count>\d+)\s+(?P<us>\d+)\s+(?P<us2>\d+)$"),
    ("lat.d", r"^(?P<cpu>\d+)\s+(?P<ns>\d+)\s+(?P<ns2>\d+)\s+(?P<ns3>\d+)\s*$"),
    ("plat.d", r"^PROCESS: (?P<pid>\d+) spent (?P<us>\d+) microseconds waiting for a CPU$"),
    ("qtime.d rq.d", r"^\s+(?P<cpu>\d+)\s*" + BUCKETS),
    ("wrun.d", r"^CPU distribution over (?P<ms>\d+) milliseconds:$", r"^\s*(?P<cpu>\d+)\s+(?P<us>\d+)$"),
    ("priclass.d", r"^\s+TS\s*" + BUCKETS),
    ("pridist.d", r"^ CMD: \S+\s+PID: (?P<pid>\d+)\s*" + BUCKETS),
    ("threaded.d", r"^(?: @\d+hz)?\s+PID: (?P<pid>\d+)\s+CMD: \S+.*" + BUCKETS),
    ("koncpu.d uoncpu.d", r"^\s+(?:\S+`\S+|0x[0-9a-f]+)$", r"^\s+(?P<count>\d+)$"),
    ("koffcpu.d uoffcpu.d", r"^\s+(?:\S+`\S+|0x[0-9a-f]+)$", ANY_BUCKETS),
    ("dispqlen.d cpudispqlen.d", ANY_BUCKETS),
    ("sysdispqlen.d", r"^\s+System wide disp queue length:\s+(?P<number>\d+)$"),
    ("runocc.d", r"^\s+(?P<cpu>\d+)\s+(?P<percent>\d+)$"),
    ("loads.d", TIME + r",\s+load average: \d+\.\d\d, \d+\.\d\d, \d+\.\d\d$"),
    ("iopending", TIME + r",\s+load: \d+\.\d\d,\s+disk_r:\s+(?P<bytes>\d+) KB,\s+disk_w:\s+(?P<bytes2>\d+) KB$" + ANY_BUCKETS.removeprefix(".*")),
    ("kprof.d", r"^\s+vmlinux`\w\S*\+0x[0-9a-f]+$", r"^\s+(?P<count>\d+)$"),
    ("kprof_func.d", r"^vmlinux`\S+\s+vmlinux`\S+\s+(?P<count>\d+)\s*$"),
    ("sar-c.d", TIME + r"\s+(?P<count>\d+)\s+(?P<count2>\d+)\s+(?P<count3>\d+)\s+[\d.]+\s+[\d.]+\s+(?P<bytes>\d+)\s+(?P<bytes2>\d+)$"),
    ("sysbypid.d vmbypid.d", r"^\s*\S+\s+(?P<pid>\d+)\s+\w+\s+(?P<count>\d+)$"),
    ("xcallsbypid.d minfbypid.d", r"^\s*(?P<pid>\d+) \S+.*\s(?P<count>\d+)$"),
    ("minfbyproc.d readbytes.d writebytes.d syscallbyproc.d", rf"^\s+(?:{COMMAND})\s+(?P<count>\d+)$"),
    ("readdist.d writedist.d", rf"^\s+(?:{COMMAND})\s*" + BUCKETS),
    ("vmtop10.d", rf"^(?:{COMMAND})\s+as_fault\s+(?P<count>\d+)\s*$"),
    # System calls.
    ("creatbyproc.d", r"^\s*(?P<cpu>\d+)\s+\d+\s+creat:entry python3 made$"),
    ("filebyproc.d", rf"open\w*:entry (?:{COMMAND}) /"),
    ("pathopens.d", r"^\s+(?P<count>\d+) /\S+"),
    ("fserrors.d", r"^\s+python3\s+open\s+(?P<error>\d+)\s+(?P<count>\d+)\s+/tmp/a path that nothing has$"),
    ("fsrtpk.d", r"^\s+\w+ read \(ns per kb\)\s+\S+\s*" + BUCKETS),
    ("fsrwcount.d sysfs.d", r"^\s+\S+\s+(?:p?read|p?write)\w*\s+\S+\s+(?P<count>\d+)$"),
    ("fsrwtime.d", r"^\s+\w+ (?:p?read|p?write)\w* \(us\)\s+\S+\s*" + BUCKETS),
    ("mmap.d", r"\d"),
    ("mmapfiles.d", r"\d+ /?\S+"),
    ("net.d rw_bytes.d", r"^\s*(?:read|write)\s+(?P<count>\d+)(?:\s+(?P<bytes>\d+))?\s*$"),
    ("read-syscall.d", rf"^\s+(?:{COMMAND})\s+/\S+"),
    ("rwa.d", r"^(?P<pid>\d+)\s+write\s+\S+\s+(?P<us>\d+)\s*$"),
    ("rwbbypid.d rwbypid.d", r"^\s*(?P<pid>\d+) \S+.*\s[RW]\s+\d+$"),
    ("scrwtop10.d", rf"^(?:{COMMAND})\s+(?:read|write)\s+\w+\s+(?P<count>\d+)\s*$"),
    ("sctop10.d", rf"^(?:{COMMAND})\s+\w+\s+(?P<count>\d+)\s*$"),
    ("syscallbypid.d", rf"^\s*(?P<pid>\d+) (?:{COMMAND})\s+\w+\s+(?P<count>\d+)$"),
    ("syscallbysysc.d", r"^\s+(?:openat|close|read|mmap)\s+(?P<count>\d+)$"),
    ("so1stbyte.d", r"^\s+(?P<pid>\d+) python3\s+(?P<port>\d+)\s+(?P<us>\d+)\s+(?P<us2>\d+)\s+8$"),
    ("soaccept.d soconnect.d soconnect_mac.d", r"^(?P<pid>\d+)\s+python3\s+2\s+127\.0\.0\.1\s+(?P<port>\d+)\s+(?P<us>\d+) Success$"),
    ("soclose.d", r"^\s+(?P<pid>\d+)\s+python3\s+2\s+127\.0\.0\.1\s+(?P<port>\d+) (?P<seconds>[\d.]+)$"),
    ("soerrors.d", r"^\s+(?P<pid>\d+)\s+\S+\s+connect\s+(?P<fd>\d+)\s+-1\s+(?P<error>\d+)\s"),
    ("socketio.d", r"^\s+python3\s+(?P<pid>\d+)\s+(?:read|recvfrom|write|sendto)\s+(?P<count>\d+)$"),
    ("socketiosort.d", r"^\s+(?P<pid>\d+)\s+python3\s+(?:read|recvfrom|write|sendto)\s+(?P<count>\d+)$"),
    ("sotop.d", r"^\s+python3\s+(?P<pid>\d+)\s+\d+\s+\d+\s+\d+\s+\d+\s+\d+$"),
    # Commands.
    ("execsnoop", rf"^.*\s(?:{COMMAND})\b"),
    ("opensnoop", rf"^\s*.*\s(?:{COMMAND})\s+(?P<number>-?\d+)\s+\S+\s*$|^\s*\d+.*\s/\S+"),
    ("dtruss", r"^.*\b(?:openat|mmap|write|wait4|close)\(.*\)\s+= -?\w+ \S+$"),
    ("procsystime", r"^\s+(?:openat|read|mmap|write|close|wait4|futex|execve)\s+(?P<count>\d+)$"),
    ("fddist", r"^EXEC: \S+\s+PID: (?P<pid>\d+)\s*" + BUCKETS),
    ("hotkernel hotuser", r"^\S+\s+(?P<count>\d+)\s+(?P<percent>[\d.]+)%$"),
    ("iosnoop", r"^.*\s(?P<pid>\d+) [RW]\s+(?P<number>\d+)\s+(?P<bytes>\d+)\s"),
    ("iopattern", r"^(?:\d{4} \w+ +\d+ \S+)?\s*(?P<percent>\d+)\s+(?P<percent2>\d+)\s+(?P<count>\d+)\s+(?P<bytes>\d+)\s"),
    ("setuids.d", r"^\s*(?P<uid>\d+)\s+(?P<uid2>\d+)\s+(?P<pid>\d+)\s+(?P<pid2>\d+) \S+\s+python3 "),
    ("uname-a.d", re.escape(f"{os.uname().sysname} {os.uname().nodename} {os.uname().release} ")),
    ("shellsnoop", r"^(?:\s*\d+){2,3}\s+\S+\s+[RW]\s|^total \d+$"),
    ("statsnoop", r"^(?:\d{4} \w+ +\d+ \S+)?\s*(?P<uid>\d+)\s+(?P<pid>\d+)\s+\S+\s+(?:\w+\s+)?(?P<number>-?\d+)\s+\S+"),
    ("rwsnoop", r"^(?:\d+\s+)?\s*(?P<uid>\d+)\s+(?P<pid>\d+)\s+\S.*\s[RW]\s+(?P<number>-?\d+)\s+\S+"),
    ("rwtop iotop", TIME + r",\s+load: [\d.]+,\s+(?:app|disk)_r:\s+(?P<bytes>\d+) KB,\s+(?:app|disk)_w:\s+(?P<bytes2>\d+) KB$"),
    ("rwtop", r"^\s*(?P<uid>\d+)\s+(?P<pid>\d+)\s+(?P<pid2>\d+) \S.*\s[RW]\s+(?P<bytes>\d+)$"),
    ("topsyscall topsysproc", TIME + r", load average: [\d.]+, [\d.]+, [\d.]+\s+syscalls(?:/s)?: (?P<count>\d+)$", r"^\s+\S+\s+(?P<count>\d+)$"),
    ("sampleproc", r"^\s*(?P<pid>\d+) \S.*\s(?P<percent>\d+)$"),
    ("pfilestat", r"^\s+(?:read|write|running|waitcpu|sleep-\w)\s+(?P<fd>\d+)\s+(?P<percent>\d+)%"),
    ("dvmstat", r"^(?:\s+\d+){11}$"),
    ("dapptrace", r"-> (?:ends:)?inner\(0x8, "),
    ("dappprof", r"^(?:ends +)?inner +(?P<count>\d+)$"),
)


# Scripts that count calls, each with a pattern of a function's row.
COUNTED = (
    ("*_methodcalls.d tcl_proccalls.d", r"^\s*\d+\s+(\d+) (?:Busy\.)?{}$"),
    ("*_calls.d *_funccalls.d *_subcalls.d *_proccalls.d", r"^.*\b{}\s+(\d+)$"),
)
# Scripts that show each call and its return.
PAIRED = "*_flow.d *_flowinfo.d *_flowtime.d *_procflow.d"


def plain(out):
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]|\r", "", out)


def is_plausible(match):
    for name, value in match.groupdict().items():
        if value is None:
            continue
        least, largest = RANGES[name.rstrip("0123456789")]
        if not least <= float(value) <= largest:
            return False
    return True


def implausible(pattern, text):
    """What is wrong with the rows that the pattern describes; None if nothing is."""
    matches = list(re.finditer(pattern, text, re.M))
    if not matches:
        return f"no row like {pattern[:60]}"
    good = sum(map(is_plausible, matches))
    if good >= 0.9 * len(matches):
        return None
    return "an implausible row: " + next(match[0] for match in matches if not is_plausible(match)).strip()[:100]


def patterns_of(name, table=EXPECTED):
    script = name.split()[0]
    for globs, *patterns in table:
        if any(fnmatch.fnmatch(script, glob) for glob in globs.split()):
            return patterns
    return None


def miscounted(name, text):
    """What is wrong with the numbers of calls: outer() calls inner() nine times; None if nothing is."""
    for pattern in patterns_of(name, COUNTED) or []:
        inner, outer = (sum(map(int, re.findall(pattern.format(function), text, re.M))) for function in ("inner", "outer"))
        if abs(inner - 9 * outer) > 18:
            return f"{inner} calls of inner() in {outer} of outer()"
    return None


def unpaired(name, text):
    """What is wrong with the calls and returns of inner() that a script shows; None if nothing is, or if rows were dropped."""
    if not any(fnmatch.fnmatch(name, glob) for glob in PAIRED.split()) or " drops on CPU" in text:
        return None
    calls, returns = (len(re.findall(rf"{arrow} (?:\S*[.:])?inner$", text, re.M)) for arrow in ("->", "<-"))
    return f"{calls} calls of inner() and {returns} returns" if abs(calls - returns) > 1 else None


def heading_words(text):
    """The lines of a text that look like headings, each as a tuple of its words."""
    return {tuple(line.split()) for line in text.splitlines() if HEADING.fullmatch(line)}


def without_heading(text, example):
    """A heading of the published example of the script if the text has none of them; None if it has one."""
    headings = heading_words(example)
    if not headings or headings & {tuple(line.split()) for line in text.splitlines()}:
        return None
    return " ".join(min(headings))


def judge(name, out, example=""):
    """Whether the output of the script is plausible, and why not. example: what its author published of its output."""
    text = plain(out)
    patterns = patterns_of(name)
    if patterns is None:
        return "ROWS", "nothing is known of its rows"
    for pattern in patterns:
        if wrong := implausible(pattern, text):
            return ("ROWS" if len(text.split()) > 12 else "EMPTY"), wrong
    if wrong := miscounted(name, text) or unpaired(name, text):
        return "ROWS", wrong
    if name not in OTHER_HEADINGS and (heading := without_heading(text, example)):
        return "ROWS", f"no heading like {heading}"
    return "ok", f"{len(text.splitlines())} rows"


def main():
    for file in sorted(pathlib.Path(sys.argv[1]).glob("*.out")):
        verdict, why = judge(file.stem, file.read_text() + file.with_suffix(".err").read_text())
        print(f"{verdict:8} {file.stem}: {why}")


if __name__ == "__main__":
    main()
