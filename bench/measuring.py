"""Common parts of the benchmarks of an agent: programs that are compiled for one run, and how figures are shown."""

import os
import re
import statistics
import subprocess
import sys


def spread(values, digits=1):
    """The median and the quartiles."""
    low, median, high = statistics.quantiles(values, n=4) if len(values) > 1 else 3 * values
    return f"{median:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def compiled(folder, name, source, *options, language="c"):
    """The path of the program."""
    path = os.path.join(folder, name)
    compiler = "c++" if language == "c++" else "cc"
    subprocess.run([compiler, "-x", language, "-o", path, "-", *options], input=source, text=True, check=True, cwd=folder)
    return path


def cost(command, **options):
    """ns a call, as the program prints it."""
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    found = re.search(r"([\d.]+) ns/call", result.stdout + result.stderr)
    if not found:
        sys.exit(f"{command[0]}: {result.stdout}{result.stderr}")
    return float(found.group(1))
