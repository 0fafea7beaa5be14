#!/usr/bin/env python3
"""Compiles all D scripts below a folder.

usage: compile_scripts.py FOLDER     with DVM=path of dvm

Meant for collections such as the DTraceToolkit, which are not part of this repository. A script is compiled with -C if it has
directives of the preprocessor. $target is a process that sleeps. A script that does not compile counts as a failure unless the message
proves that it needs the kernel, or a library, of another system (not_here.py). Status 1 if fewer than 98 % of the others compile. The last
line also has the share if only scripts with probes of a kernel are left out: "state" are those that read a kernel without such a probe.
"""

import os
import pathlib
import re
import subprocess
import sys

from not_here import BROKEN, is_command_line, names_kernel_probe, needs

DVM = os.path.abspath(os.environ.get("DVM", "build/release/cmd/dvm"))
NEEDED = 0.98
USUAL = ["-xargref", "-xdefaultargs", "-xerrtags", "-Z"]


def compile_script(script, text, pid):
    """Whether it compiles, and dvm's first message with its hints."""
    options = USUAL + (["-C"] if re.search(r"^\s*#\s*(?:define|include|if)", text, re.M) else [])
    command = [DVM, "compile"] + options + ["-p", str(pid), "-s", script.name]
    ran = subprocess.run(command, capture_output=True, text=True, errors="replace", cwd=script.parent, timeout=60)
    first = re.search(r"^.*fatal error: .*$|^dvm: .*$(?:\n    .*$)*", ran.stderr, re.M)
    return ran.returncode == 0, first[0] if first else ran.stderr[:200]


def verdict(script, pid):
    text = script.read_text(errors="replace")
    if is_command_line(text):
        return "skipped", "it is a command line"
    if script.name in BROKEN:
        return "skipped", BROKEN[script.name]
    good, message = compile_script(script, text, pid)
    if good:
        return "ok", ""
    reason = needs(message)
    if reason:
        return "kernel" if names_kernel_probe(text) else "state", reason
    return "FAILED", message.partition("\n")[0]


def compile_all(folder):
    """Compiles the scripts below the folder and says how many compile; the exit status."""
    counts = {"ok": 0, "kernel": 0, "state": 0, "skipped": 0, "FAILED": 0}
    target = subprocess.Popen(["sleep", "3600"])
    try:
        for script in sorted(path for path in folder.rglob("*.d") if path.is_file() and not path.is_symlink()):
            word, why = verdict(script, target.pid)
            counts[word] += 1
            if word != "ok":
                print(f"{word:8} {script.relative_to(folder)}: {why}")
    finally:
        target.kill()
    share = counts["ok"] / max(1, counts["ok"] + counts["FAILED"])
    strict = counts["ok"] / max(1, counts["ok"] + counts["FAILED"] + counts["state"])
    print(", ".join(f"{count} {word}" for word, count in counts.items()) +
          f": of those for programs {share:.1%} compile, {NEEDED:.0%} must; with the state of a kernel {strict:.1%}")
    return 0 if share >= NEEDED else 1


if __name__ == "__main__":
    sys.exit(compile_all(pathlib.Path(sys.argv[1]).resolve()))
