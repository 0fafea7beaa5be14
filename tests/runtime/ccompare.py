"""Runs a C program and a D script that print lines, and compares their output."""

import os
import pathlib
import subprocess
import tempfile

import dvmtest

CC = os.environ.get("DVM_CC", "cc")


def run_c(test, text):
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "test.c"), str(pathlib.Path(folder, "test"))
        source.write_text(text)
        # -fwrapv: signed overflow wraps, as it does in D.
        built = subprocess.run([CC, "-w", "-O0", "-std=gnu11", "-fwrapv", "-o", program, str(source)], capture_output=True, text=True)
        test.assertEqual(built.returncode, 0, built.stderr[:2000])
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def run_d(test, text):
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "test.d")
        script.write_text("#pragma D option quiet\n" + text + "BEGIN { exit(0); }\nERROR { printf(\"ERROR\\n\"); }\n")
        ran = dvmtest.dvm("run", "-s", str(script))
        test.assertEqual((ran.returncode, ran.stderr), (0, ""), ran.stderr[:2000])
        return ran.stdout.splitlines()


def compare(test, c, d, what):
    """Line by line; `what` says what each line is about."""
    d = [line for line in d if line]  # an ended run prints an empty line
    test.assertEqual(len(c), len(d), "lines of output")
    wrong = [f"{w}\n  C: {x}\n  D: {y}" for w, x, y in zip(what, c, d) if x != y]
    test.assertFalse(wrong, f"{len(wrong)} of {len(what)} differ:\n" + "\n".join(wrong[:10]))
