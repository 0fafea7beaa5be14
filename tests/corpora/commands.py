"""Published scripts that are commands: shell and Perl scripts that call dtrace. Each is tried with several of its options.

They call /usr/sbin/dtrace, which is there where dvm is installed as a package. They run here as copies that name the dvm to be tested.
"""

import re
import shutil

import stand_ins

# Each: its options; PID is the process beside it, CHILD a program.
COMMANDS = {
    "procsystime": ["-a", "-T -p PID", "-n sh", "-c ls -l /"],
    "dtruss": ["-p PID", "-f sh -c /bin/true", "-a ls /", "-c ls /", "-n sh", "-t mmap ls /", "-edo ls /"],
    "execsnoop": ["", "-a", "-c ls", "-ev", "-s"],
    "opensnoop": ["", "-a", "-n cat", "-vg", "-x", "-e"],
    "statsnoop": ["", "-v", "-x"],
    "rwsnoop": ["", "-n sh", "-t", "-p PID"],
    "rwtop": ["-C 1 2"],
    "hotuser": ["-p PID", "-l -p PID"],
    "hotkernel": ["", "-m"],
    "iosnoop": ["", "-a", "-o", "-e"],
    "iotop": ["-C 1 2", "-P -C 1 2"],
    "iopattern": ["1 2", "-v 1 2"],
    "dvmstat": ["-p PID", "sleep 3"],
    "shellsnoop": ["-p PID", "-q -p PID", "-s -p PID"],
    "topsyscall": ["-C 1 2", "-Cs 1 2"],
    "topsysproc": ["1"],
    "fddist": ["", "-r"],
    "lastwords": ["date"],
    "sampleproc": ["", "200"],
    "pfilestat": ["PID"],
    "dapptrace": ["CHILD", "-a CHILD", "-U CHILD"],
    "dappprof": ["CHILD", "-a CHILD"],
    "cputimes": ["1 2", "-a 1 2"],
    "cpudists": ["1 2"],
    "iopending": ["1 2"],
    "vopstat": ["-t"],
    "xvmstat": ["1 2"],
    "zvmstat": ["1 2"],
    "dnlcstat": ["1 2"],
    "connections": [""],
    "tcpsnoop": [""],
    "tcpsnoop_snv": [""],
    "tcptop": ["-C 1 2"],
    "tcptop_snv": ["-C 1 2"],
}
SHELLS = {"perl": "perl", "ksh": "ksh", "sh": "sh"}


def is_command(text):
    """Whether it is a script for a shell or Perl that calls dtrace."""
    first = re.match(r"#!\S*/(?:env )?(\w+)", text)
    if first:
        return first[1] in SHELLS and re.search(r"^[^#]*\bdtrace\b", text[3:], re.M) is not None
    return text.lstrip().startswith("dtrace ")


def shell_of(text):
    first = re.match(r"#!\S*/(\w+)", text)
    return shutil.which(SHELLS[first[1]] if first else "sh")


def calls(path, text, pid, folder):
    """A name, such as "dtruss -f", and words for each way to call it."""
    copy = folder / f"{path.name}.copy"
    copy.write_text(re.sub(r"/usr/sbin/dtrace", str(folder / "dtrace"), text))
    places = {"PID": str(pid), "CHILD": "CHILD" in COMMANDS.get(path.name, [""])[0] and stand_ins.ends(folder) or "/bin/true"}
    for options in COMMANDS.get(path.name, [""]):
        words = [places.get(word, word) for word in options.split()]
        yield f"{path.name} {options}".strip().replace("/", "%"), [shell_of(text), str(copy), *words]
