#!/usr/bin/env python3
"""Random expressions, computed by D and by C.

usage: expression_fuzz.py [SECONDS [SEED]]     with DVM=path of dvm and CC; without SECONDS, one program of a fixed seed

FEATURES is the table of what the generator makes: a function that returns an Expression. D computes with 64 bits and cuts a value where it
is stored or cast. So the C of an operation casts its operands to 64 bits, with the sign that D's type of the operation has; the C compiler
does the rest. Statements of one program (STATEMENT_KINDS) print, pass and test values, use them as keys, store them into variables of
all types, members, bit-fields and elements, and print what they stored. Strings are made by subroutines (TEXT_KINDS), whose models are in
string_models.py; memory of alloca() is written and read by pointers; structures are copied whole. What aggregations hold is compared at the
end (aggregation_models.py). Programs of even seeds run on engine llvm.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

import aggregation_models as aggregations
from seeds import run_seeds
from string_models import STRINGS, address, json_question

DVM = os.environ.get("DVM", "build/release/cmd/dvm")
CC = os.environ.get("CC", "cc")
STATEMENTS = 120
A_CLAUSE = 20
DEEPEST = 6
SIZES = {"char": 1, "signed char": 1, "unsigned char": 1, "short": 2, "unsigned short": 2, "int": 4, "unsigned int": 4, "long": 8,
         "unsigned long": 8, "int8_t": 1, "uint8_t": 1, "int16_t": 2, "uint16_t": 2, "int32_t": 4, "uint32_t": 4, "int64_t": 8,
         "uint64_t": 8}
UNSIGNED = {name for name in SIZES if name.startswith("u")}
ENUMERATORS = {"NEGATIVE": -3, "ZERO": 0, "SMALL": 200, "LARGE": 2147483647}
BIT_FIELDS = (("int", "low", 3), ("int", "middle", 7), ("unsigned int", "high", 9), ("unsigned int", "one", 1))
INTERESTING = (0, 1, 2, 7, 63, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2147483647, 2147483648, 4294967295, 4294967296,
               1234567890123, 9223372036854775807)


class Expression(NamedTuple):
    d: str
    c: str        # of type int64_t or uint64_t
    type: str     # D's


def common(a, b):
    """The longer type, or the unsigned one: unlike C, D does not make short operands an int first."""
    if SIZES[a] != SIZES[b]:
        return a if SIZES[a] > SIZES[b] else b
    return b if b in UNSIGNED else a


def word(name):
    """The 64-bit type of C in which D computes with a type."""
    return "uint64_t" if name in UNSIGNED else "int64_t"


class Generator:
    def __init__(self, rng):
        self.rng = rng
        self.places = [Expression(f"v_{i}", f"v_{i}", name) for i, name in enumerate(SIZES)]
        self.places += [Expression(f"s.m_{i}", f"s.m_{i}", name) for i, name in enumerate(SIZES)]
        self.places += [Expression(f"self->t_{i}", f"t_{i}", name) for i, name in enumerate(SIZES)]
        self.places += [Expression(f"s.in.u.bytes[{i}]", f"s.in.u.bytes[{i}]", "unsigned char") for i in range(8)]
        self.places += [Expression("s.in.u.word", "s.in.u.word", "long"), Expression("s.in.u.half", "s.in.u.half", "int")]
        self.places += [Expression(f"f.{name}", f"f.{name}", of) for of, name, _ in BIT_FIELDS]

    def any(self, depth):
        names = [name for name, (_, is_leaf) in FEATURES.items() if is_leaf or depth > 0]
        return FEATURES[self.rng.choice(names)][0](self, depth - 1)


def constant(g, _):
    value = g.rng.choice(INTERESTING)
    suffix = g.rng.choice(["", "", "", "u", "l", "ul"]) if value < 1 << 31 else ""
    name = {"": "int" if value < 1 << 31 else "long", "u": "unsigned int", "l": "long", "ul": "unsigned long"}[suffix]
    if not suffix and 1 << 31 <= value:
        return Expression(f"(long){value}", f"(int64_t){value}", "long")
    return Expression(f"{value}{suffix}", f"({word(name)}){value}", name)


def variable(g, _):
    place = g.rng.choice(g.places)
    return Expression(place.d, f"({word(place.type)}){place.c}", place.type)


def element(g, depth):
    index = g.any(min(depth, 2))
    return Expression(f"a[({index.d}) & 7]", f"(int64_t)a[{index.c} & 7]", "short")


def arithmetic(g, depth):
    left, right, op = g.any(depth), g.any(depth), g.rng.choice(["+", "-", "*", "&", "|", "^"])
    name = common(left.type, right.type)
    return Expression(f"({left.d} {op} {right.d})", f"(({word(name)})({left.c}) {op} ({word(name)})({right.c}))", name)


def division(g, depth):
    left, right, op = g.any(depth), g.any(depth), g.rng.choice(["/", "%"])
    name = common(left.type, common(right.type, "int"))
    return Expression(f"({left.d} {op} (({right.d} & 1023) | 1))",
                      f"(({word(name)})({left.c}) {op} ({word(name)})((({right.c}) & 1023) | 1))", name)


def shift(g, depth):
    left, count, op = g.any(depth), g.any(min(depth, 1)), g.rng.choice(["<<", ">>"])
    name = left.type
    if re.match(r"[(~+!-]*(\d|[A-Z]|sizeof)", left.d):  # of constants D's compilers differ
        return left
    return Expression(f"({left.d} {op} (({count.d}) & 63))", f"({word(name)})(({word(name)})({left.c}) {op} (({count.c}) & 63))", name)


def comparison(g, depth):
    left, right, op = g.any(depth), g.any(depth), g.rng.choice(["<", ">", "<=", ">=", "==", "!="])
    as_word = word(common(left.type, right.type))
    return Expression(f"({left.d} {op} {right.d})", f"(int64_t)(({as_word})({left.c}) {op} ({as_word})({right.c}))", "int")


def logical(g, depth):
    left, right, op = g.any(depth), g.any(depth), g.rng.choice(["&&", "||", "^^"])
    c = f"!({left.c}) != !({right.c})" if op == "^^" else f"({left.c}) {op} ({right.c})"
    return Expression(f"({left.d} {op} {right.d})", f"(int64_t)({c})", "int")


def unary(g, depth):
    operand, op = g.any(depth), g.rng.choice(["-", "~", "+", "!"])
    name = "int" if op == "!" else operand.type
    return Expression(f"({op}({operand.d}))", f"(({word(name)}){op}(({word(operand.type)})({operand.c})))", name)


def conditional(g, depth):
    test, yes, no = variable(g, 0), g.any(depth), g.any(depth)  # D chooses by a constant before there are types
    name = common(yes.type, no.type)
    return Expression(f"({test.d} ? {yes.d} : {no.d})", f"(({test.c}) ? ({word(name)})({yes.c}) : ({word(name)})({no.c}))", name)


def cast(g, depth):
    operand, name = g.any(depth), g.rng.choice(list(SIZES))
    return Expression(f"(({name})({operand.d}))", f"({word(name)})({name})({operand.c})", name)


def enumerator(g, _):
    name, value = g.rng.choice(list(ENUMERATORS.items()))
    return Expression(name, f"(int64_t){value}", "int")


def size(g, _):
    place = g.rng.choice(g.places)
    if place.d.startswith("f."):  # a bit-field has none
        return constant(g, 0)
    return Expression(f"sizeof ({place.d})", f"(uint64_t)sizeof ({place.c})", "unsigned long")


def dereference(g, depth):
    index = g.any(min(depth, 2))
    return Expression(f"(*(&a[0] + (({index.d}) & 7)))", f"(int64_t)a[{index.c} & 7]", "short")


def comma(g, depth):
    first, second = g.any(min(depth, 1)), g.any(depth)
    return Expression(f"({first.d}, {second.d})", f"((void)({first.c}), {second.c})", second.type)


TEXTS = [f"w_{i}" for i in range(3)] + [f"self->x_{i}" for i in range(2)]
ALTERED = ("basename", "dirname", "cleanpath", "toupper", "tolower")
SHORT = 40  # characters of what is stored


class Text(NamedTuple):
    d: str
    c: str        # of type const char *


def literal(g):
    alphabet = g.rng.choice(["aabBc7. /", "a../"])
    letters = "".join(g.rng.choice(alphabet) for _ in range(g.rng.randrange(8)))
    return Text(f'"{letters}"', f'"{letters}"')


def named(g, _):
    name = g.rng.choice(TEXTS)
    return Text(name, name.replace("self->", ""))


def joined(g, depth):
    one, other = text(g, depth - 1), text(g, depth - 1)
    return Text(f"strjoin({one.d}, {other.d})", f"d_join({one.c}, {other.c})")


def part(g, depth):
    one, first, most = text(g, depth - 1), g.rng.randrange(-4, 8), g.rng.randrange(0, 6)
    return Text(f"substr({one.d}, {first}, {most})", f"d_part({one.c}, {first}, {most})")


def altered(g, depth):
    one, name = text(g, depth - 1), g.rng.choice(ALTERED)
    return Text(f"{name}({one.d})", f"d_{name}({one.c})")


def found(g, depth):  # NULL otherwise
    one, what = text(g, depth - 1), literal(g)
    return Text(f'(index({one.d}, {what.d}) < 0 ? "none" : strstr({one.d}, {what.d}))', f"d_found({one.c}, {what.c})")


def found_character(g, depth):
    one, name, what = text(g, depth - 1), g.rng.choice(["strchr", "strrchr"]), g.rng.choice(["'a'", "'/'", "'.'", "'\\0'", "'a' + 256"])
    call = f"{name}({one.d}, {what})"
    return Text(f'({call} == NULL ? "none" : {call})', f"d_{name}({one.c}, {what})")


def token(g, depth):
    one, what = text(g, depth - 1), literal(g)
    call = f"strtok({one.d}, {what.d})"
    return Text(f'({call} == NULL ? "none" : {call})', f"d_token({one.c}, {what.c})")


def number(g, _):
    value = g.any(1)
    return Text(f"lltostr({value.d})", f"d_number({value.c})")


def based(g, _):
    value, base = g.any(1), g.rng.choice([2, 3, 8, 8, 10, 10, 16, 16, 17, 36, g.rng.randrange(2, 37)])
    return Text(f"lltostr({value.d}, {base})", f"d_based({value.c}, {base})")


def chosen(g, depth):
    test, one, other = variable(g, 0), text(g, depth - 1), text(g, depth - 1)
    return Text(f"({test.d} ? {one.d} : {other.d})", f"({test.c} ? {one.c} : {other.c})")


# With the frequency of each.
TEXT_KINDS = {joined: 2, part: 2, altered: 10, found: 2, found_character: 3, token: 2, number: 1, based: 2, chosen: 2}


def text(g, depth):
    """A string: a literal, a variable, or what a subroutine makes of others."""
    if depth == 0 or g.rng.randrange(9) < 3:
        return literal(g) if g.rng.randrange(3) == 0 else named(g, 0)
    return g.rng.choices(list(TEXT_KINDS), TEXT_KINDS.values())[0](g, depth)


def length(g, depth):
    of = text(g, min(depth, 2))
    return Expression(f"strlen({of.d})", f"(uint64_t)strlen({of.c})", "unsigned long")


def parsed(g, depth):
    of = text(g, min(depth, 2))  # a few characters: C's limits at 64 bits
    return Expression(f"strtoll(substr({of.d}, 0, 12))", f"(int64_t)strtoll(d_part({of.c}, 0, 12), NULL, 10)", "long")


def swapped(g, depth):
    value, bits, name = g.any(depth), g.rng.choice((16, 32, 64)), g.rng.choice("hn")
    function = ("hton" if name == "h" else "ntoh") + {16: "s", 32: "l", 64: "ll"}[bits]
    return Expression(f"{function}({value.d})", f"(uint64_t)__builtin_bswap{bits}((uint{bits}_t)({value.c}))", f"uint{bits}_t")


def position(g, depth):
    of, what, name = text(g, min(depth, 2)), literal(g), g.rng.choice(["index", "rindex"])
    return Expression(f"{name}({of.d}, {what.d})", f"(int64_t)d_{name}({of.c}, {what.c})", "int")


def position_from(g, depth):
    of, what, name = text(g, min(depth, 2)), literal(g), g.rng.choice(["index", "rindex"])
    start = g.rng.randrange(-3, 12)
    return Expression(f"{name}({of.d}, {what.d}, {start})", f"(int64_t)d_{name}_from({of.c}, {what.c}, {start})", "int")


def ordered(g, depth):
    left, right, op = text(g, min(depth, 2)), text(g, min(depth, 2)), g.rng.choice(["<", ">", "<=", ">=", "==", "!="])
    return Expression(f"({left.d} {op} {right.d})", f"(int64_t)(strcmp({left.c}, {right.c}) {op} 0)", "int")


FEATURES = {  # name: how it is made, and whether it contains no other
    "constant": (constant, True), "variable": (variable, True), "element": (element, False), "arithmetic": (arithmetic, False),
    "division": (division, False), "shift": (shift, False), "comparison": (comparison, False), "logical": (logical, False),
    "unary": (unary, False), "conditional": (conditional, False), "cast": (cast, False), "comma": (comma, False),
    "enumerator": (enumerator, True), "size": (size, True), "dereference": (dereference, False),
    "length": (length, False), "position": (position, False), "position_from": (position_from, False), "ordered": (ordered, False),
    "parsed": (parsed, False), "swapped": (swapped, False),
}


def shown(place):
    """What prints the place, in D and in C."""
    show, of = ("%u", "unsigned long") if place.type in UNSIGNED else ("%d", "long")
    return f'printf("{show}\\n", ({word(place.type)}){place.d});', f'printf("{show.replace("%", "%l")}\\n", ({of}){place.c});'


def counted(g, place, op):
    """The old or the new value is stored elsewhere; what is printed is the place and that other one."""
    in_front = g.rng.random() < 0.5
    d, c = (f"{op}{place.d}", f"{op}{place.c}") if in_front else (f"{place.d}{op}", f"{place.c}{op}")
    d_shown, c_shown = shown(place)
    return f'self->other = {d}; printf("%d ", self->other); {d_shown}', f'other = {c}; printf("%ld ", other); {c_shown}'


def printed(g):
    """Cut to its type where it is printed."""
    value = g.any(g.rng.randrange(1, DEEPEST))
    show, of = ("%u", "unsigned long") if value.type in UNSIGNED else ("%d", "long")
    return f'printf("{show}\\n", {value.d});', f'printf("{show.replace("%", "%l")}\\n", ({of})({value.type})({value.c}));'


def passed(g):
    """All 64 bits of it, where a subroutine takes it."""
    value = g.any(g.rng.randrange(1, DEEPEST))
    return f'printf("%s\\n", lltostr({value.d}));', f'printf("%ld\\n", (long)({value.c}));'


def tested(g):
    """All 64 bits of it, as a condition."""
    value = g.any(g.rng.randrange(1, DEEPEST))
    return f'printf("%s\\n", {value.d} ? "yes" : "no");', f'printf("%s\\n", ({value.c}) ? "yes" : "no");'


def formatted(g):
    """With flags, a width and a precision."""
    value = g.any(g.rng.randrange(1, 3))
    conversion = g.rng.choice("ouxX" if value.type in UNSIGNED else "diouxX")
    flags = "".join(g.rng.sample("-+ 0#", g.rng.randrange(4)))
    form = f'%{flags}{g.rng.choice(["", g.rng.randrange(1, 25)])}{g.rng.choice(["", "", f".{g.rng.randrange(1, 22)}"])}'
    c = f"(long)({value.type})" if conversion in "di" else f"(unsigned long)(uint{8 * SIZES[value.type]}_t)"
    return f'printf("{form}{conversion}|\\n", {value.d});', f'printf("{form}l{conversion}|\\n", {c}({value.c}));'


def read_back(g):
    """Written to a base, and read."""
    value, base = g.any(g.rng.randrange(1, 3)), g.rng.randrange(2, 37)
    return f'printf("%d\\n", strtoll(lltostr(({value.d}) & 0xffffff, {base}), {base}));', f'printf("%ld\\n", (long)(({value.c}) & 0xffffff));'


def keyed(g):
    """Cut to the type of the key."""
    value, name = g.any(g.rng.randrange(1, DEEPEST)), g.rng.choice(list(SIZES))
    key = f"k_{list(SIZES).index(name)}"
    return (f'{key}[{value.d}] = ++self->other; printf("%d\\n", {key}[({name})({value.d})]);',
            f'printf("%ld\\n", (++other, other));')


OPERATORS = ("+", "-", "*", "^", "|", "&", "/", "%", "<<", ">>", "++", "--")


def assigned(g):
    """An assignment and the line that shows what it left, in D and in C."""
    depth = g.rng.randrange(1, DEEPEST)
    value, place = g.any(depth), g.rng.choice(g.places)
    op = g.rng.choice(["", "", *OPERATORS])
    if op in ("/", "%"):
        value = Expression(f"(({value.d}) & 1023) | 1", f"(({value.c}) & 1023) | 1", common(value.type, "int"))
    elif op in ("<<", ">>"):
        value = Expression(f"({value.d}) & 63", f"({value.c}) & 63", place.type)
    elif op in ("++", "--"):
        return counted(g, place, op)
    name = place.type if op in ("/", "%") else common(place.type, value.type)
    c = f"({word(name)})({place.c}) {op} ({word(name)})({value.c})" if op else value.c
    d = f"{place.d} {op}= {value.d};"
    return f"{d} {shown(place)[0]}", f"{place.c} = {c}; {shown(place)[1]}"


def worded(g):
    """A string is made, stored and printed."""
    value, name = text(g, 3), g.rng.choice(TEXTS)
    c = name.replace("self->", "")
    return (f'{name} = substr({value.d}, 0, {SHORT}); printf("<%s>\\n", {name});',
            f'{c} = d_part({value.c}, 0, {SHORT}); printf("<%s>\\n", {c});')


def split(g):
    """The tokens of a string; each call may have other separators."""
    whole, sets = text(g, 2), [literal(g) for _ in range(3)]
    d = f"this->token_0 = strtok({whole.d}, {sets[0].d}); this->token_1 = strtok(NULL, {sets[1].d}); this->token_2 = strtok(NULL, {sets[2].d}); "
    d += 'printf("<%s><%s><%s>\\n", ' + ", ".join(f'this->token_{i} == NULL ? "none" : this->token_{i}' for i in range(3)) + ");"
    c = f"const char *token_0 = d_token({whole.c}, {sets[0].c}), *token_1 = d_token(NULL, {sets[1].c}), *token_2 = d_token(NULL, {sets[2].c}); "
    return d, "{ " + c + 'printf("<%s><%s><%s>\\n", token_0, token_1, token_2); }'


def addressed(g):
    """An address of IPv6, its first four bytes as one of IPv4."""
    groups = [g.rng.choice((0, 0, 0, 1, 0xffff, g.rng.randrange(65536))) for _ in range(8)]
    first = g.rng.choice((0, 0, 3, 5, 6, 7))
    groups[:first] = [0] * first
    words = [int.from_bytes(b"".join(group.to_bytes(2, "big") for group in groups[i:i + 2]), "little") for i in range(0, 8, 2)]
    d = "this->q_address = (uint32_t *)alloca(16); " + "".join(f"this->q_address[{i}] = {word}u; " for i, word in enumerate(words))
    p, p6 = "(ipaddr_t *)this->q_address", "(in6_addr_t *)this->q_address"
    d += f'printf("%s %s %s %s %s\\n", inet_ntoa({p}), inet_ntop(2, {p}), inet_ntoa6({p6}), inet_ntoa6({p6}, 1), inet_ntop(10, {p6}));'
    ipv4 = ".".join(str(byte) for byte in words[0].to_bytes(4, "little"))
    short, full = address(groups)
    return d, f'puts("{ipv4} {ipv4} {short} {full} {full}");'


def asked(g):
    """An element of a JSON text."""
    quoted = [part.replace("\\", "\\\\").replace('"', '\\"') for part in json_question(g.rng)]
    call = f'json("{quoted[0]}", "{quoted[1]}")'
    return f'printf("<%s>\\n", {call} == NULL ? "none" : {call});', f'printf("<%s>\\n", "{quoted[2]}");'


def pointed(g):
    """Elements of memory of the clause, by a pointer."""
    name, indexes = g.rng.choice(list(SIZES)), g.rng.sample(range(8), 2)
    p, values = f"q_{list(SIZES).index(name)}", [g.any(g.rng.randrange(1, 3)) for _ in indexes]
    d = f"this->{p} = ({name} *)alloca({8 * SIZES[name]}); "
    d += "".join(f"*(this->{p} + {i}) = {v.d}; " for i, v in zip(indexes, values))
    c = f"{name} {p}[8]; " + "".join(f"{p}[{i}] = {v.c}; " for i, v in zip(indexes, values))
    first, last = indexes
    show, of = ("%u", "uint64_t") if name in UNSIGNED else ("%d", "int64_t")
    d += f'printf("{show} {show} %d\\n", ({of})this->{p}[{first}], ({of})this->{p}[{last}], &this->{p}[{first}] - &this->{p}[{last}]);'
    c += f'printf("{show.replace("%", "%l")} {show.replace("%", "%l")} {first - last}\\n", ({of}){p}[{first}], ({of}){p}[{last}]);'
    return d, "{ " + c + " }"


def copied(g):
    """A structure as a whole: from a variable, by a pointer, through an element of an array."""
    i = g.rng.randrange(len(SIZES))
    value, key = g.any(g.rng.randrange(1, 3)), g.rng.randrange(3)
    by = g.rng.choice(["variable", "pointer", "element"])
    steps = {"variable": f"s2 = s; s2.m_{i} = {value.d}; ",
             "pointer": f"this->r = (struct all *)alloca(sizeof (struct all)); *this->r = s; this->r->m_{i} = {value.d}; s2 = *this->r; ",
             "element": f"rows[{key}] = s; rows[{key}].m_{i} = {value.d}; s2 = rows[{key}]; "}
    d, c = steps[by], f"s2 = s; s2.m_{i} = {value.c}; "
    last = Expression(f"s2.m_{i}", f"s2.m_{i}", list(SIZES)[i])
    kept = Expression("s2.in.u.word", "s2.in.u.word", "long")
    d_first, c_first = shown(kept)
    d_last, c_last = shown(last)
    return d + d_first.replace("\\n", " ") + " " + d_last, c + c_first.replace("\\n", " ") + " " + c_last


# With the frequency of each.
STATEMENT_KINDS = {assigned: 6, printed: 2, passed: 1, tested: 1, formatted: 1, read_back: 1, keyed: 1, worded: 3, pointed: 1, copied: 1, split: 1,
                   addressed: 1, asked: 1, aggregations.aggregated: 3}


def statement(g):
    return g.rng.choices(list(STATEMENT_KINDS), STATEMENT_KINDS.values())[0](g)


def declarations():
    members = " ".join(f"{name} m_{i};" for i, name in enumerate(SIZES))
    fields = " ".join(f"{of} {name} : {bits};" for of, name, bits in BIT_FIELDS)
    variables = "\n".join(f"{name} v_{i};" for i, name in enumerate(SIZES))
    inner = "struct { char c; union { unsigned char bytes[8]; long word; int half; } u; } in;"
    enumerators = ", ".join(f"{name} = {value}" for name, value in ENUMERATORS.items())
    return f"enum named {{ {enumerators} }};\nstruct all {{ {members} {inner} }} s;\nstruct all s2;\nstruct fields {{ {fields} }} f;\nshort a[8];\n{variables}\n"


FILL = "".join(f"a[{i}] = {value};" for i, value in enumerate((0, 1, -1, 255, -32768, 32767, 77, -9)))

WORDS = "".join(f'{name} = "";' for name in TEXTS)  # a variable that is NULL is a fault where it is used


def programs(seed):
    g = Generator(random.Random(seed))
    statements = [statement(g) for _ in range(STATEMENTS)]
    own = "".join(f"SELF {name} t_{i};\n" for i, name in enumerate(SIZES)) + "SELF long other;\n"
    words = [f"SELF string {name[6:]};\n" if name.startswith("self->") else f"string {name};\n" for name in TEXTS]
    keys = "".join(f"long k_{i}[{name}];\n" for i, name in enumerate(SIZES))
    pointers = "".join(f"this {name} *q_{i};\n" for i, name in enumerate(SIZES)) + "this struct all *r;\nstruct all rows[int];\n"
    pointers += "this uint32_t *q_address;\n" + "".join(f"this string token_{i};\n" for i in range(3))
    d = declarations() + keys + (own + "".join(words)).replace("SELF", "self") + pointers + f"BEGIN {{ {FILL} {WORDS} }}\n"
    for i in range(0, STATEMENTS, A_CLAUSE):
        d += "BEGIN {\n" + "\n".join(one for one, _ in statements[i:i + A_CLAUSE]) + "\n}\n"
    d += "BEGIN { exit(0); }\nERROR { exit(1); }\n" + aggregations.end_of(d)
    c = "#define _GNU_SOURCE\n#include <ctype.h>\n#include <libgen.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + STRINGS + declarations() + aggregations.KEPT
    c += "".join(f'const char *{name.replace("self->", "")} = "";\n' for name in TEXTS) + own.replace("SELF ", "") + "int main(void) {\n" + FILL + "\n"
    c += "\n".join(one for _, one in statements) + "\n" + aggregations.SHOW_KEPT + "return 0;\n}\n"
    return statements, d, c


def run(seed):
    statements, d, c = programs(seed)
    with tempfile.TemporaryDirectory() as folder:
        script, source, program = (pathlib.Path(folder) / name for name in ("all.d", "all.c", "all"))
        script.write_text(d)
        source.write_text(c)
        subprocess.run([CC, "-fwrapv", "-w", "-o", program, source], check=True)
        wanted = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split("\n")
        engine = ("llvm", "interp")[seed % 2]
        ran = subprocess.run([DVM, "run", "-q", "-x", "bufsize=4m", "-x", "engine=" + engine, "-s", script], capture_output=True, text=True, timeout=120)
    got = ran.stdout.split("\n")
    for (line, _), want, found in zip(statements, wanted, got):
        if want != found:
            return f"seed {seed}: C has {want}, D has {found}:\n{line}"
    want, held = aggregations.wanted(wanted), aggregations.found(got)
    for place in want.keys() | held.keys():
        if want.get(place) != held.get(place):
            return f"seed {seed}: @{place[0]}[{place[1]}] should hold {want.get(place)}, and D has {held.get(place)}"
    return None if ran.returncode == 0 and len(got) > STATEMENTS else f"seed {seed}: {ran.stderr[:2000]}"


if __name__ == "__main__":
    run_seeds(run)
