"""Programs behind wrappers, which execute them in their place, traced by an agent without privileges: the probes are on before the program runs."""

import os
import re
import shutil
import subprocess
import sys
import unittest

import dvmtest
from dvmtest import DVM, ENV, program

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
COUNT = "pid$target:looper:func:entry { @ = count(); }"
THREAD = "import os, threading; threading.Thread(target=lambda: os.execv('./looper', ['looper', '300'])).start()"


def python_for_users():
    """One that lies in a folder which users may look into."""
    return next(path for path in (sys.executable, "/usr/bin/python3") if subprocess.run([*AS_NOBODY, "env", path, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0)


class Wrappers(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user")
        self.folder = dvmtest.own_folder(self)
        os.chmod(self.folder, 0o755)
        for file in (DVM, program("looper"), program("renewed"), program("tracing_privilege")):
            shutil.copy(file, self.folder)
        if dvmtest.privilege_missing_for("breakpoints", AS_NOBODY, self.folder / "tracing_privilege"):
            dvmtest.skip_or_fail(self, "users may not have breakpoints")

    def run_as_user(self, script, command, *options):
        return subprocess.run([*AS_NOBODY, "./dvm", "run", "-q", "-Z", *options, "-n", script, "-c", command], capture_output=True, text=True,
                              cwd=self.folder, env=ENV, timeout=300)

    def test_each_call_of_the_program_is_counted(self):
        python = python_for_users()
        for command in ("sh -c 'exec ./looper 300'", "env A=b ./looper 300", "nice -n 1 env sh -c 'exec ./looper 300'",
                        f"{python} -c \"import os; os.execvp('./looper', ['looper', '300'])\"", f"{python} -c \"{THREAD}\""):
            with self.subTest(command):
                result = self.run_as_user(COUNT, command)
                self.assertEqual((result.returncode, result.stdout.split()[-1], result.stderr), (0, "300", ""))


if __name__ == "__main__":
    unittest.main()
