"""What a published script says of itself: its providers, options and arguments."""

import re

PROVIDERS = re.compile(r"(?m)^\s*(?:,\s*)?([a-zA-Z_][\w$*-]*):[^;={}]*(?=[,\n/{]|$)")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|^\s*#.*?$", "", text, flags=re.S | re.M)


def providers_of(text):
    return {re.sub(r"(\$target|\$1|\d+|\*)$", "", name) for name in PROVIDERS.findall(without_comments(text))}


def argument(number, code):
    if re.search(rf"syscall::\${number}\b", code):
        return "write"
    if not re.search(rf"\$\${number}\b", code):
        return "1"
    return "Busy" if "hotspot" in code else "sh"


def arguments_of(text, pid):
    """One for each $N that the script names: a process, 1, or a word where it wants a string: a class of Java, a program, a system call."""
    code = without_comments(text)
    if "defaultargs" in text and not re.search(r"\bpid == \$1\b|\$\$1", code):
        return []
    most = max([int(n) for n in re.findall(r"\$\$?(\d+)", code)] + [0])
    return [str(pid) if re.search(rf"\bpid == \${n}\b", code) else argument(n, code) for n in range(1, most + 1)]


def flags_of(text):
    """The options of the script's first line, without the -s before its name."""
    first = re.match(r"#!\S*dtrace\s*(-.*)", text)
    words = first[1].split() if first else []
    return [word for word in (re.sub(r"s$", "", w) if re.fullmatch(r"-\w*s", w) else w for w in words) if word != "-"]
