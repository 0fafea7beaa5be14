#!/usr/bin/env python3
"""Reads the C headers of this system with -C, each in a script of its own.

usage: compile_headers.py [FOLDER ...] [--before FILE] [--keep FILE]     with DVM=path of dvm

Without folders: /usr/include. Headers that cpp and gcc refuse by themselves, or take for C++, are not counted. Prints each refused header
with the reason. --before names an earlier output: status 1 if a header is refused that was not refused there. --keep names a file of
verdicts: each is appended as soon as it is known, and headers that the file has are not tried again. So an interrupted run can be continued.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

DVM = os.path.abspath(os.environ.get("DVM", "build/release/cmd/dvm"))
FOREIGN = {"c++", "llvm", "llvm-c", "clang", "boost", "fmt", "gtest", "gmock", "benchmark", "absl", "Zydis", "antlr4-runtime"}


def is_c(name):
    """Whether gcc takes the header as C, alone."""
    ran = subprocess.run(["gcc", "-fsyntax-only", "-std=gnu99", "-w", "-x", "c", "-"], input=f"#include <{name}>\n", text=True, capture_output=True)
    return ran.returncode == 0


def refusal(name):
    """None if dvm reads it; else its first message."""
    script = f"#include <{name}>\nBEGIN {{ exit(0); }}\n"
    ran = subprocess.run([DVM, "compile", "-C", "/dev/stdin"], input=script, text=True, errors="replace", capture_output=True, timeout=120)
    if ran.returncode == 0:
        return None
    return next((line for line in ran.stderr.splitlines() if line.startswith("dvm: ")), ran.stderr[:200])


def names_below(folder):
    for path in sorted(folder.rglob("*.h")):
        name = path.relative_to(folder)
        if name.parts[0] not in FOREIGN and not name.parts[0].endswith("-linux-gnu"):
            yield str(name)


def verdict(name):
    """"c++" if gcc does not take it as C, "ok", or why dvm refuses it."""
    try:
        return (refusal(name) or "ok") if is_c(name) else "c++"
    except subprocess.TimeoutExpired:
        return "it takes more than 120 s"


def known_verdicts(file):
    if not file or not os.path.exists(file):
        return {}
    return dict(line.split("\t", 1) for line in pathlib.Path(file).read_text().splitlines())


def verdicts_of(names, keep):
    """Those of the file, and those of the other headers, which are appended to it."""
    known = known_verdicts(keep)
    left = [name for name in names if name not in known]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool, open(keep or os.devnull, "a", encoding="utf-8") as file:
        for name, said in zip(left, pool.map(verdict, left)):
            known[name] = said
            print(f"{name}\t{said}", file=file, flush=True)
    return {name: known[name] for name in names if known[name] != "c++"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="*", default=["/usr/include", "/usr/include/x86_64-linux-gnu"])
    parser.add_argument("--before")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    names = sorted({name for folder in arguments.folders for name in names_below(pathlib.Path(folder))})
    verdicts = verdicts_of(names, arguments.keep)
    refused = {name: why for name, why in verdicts.items() if why != "ok"}
    for name, why in refused.items():
        print(f"REFUSED {name}: {why}")
    print(f"{len(verdicts) - len(refused)} of {len(verdicts)} headers")
    known = set(re.findall(r"^REFUSED (\S+):", pathlib.Path(arguments.before).read_text(), re.M)) if arguments.before else set(refused)
    return 1 if set(refused) - known else 0


sys.exit(main())
