#!/usr/bin/env python3
"""Runs the scripts of this folder and compares what dvm prints with what is expected.

usage: run_scripts.py [--update] [-xOPTION=VALUE...] [TOPIC/NAME...]

  TOPIC/tst.NAME.d   a script that works; err.TAG.NAME.d, one that is refused; drp.KIND.NAME.d, one that loses data on purpose
  ....out            expected standard output; ....err, the lines of standard error that begin with "dvm: " (absent: none)
A comment line in the script may say:
  run: ARGS          further arguments; {programs} is the folder of the traced programs
  script: FILE       the script that is run, if it is another one beside this, as one on several programs is
  replay: FILE       run on this recording, which stands beside the script, instead of live
  needs: uprobes     skipped where they cannot be used
  program: NAME      skipped where this program could not be built
  status: N          expected exit status (tst 0, err 1)
  backend: NAME      left out where -xbackend= names another one, which shows something else by design
  sanitized: no      left out under sanitizers, whose shadow of large buffers takes memory
  mask: REGEX        replaced by # in both texts before comparing
The CPU column, pids in provider names and addresses are masked always.
"""

import os
import pathlib
import re
import shlex
import sys

import dvmtest

ALWAYS = [(r"^ *\d+ ( +\d+ +\S*:| *(?:->|<-) |\| :)", r"CPU \1"), (r"pid\d+", "pidN"), (r"0x[0-9a-f]{8,16}", "PTR"),
          (r"DIF offset \d+", "DIF offset N"), (r"probe ID \d+ \(", "probe ID N ("), (r"pid \d+ has exited", "pid N has exited"),
          (r"drops? on CPU \d+$", "drops on CPU N"), (r"engine (interp|llvm)\b", "engine E")]


def settings(script):
    found = {}
    for key, value in re.findall(r"^[ */]*(run|script|replay|needs|program|status|mask|backend|sanitized): (.*?)(?: \*/)?$", script.read_text(errors="replace"), re.M):
        found[key] = value
    return found


def masked(text, mask):
    for pattern, replacement in ALWAYS + ([(mask, "#")] if mask else []):
        text = re.sub(pattern, replacement, text, flags=re.M)
    return [line.rstrip() for line in text.rstrip().splitlines()]


def notices(text):
    return "".join(line + "\n" for line in text.splitlines() if line.startswith("dvm: "))


def difference(what, want, got):
    for i in range(max(len(want), len(got))):
        a, b = (x[i] if i < len(x) else None for x in (want, got))
        if a != b:
            return f"{what} line {i + 1}: expected {a!r}, got {b!r}"
    return None


def check(script, update, options):
    given = settings(script)
    args = shlex.split(given.get("run", "").replace("{programs}", dvmtest.PROGRAMS))
    command = ["replay", given["replay"]] if "replay" in given else ["run"]
    result = dvmtest.dvm(*command, "-xerrtags", *options, "-s", given.get("script", script.name), *args, cwd=script.parent)
    status = int(given.get("status", "1" if script.name.startswith("err.") else "0"))
    if result.returncode != status:
        return f"exit status: expected {status}, got {result.returncode}\n{result.stderr}"
    for suffix, text in ((".out", result.stdout), (".err", notices(result.stderr))):
        path = script.with_suffix(suffix)
        got = masked(text, given.get("mask"))
        if update:
            path.write_text("".join(line + "\n" for line in got)) if got else path.unlink(missing_ok=True)
            continue
        problem = difference(suffix[1:], masked(path.read_text() if path.exists() else "", given.get("mask")), got)
        if problem:
            return problem
    return None


def main():
    update = "--update" in sys.argv
    options = [a for a in sys.argv[1:] if a.startswith("-x")]
    wanted = [a for a in sys.argv[1:] if a != "--update" and a not in options]
    backend = next((a.partition("=")[2] for a in options if a.startswith("-xbackend=")), "uprobe")
    privilege = dvmtest.missing_privilege()
    failed = skipped = ran = 0
    for script in sorted(dvmtest.HERE.glob("*/*.d")):
        name = f"{script.parent.name}/{script.stem}"
        if wanted and name not in wanted and script.parent.name not in wanted:
            continue
        if dvmtest.SANITIZED and settings(script).get("sanitized") == "no":
            continue
        if settings(script).get("backend", backend) != backend:
            continue
        if settings(script).get("needs") == "uprobes" and privilege:
            skipped += 1
            print(f"skipped {name}: {privilege}")
            continue
        needed = settings(script).get("program")
        if needed and not os.path.exists(dvmtest.program(needed)):
            skipped += 1
            print(f"skipped {name}: {needed} was not built")
            continue
        ran += 1
        problem = check(script, update, options)
        if problem:
            failed += 1
            print(f"FAILED {name}: {problem}")
    print(f"{ran - failed} of {ran} scripts as expected, {skipped} skipped")
    if skipped and dvmtest.os.environ.get("DVM_NO_SKIP"):
        return 1
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
