"""Integer expressions have the values, sizes and signs that C gives them.

Random expressions over constants and variables of all integer types, bit-fields and all scopes, with all operators, assignments
and conversions, are compiled by the C compiler and by dvm and evaluated. Undefined behaviour is avoided: shift counts are masked,
divisors positive; signed overflow wraps in both. D and C differ on purpose in this, which is left out: an enumeration is always a
signed int in D; C computes with bit-fields wider than int in just as many bits."""

import random
import unittest

import ccompare

SEED = 19780222
STATEMENTS = 2400
A_CLAUSE = 60

TYPES = {"c": "char", "sc": "signed char", "uc": "unsigned char", "s": "short", "us": "unsigned short", "i": "int",
         "u": "unsigned int", "l": "long", "ul": "unsigned long", "ll": "long long", "ull": "unsigned long long", "b": "_Bool",
         "e": "enum sign", "i8": "int8_t", "u16": "uint16_t", "sz": "size_t"}
WIDE = {"l", "ul", "ll", "ull", "sz"}
BITS = {"bi3": "int:3", "bu5": "unsigned:5", "bu31": "unsigned:31", "bi31": "int:31", "bu32": "unsigned:32", "bi32": "int:32",
        "bc3": "uint8_t:3", "bs9": "short:9", "bus16": "unsigned short:16", "bb": "_Bool:1", "bi1": "int:1", "bu1": "unsigned:1"}
WIDE_BITS = {"bl33": ("long", 33), "bul40": ("unsigned long", 40), "bl64": ("long", 64)}
CASTS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool", "int16_t",
         "uint64_t", "long long"]
BOUNDS = [0, 1, 2, 3, 5, 7, 8, 31, 63, 100, 127, 128, 200, 255, 256, 1000, 32767, 32768, 65535, 65536, 2147483647, 2147483648,
          4294967295, 4294967296, 9223372036854775807]
RECORD = ("struct rec { " + " ".join(f"{TYPES[t]} m{t};" for t in TYPES) + " "
          + " ".join(f"{base} {name} : {width};" for name, (base, width) in
                     {**{n: t.split(":") for n, t in BITS.items()}, **WIDE_BITS}.items()) + " };\n")


class Variable:
    """A variable as C and as D spell it."""

    def __init__(self, c, d, wide_base=None):
        self.c, self.d, self.wide_base = c, d, wide_base


def variables():
    found = []
    for t in TYPES:
        found += [Variable(f"g{t}", f"g{t}"), Variable(f"s{t}", f"self->s{t}"), Variable(f"t{t}", f"this->t{t}"),
                  Variable(f"r.m{t}", f"r.m{t}"), Variable(f"(&r)->m{t}", f"this->p->m{t}"), Variable(f"a{t}[3]", f'a{t}["x", 3]')]
    found += [Variable(f"r.{b}", f"r.{b}") for b in BITS]
    found += [Variable(f"r.{b}", f"r.{b}", base) for b, (base, _) in WIDE_BITS.items()]
    found += [Variable("v[2]", "v[2]"), Variable("v[gi & 3]", "v[gi & 3]"), Variable("h[1][2]", "h[1][2]")]
    # What lies behind this->p is another object than r.
    return [Variable(x.c.replace("(&r)", "p"), x.d, x.wide_base) for x in found]


class Generator:
    def __init__(self):
        self.rng = random.Random(SEED)
        self.variables = variables()

    def constant(self):
        value = self.rng.choice(BOUNDS)
        form = self.rng.choice(["{}", "{}", "{}", "0x{:x}", "0{:o}"])
        if self.rng.random() < 0.05:
            return self.rng.choice(["'a'", "'\\n'", "E_NEG", "E_TWO", "sizeof (int)", "sizeof (struct rec)"])
        return form.format(value) + self.rng.choice(["", "", "", "u", "l", "ul", "ll", "ull", "U", "L"])

    def leaf(self, avoid):
        if self.rng.random() < 0.35:
            return (self.constant(),) * 2
        v = self.rng.choice(self.variables)
        if v is avoid or (avoid and ("gi" in v.c and avoid.c == "gi")):
            return ("1", "1")
        return (f"(({v.wide_base}){v.c})", f"(({v.wide_base}){v.d})") if v.wide_base else (v.c, v.d)

    def expression(self, depth, avoid=None):
        """The texts for C and D."""
        if depth == 0 or self.rng.random() < 0.12:
            return self.leaf(avoid)
        a, b = self.expression(depth - 1, avoid), self.expression(depth - 1, avoid)
        kind = self.rng.random()
        if kind < 0.18:
            op = self.rng.choice(["-", "~", "!", "+", "-"])
            return tuple(f"({op}{x})" for x in a)
        if kind < 0.3:
            to = self.rng.choice(CASTS)
            return tuple(f"(({to}){x})" for x in a)
        if kind < 0.38:
            c = self.expression(depth - 1, avoid)
            return tuple(f"({x} ? {y} : {z})" for x, y, z in zip(a, b, c))
        if kind < 0.4:
            return tuple(f"({x}, +{y})" for x, y in zip(a, b))  # gcc's size of (x, bit-field) is odd
        if kind < 0.52:
            return self.shift(a, b)
        if kind < 0.62:
            op = self.rng.choice(["/", "%"])
            return tuple(f"({x} {op} (({y} & 0x3f) + 1))" for x, y in zip(a, b))
        op = self.rng.choice(["+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"])
        return tuple(f"({x} {op} {y})" for x, y in zip(a, b))

    def shift(self, a, b):
        op = self.rng.choice(["<<", ">>"])
        if self.rng.random() < 0.4:
            return tuple(f"((long){x} {op} ({y} & 63))" for x, y in zip(a, b))
        return tuple(f"({x} {op} ({y} & 31))" for x, y in zip(a, b))

    def assignment(self):
        v = self.rng.choice(self.variables)
        a = self.expression(2, v)
        ops = ["=", "=", "+=", "-=", "*=", "&=", "|=", "^="]
        if not v.wide_base:
            ops += ["<<=", ">>=", "/=", "%="]
        op = self.rng.choice(ops + ["++", "--"])
        if op in ("++", "--"):
            form = self.rng.choice(["{1}{0}", "{0}{1}"])
            return v, (form.format(v.c, op), form.format(v.d, op))
        if op in ("<<=", ">>="):
            a = tuple(f"({x} & 31)" for x in a)
        if op in ("/=", "%="):
            a = tuple(f"(({x} & 0x3f) + 1)" for x in a)
        return v, (f"{v.c} {op} {a[0]}", f"{v.d} {op} {a[1]}")

    def statement(self):
        """The statements for C and D; each prints one line."""
        roll = self.rng.random()
        if roll < 0.5:
            c, d = (x if x.startswith("(") else "+" + x for x in self.expression(self.rng.randint(1, 4)))
            return [f'{{ printf("%ld %d\\n", (long){x}, (int)sizeof ({x})); }}' if lang == 0 else
                    f'printf("%d %d\\n", (long){x}, (int)sizeof ({x}));' for lang, x in enumerate((c, d))], d
        v, (c, d) = self.assignment()
        return [f'{{ long value = (long)({c}); printf("%ld %ld\\n", value, (long){v.c}); }}',
                f'printf("%d ", (long)({d})); printf("%d\\n", (long){v.d});'], d


def declarations():
    c = "enum sign { E_NEG = -1, E_TWO = 2 };\n" + RECORD
    d = c + "struct rec r; int v[4]; short h[2][3]; this struct rec *p;\n"
    c += "static struct rec r, object, *p = &object; static int v[4]; static short h[2][3];\n"
    for t, name in TYPES.items():
        c += f"static {name} g{t}, s{t}, t{t}, a{t}[4];\n"
        d += f"{name} g{t}, a{t}[string, int]; self {name} s{t}; this {name} t{t};\n"
    return c, d


class Arithmetic(unittest.TestCase):
    def test_values_are_as_in_c(self):
        generator = Generator()
        statements = [generator.statement() for _ in range(STATEMENTS)]
        c, d = declarations()
        c = "#include <stdint.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n" + c + "int main(void) {\n"
        for first in range(0, STATEMENTS, A_CLAUSE):
            part = [s for s, _ in statements[first:first + A_CLAUSE]]
            clear = "".join(f"t{t} = 0; " for t in TYPES)
            c += "memset(p, 0, sizeof *p); " + clear + "\n" + "\n".join(x for x, _ in part) + "\n"
            clear = "".join(f"this->t{t} = 0; " for t in TYPES)
            zero = "this->zero.mi = 0; this->p = (struct rec *)alloca(sizeof (struct rec)); *this->p = this->zero;"
            d += "BEGIN { " + clear + zero + "\n" + "\n".join(y for _, y in part) + "\n}\n"
        d = d.replace("this struct rec *p;", "this struct rec *p; this struct rec zero;", 1)
        ccompare.compare(self, ccompare.run_c(self, c + "}\n"), ccompare.run_d(self, d), [text for _, text in statements])


if __name__ == "__main__":
    unittest.main()
