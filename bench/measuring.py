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


BY_AGENT = ("-qv", "-x", "backend=agent")  # options of dvm; must_be_agent() checks what it says


def must_be_agent(text):
    """As root, what an agent cannot take goes to uprobes, unless it is refused."""
    if other := re.search(r"^.*backend local \((?!agent).*$", text, re.M):
        sys.exit(f"not by an agent: {other[0]}")


def timed(command):
    """ns a call, as the program prints it, and all that was printed."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    text = result.stdout + result.stderr
    found = re.search(r"([\d.]+) ns/call", text)
    if not found:
        sys.exit(f"{command[0]}: {text}")
    if set(BY_AGENT) <= set(command):
        must_be_agent(text)
    return float(found.group(1)), text


def cost(command):
    """ns a call."""
    return timed(command)[0]


def lost_in(text):
    """The firings that dvm says it has lost."""
    return sum(int(drops) for drops in re.findall(r"(\d+) [\w ]*drops?\b", text))


def path_of(pid, module):
    """The file of the module that the process has mapped."""
    with open(f"/proc/{pid}/maps") as maps:
        return next(line.split()[-1] for line in maps if f"/{module}" in line)
