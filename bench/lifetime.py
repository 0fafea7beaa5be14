"""Ends the programs that a benchmark has started when the benchmark ends, whatever ends it. Each benchmark imports this module first.

SIGTERM makes Python run its `finally` clauses, as SIGINT does. Where these cannot run, as after SIGKILL, the kernel sends SIGTERM to each
child, upon which tracers remove their probes and servers end their own children.
"""

import ctypes
import os
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)  # loaded here, as a child must not load libraries before it executes its program


class Child(subprocess.Popen):
    def __init__(self, *arguments, preexec_fn=None, **options):
        parent = os.getpid()

        def begin():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
            if os.getppid() != parent:  # it has ended before the call
                os._exit(1)
            if preexec_fn:
                preexec_fn()

        super().__init__(*arguments, preexec_fn=begin, **options)

    def __exit__(self, kind, *rest):
        if kind:  # a program that waits for the benchmark would not end
            self.terminate()
        super().__exit__(kind, *rest)


subprocess.Popen = Child  # subprocess.run() uses it, too
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
