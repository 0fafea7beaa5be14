#!/usr/bin/env python3
"""Compiles all D scripts below a folder, and tells those that fail for other reasons than probes and types of the kernel.

usage: compile_scripts.py FOLDER     with DVM=path of dvm

Meant for collections such as the DTraceToolkit, which are not part of this repository. A script is compiled with -C if it has
directives of the preprocessor. $target is a process that sleeps. Status 1 if fewer than 98 % of the scripts compile that name no
probe, type or symbol of another system's kernel.
"""

import os
import pathlib
import re
import subprocess
import sys

DVM = os.environ.get("DVM", "build/release/cmd/dvm")
NEEDED = 0.98
# What a script says that needs the kernel of another system.
KERNEL = re.compile(r"\b(?:fbt|ip|tcp|udp|sctp|nfsv[34]|nfs\w*|smb\w*|iscsi\w*|fc|fsinfo|mib|vfs|sdt|lockstat|cpc|plockstat|"
                    r"sched|proc|dtrace_\w+|fasttrap|profile_\w+|http|ftp|xpv|hotspot_jni)\w*\*?:[\w.*$-]*:[\w.*-]*:[\w-]*|"
                    r"\b(?:curthread|fds|vnode|kthread|proc_t|buf_t|uio|mblk|task_struct|vattr)\b|`\w")
USUAL = ["-xargref", "-xdefaultargs", "-xerrtags", "-Z"]


def compiles(script, pid):
    text = script.read_text(errors="replace")
    options = USUAL + (["-C"] if re.search(r"^\s*#\s*(?:define|include|if)", text, re.M) else [])
    command = [DVM, "compile"] + options + ["-p", str(pid), "-s", script.name]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=script.parent, timeout=60)
    first = [line for line in ran.stderr.splitlines() if line.startswith("dvm: ")]
    return ran.returncode == 0, first[0] if first else ran.stderr[:200]


def main():
    scripts = sorted(s for s in pathlib.Path(sys.argv[1]).resolve().rglob("*.d") if s.is_file())
    target = subprocess.Popen(["sleep", "3600"])
    compiled = failed = kernel = 0
    try:
        for script in scripts:
            good, why = compiles(script, target.pid)
            if good:
                compiled += 1
            elif KERNEL.search(script.read_text(errors="replace")):
                kernel += 1
            else:
                failed += 1
                print(f"{script.relative_to(pathlib.Path(sys.argv[1]).resolve())}: {why}")
    finally:
        target.kill()
    print(f"{compiled} of {len(scripts)} scripts compile, {kernel} need another kernel, {failed} fail")
    return 0 if compiled >= NEEDED * (compiled + failed) else 1


if __name__ == "__main__":
    sys.exit(main())
