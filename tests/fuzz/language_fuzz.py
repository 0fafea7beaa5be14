#!/usr/bin/env python3
"""Random D programs whose results a model in Python predicts.

usage: language_fuzz.py [SECONDS [SEED]]     with DVM=path of dvm; without SECONDS, one program of a fixed seed

FEATURES is the table of what the generator makes: a function that returns the text of an expression and its value. The model
computes with 64 bits and cuts a value where D does: when it is stored or cast. Each expression nests others, deep enough that values
are spilled, and calls and elements of arrays nest within keys and arguments. A difference is printed with its statement.
"""

import os
import random
import subprocess
import sys
import tempfile

from seeds import run_seeds

DVM = os.environ.get("DVM", "build/release/cmd/dvm")
STATEMENTS = 120   # in a program
A_CLAUSE = 20      # statements in a clause
DEEPEST = 7
SIZES = {"char": 8, "short": 16, "int": 32, "long": 64, "unsigned char": -8, "unsigned short": -16, "unsigned int": -32}
WORDS = ["", "a", "basalt", "mica", "feldspar", "gneiss", "ab", "granite granite"]


def cut(value, bits=64):
    """The value as a type of so many bits keeps it; negative: without a sign."""
    size = abs(bits)
    value &= (1 << size) - 1
    return value - (1 << size) if bits > 0 and value >> (size - 1) else value


class Program:
    """The variables as the model has them, and the texts so far."""

    def __init__(self, rng):
        self.rng = rng
        self.variables = {}    # name in D: bits and value
        self.strings = {}
        self.elements = {}     # keys: value
        self.lines, self.wanted = [], []

    def integer(self, depth):
        names = [n for n, f in FEATURES.items() if f.makes == "integer" and (depth > 0 or f.is_leaf)]
        return FEATURES[self.rng.choice(names)].make(self, depth - 1)

    def text(self, depth):
        names = [n for n, f in FEATURES.items() if f.makes == "string" and (depth > 0 or f.is_leaf)]
        return FEATURES[self.rng.choice(names)].make(self, depth - 1)

    def small(self, depth, limit):
        """An integer below the limit."""
        text, value = self.integer(depth)
        return f"((({text}) & 0x7fffffff) % {limit})", (value & 0x7fffffff) % limit


class Feature:
    def __init__(self, makes, make, is_leaf=False):
        self.makes, self.make, self.is_leaf = makes, make, is_leaf


def constant(p, _):
    value = p.rng.choice([0, 1, 2, 3, 7, 31, 100, 255, 65535, 2147483647, 4294967295, p.rng.randrange(1 << 40)])
    return f"{value}LL", value


def variable(p, _):
    name = p.rng.choice(list(p.variables))
    return name, p.variables[name][1]


def binary(p, depth):
    (a, x), (b, y) = p.integer(depth), p.integer(depth)
    op = p.rng.choice("+-*&|^")
    # Signed 64-bit operands, whatever the variables are, keep C's and D's rules on types out of the model.
    value = {"+": x + y, "-": x - y, "*": x * y, "&": x & y, "|": x | y, "^": x ^ y}[op]
    return f"((int64_t)({a}) {op} (int64_t)({b}))", cut(value)


def division(p, depth):
    (a, x), (b, y) = p.integer(depth), p.small(depth, 1000)
    quotient = abs(x) // (y + 1) * (1 if x >= 0 else -1)
    if p.rng.random() < 0.5:
        return f"((int64_t)({a}) / (int64_t)({b} + 1))", cut(quotient)
    return f"((int64_t)({a}) % (int64_t)({b} + 1))", cut(x - quotient * (y + 1))


def shift(p, depth):
    (a, x), (b, y) = p.integer(depth), p.small(depth, 64)
    if p.rng.random() < 0.5:
        return f"((int64_t)({a}) << {b})", cut(x << y)
    return f"((int64_t)({a} + mu) >> {b})", cut(x) >> y


def comparison(p, depth):
    (a, x), (b, y) = p.integer(depth), p.integer(depth)
    op = p.rng.choice(["<", "<=", ">", ">=", "==", "!="])
    value = {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[op]
    return f"((int64_t)({a}) {op} (int64_t)({b}))", int(value)


def logical(p, depth):
    (a, x), (b, y) = p.integer(depth), p.integer(depth)
    op = p.rng.choice(["&&", "||", "^^"])
    value = {"&&": x and y, "||": x or y, "^^": bool(x) != bool(y)}[op]
    return f"({a} {op} {b})", int(bool(value))


def unary(p, depth):
    a, x = p.integer(depth)
    op = p.rng.choice("-~!")
    return f"({op}(int64_t)({a}))", {"-": cut(-x), "~": cut(~x), "!": int(x == 0)}[op]


def conditional(p, depth):
    (a, x), (b, y), (c, z) = p.integer(depth), p.integer(depth), p.integer(depth)
    return f"({a} ? (int64_t)({b}) : (int64_t)({c}))", cut(y if x else z)


def cast(p, depth):
    a, x = p.integer(depth)
    name = p.rng.choice(list(SIZES))
    return f"(({name})((int64_t)({a}) + mu))", cut(x, SIZES[name])


def element(p, depth):
    keys = [p.small(depth, 3), p.small(depth, 3)]
    text, word = p.text(depth)
    value = p.elements.get((keys[0][1], keys[1][1], word), 0)
    return f"elements[{keys[0][0]}, {keys[1][0]}, {text}]", value


def length(p, depth):
    a, x = p.text(depth)
    return f"strlen({a})", len(x)


def find(p, depth):
    (a, x), (b, y) = p.text(depth), p.text(0)
    return f"index({a}, {b})", x.find(y)


def string_comparison(p, depth):
    (a, x), (b, y) = p.text(depth), p.text(depth)
    return f"({a} < {b})", int(x < y)


def literal(p, _):
    word = p.rng.choice(WORDS)
    return f'"{word}"', word


def string_variable(p, _):
    name = p.rng.choice(list(p.strings))
    return name, p.strings[name]


def joined(p, depth):
    (a, x), (b, y) = p.text(depth), p.text(depth)
    return (f"strjoin({a}, {b})", x + y) if len(x + y) < 200 else (a, x)


def part(p, depth):
    (a, x), (b, y), (c, z) = p.text(depth), p.small(depth, 5), p.small(depth, 9)
    return f"substr({a}, {b}, {c})", x[y:y + z]


def number_text(p, depth):
    a, x = p.integer(depth)
    return f"lltostr((int64_t)({a}))", str(x)


def chosen_text(p, depth):
    (a, x), (b, y), (c, z) = p.integer(depth), p.text(depth), p.text(depth)
    return f"({a} ? {b} : {c})", y if x else z


FEATURES = {
    "constant": Feature("integer", constant, True), "variable": Feature("integer", variable, True),
    "binary": Feature("integer", binary), "division": Feature("integer", division), "shift": Feature("integer", shift),
    "comparison": Feature("integer", comparison), "logical": Feature("integer", logical), "unary": Feature("integer", unary),
    "conditional": Feature("integer", conditional), "cast": Feature("integer", cast), "element": Feature("integer", element),
    "length": Feature("integer", length), "find": Feature("integer", find),
    "string_comparison": Feature("integer", string_comparison),
    "literal": Feature("string", literal, True), "string_variable": Feature("string", string_variable, True),
    "joined": Feature("string", joined), "part": Feature("string", part), "number_text": Feature("string", number_text),
    "chosen_text": Feature("string", chosen_text),
}


def declare(p):
    texts = ["int64_t elements[int, int, string];", "int64_t mu;"]  # mu is 0 and keeps constants from being folded
    for scope in ("", "self ", "this "):
        for name, bits in SIZES.items():
            spelled = f"{scope.strip()}->v_{name.replace(' ', '_')}" if scope else f"v_{name.replace(' ', '_')}"
            texts.append(f"{scope}{name} v_{name.replace(' ', '_')};")
            if scope != "this ":  # those do not last from clause to clause
                p.variables[spelled] = (bits, 0)
    for name in ("one", "other"):
        texts.append(f"string {name};")
        p.strings[name] = ""
    return texts


def statement(p):
    """One assignment, and the line that shows what it left."""
    depth = p.rng.randrange(2, DEEPEST)
    kind = p.rng.random()
    if kind < 0.2:
        name = p.rng.choice(list(p.strings))
        text, value = p.text(min(depth, 4))
        p.lines.append(f'{name} = {text}; printf("%s\\n", {name});')
        p.strings[name] = value
    elif kind < 0.35:
        (a, x), (b, y), (c, z), (d, w) = p.small(2, 3), p.small(2, 3), p.text(2), p.integer(min(depth, 4))
        p.lines.append(f'elements[{a}, {b}, {c}] = {d}; printf("%d\\n", elements[{x}, {y}, "{z}"]);')
        value = p.elements[(x, y, z)] = w
    else:
        name = p.rng.choice(list(p.variables))
        bits, old = p.variables[name]
        text, value = p.integer(depth)
        op = p.rng.choice(["", "+", "-", "^"])
        value = cut({"": value, "+": old + value, "-": old - value, "^": old ^ value}[op], bits)
        p.lines.append(f'{name} {op}= (int64_t)({text}); printf("%d\\n", {name});')
        p.variables[name] = (bits, value)
    p.wanted.append(str(value))


def run(seed):
    p = Program(random.Random(seed))
    texts = declare(p)
    texts.append('BEGIN { one = ""; other = ""; elements[9, 9, ""] = 1; self->v_int = 0; }')
    for _ in range(STATEMENTS):
        statement(p)
    for i in range(0, STATEMENTS, A_CLAUSE):
        texts.append("BEGIN {\n" + "\n".join(p.lines[i:i + A_CLAUSE]) + "\n}")
    texts.append("BEGIN { exit(0); }\nERROR { exit(1); }")
    with tempfile.NamedTemporaryFile("w", suffix=".d") as script:
        script.write("\n".join(texts) + "\n")
        script.flush()
        options = ["-q", "-x", "strsize=1024", "-x", "bufsize=4m", "-s", script.name]
        ran = subprocess.run([DVM, "run"] + options, capture_output=True, text=True, timeout=60)
    got = ran.stdout.split("\n")
    for line, want, found in zip(p.lines, p.wanted, got):
        if want != found:
            return f"seed {seed}: expected {want}, got {found}:\n{line}"
    return None if len(got) >= len(p.wanted) and ran.returncode == 0 else f"seed {seed}: {ran.stderr[:2000]}"


if __name__ == "__main__":
    run_seeds(run)
