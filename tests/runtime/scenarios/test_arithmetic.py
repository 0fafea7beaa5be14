"""Integer expressions are computed in 64 bits, and cut by their types when they are cast, stored or printed.

Random expressions over constants and variables of all integer types, bit-fields and all scopes, with all operators, assignments
and conversions, are compiled by dvm and, as operations on 64 bits, by the C compiler, and evaluated. Left out are shift counts
above 63 and divisions by 0."""

import random
import unittest

import ccompare

SEED = 19780222
STATEMENTS = 2400
A_CLAUSE = 60

TYPES = {"c": "char", "sc": "signed char", "uc": "unsigned char", "s": "short", "us": "unsigned short", "i": "int",
         "u": "unsigned int", "l": "long", "ul": "unsigned long", "ll": "long long", "ull": "unsigned long long", "b": "_Bool",
         "e": "enum sign", "i8": "int8_t", "u16": "uint16_t", "sz": "size_t"}
BITS = {"bi3": "int:3", "bu5": "unsigned:5", "bu31": "unsigned:31", "bi31": "int:31", "bu32": "unsigned:32", "bi32": "int:32",
        "bc3": "uint8_t:3", "bs9": "short:9", "bus16": "unsigned short:16", "bb": "_Bool:1", "bi1": "int:1", "bu1": "unsigned:1",
        "bl33": "long:33", "bul40": "unsigned long:40", "bl64": "long:64"}
CASTS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long", "_Bool", "int16_t",
         "uint64_t", "long long"]
BOUNDS = [0, 1, 2, 3, 5, 7, 8, 31, 63, 100, 127, 128, 200, 255, 256, 1000, 32767, 32768, 65535, 65536, 2147483647, 2147483648,
          4294967295, 4294967296, 9223372036854775807]
RECORD = ("struct rec { " + " ".join(f"{TYPES[t]} m{t};" for t in TYPES) + " "
          + " ".join(f"{base} {name} : {width};" for name, (base, width) in
                     {n: t.split(":") for n, t in BITS.items()}.items()) + " };\n")
SIZES = {"char": 1, "short": 2, "int": 4, "long": 8, "long long": 8}


class Type:
    """The size and sign of a type, and how C spells it."""

    def __init__(self, name):
        plain = name.replace("unsigned ", "").replace("signed ", "")
        self.name, self.is_bool, self.is_enum = name, name == "_Bool", name.startswith("enum")
        if plain.endswith("_t"):
            self.size, self.signed = (8 if plain == "size_t" else int(plain.strip("uint_t")) // 8), plain.startswith("int")
        else:
            self.size, self.signed = SIZES.get("int" if plain == "unsigned" or self.is_enum else plain, 1), "unsigned" not in name
        self.signed = self.signed and not self.is_bool

    def promoted(self):
        return INT if self.is_bool or self.is_enum else self

    def common(self, other):
        a, b = self.promoted(), other.promoted()
        return a if (a.size, not a.signed) >= (b.size, not b.signed) else b


INT = Type("int")


class Expression:
    """Its texts for C, where it is a long, and D, and its type in D."""

    def __init__(self, c, d, type):
        self.c, self.d, self.type = c, d, type

    def unsigned(self):
        return f"(unsigned long){self.c}"


def constant_type(value, decimal, suffix):
    is_unsigned, is_long = "u" in suffix.lower(), "l" in suffix.lower()
    if not is_long and value < 1 << 31 and not is_unsigned:
        return INT
    if not is_long and value < 1 << 32 and (not decimal or is_unsigned):
        return Type("unsigned int")
    return Type("unsigned long" if is_unsigned else "long")


def unary(op, a):
    return Expression(f"((long)({op}{a.c}))", f"({op}{a.d})", INT if op == "!" else a.type.promoted())


def binary(a, op, b, type=None):
    """type: of the operation; None: that of C."""
    type = type or (a.type.promoted() if op in ("<<", ">>") else a.type.common(b.type))
    sides = (a.c, b.c) if type.signed else (a.unsigned(), b.unsigned())
    c = f"((long)({sides[0]} {op} {sides[1]}))" if op not in ("&&", "||") else f"((long)({a.c} {op} {b.c}))"
    return Expression(c, f"({a.d} {op} {b.d})", INT if op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||") else type)


def number(value):
    return Expression(f"{value}L", str(value), INT)


class Variable:
    """A variable as C and as D spell it."""

    def __init__(self, c, d, type):
        self.c, self.d, self.type = c, d, Type(type)

    def read(self):
        return Expression(f"((long){self.c})", self.d, self.type)


def variables():
    found = []
    for t, name in TYPES.items():
        for c, d in ((f"g{t}", f"g{t}"), (f"s{t}", f"self->s{t}"), (f"t{t}", f"this->t{t}"), (f"r.m{t}", f"r.m{t}"),
                     (f"p->m{t}", f"this->p->m{t}"), (f"a{t}[3]", f'a{t}["x", 3]')):
            found.append(Variable(c, d, name))
    found += [Variable(f"r.{b}", f"r.{b}", base.split(":")[0]) for b, base in BITS.items()]
    return found + [Variable("v[2]", "v[2]", "int"), Variable("v[gi & 3]", "v[gi & 3]", "int"), Variable("h[1][2]", "h[1][2]", "short")]


class Generator:
    def __init__(self):
        self.rng = random.Random(SEED)
        self.variables = variables()

    def constant(self):
        if self.rng.random() < 0.05:
            text, type = self.rng.choice([("'a'", "int"), ("'\\n'", "int"), ("E_NEG", "enum sign"), ("E_TWO", "enum sign"),
                                          ("sizeof (int)", "size_t"), ("sizeof (struct rec)", "size_t")])
            return Expression(f"((long){text})", text, Type(type))
        value = self.rng.choice(BOUNDS)
        form = self.rng.choice(["{}", "{}", "{}", "0x{:x}", "0{:o}"])
        suffix = self.rng.choice(["", "", "", "u", "l", "ul", "ll", "ull", "U", "L"])
        return Expression(f"((long){value}UL)", form.format(value) + suffix, constant_type(value, form == "{}", suffix))

    def leaf(self, avoid):
        if self.rng.random() < 0.35:
            return self.constant()
        v = self.rng.choice(self.variables)
        return number(1) if v is avoid or (avoid and "gi" in v.c and avoid.c == "gi") else v.read()

    def expression(self, depth, avoid=None):
        if depth == 0 or self.rng.random() < 0.12:
            return self.leaf(avoid)
        a, b = self.expression(depth - 1, avoid), self.expression(depth - 1, avoid)
        kind = self.rng.random()
        if kind < 0.18:
            return unary(self.rng.choice(["-", "~", "!", "+", "-"]), a)
        if kind < 0.3:
            to = Type(self.rng.choice(CASTS))
            return Expression(f"((long)({to.name}){a.c})", f"(({to.name}){a.d})", to)
        if kind < 0.38:
            c = self.expression(depth - 1, avoid)
            a = binary(a, "+", Variable("gl", "gl", "long").read())  # of a constant, one branch would be left
            same = b.type.name == c.type.name
            return Expression(f"({a.c} ? {b.c} : {c.c})", f"({a.d} ? {b.d} : {c.d})", b.type if same else b.type.common(c.type))
        if kind < 0.4:
            return Expression(f"({a.c}, {b.c})", f"({a.d}, +{b.d})", b.type.promoted())
        if kind < 0.52:
            return binary(a, self.rng.choice(["<<", ">>"]), binary(b, "&", number(63)))
        if kind < 0.62:
            return binary(a, self.rng.choice(["/", "%"]), self.divisor(b))
        return binary(a, self.rng.choice(["+", "-", "*", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"]), b)

    @staticmethod
    def divisor(a):
        return binary(binary(a, "&", number(0x3f)), "+", number(1))

    def assignment(self):
        """The variable, and the texts for C and D."""
        v = self.rng.choice(self.variables)
        a = self.expression(2, v)
        op = self.rng.choice(["=", "=", "+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "++", "--"])
        if op in ("++", "--"):
            form = self.rng.choice(["{1}{0}", "{0}{1}"])
            return v, form.format(v.c, op), form.format(v.d, op)
        if op == "=":
            return v, f"{v.c} = {a.c}", f"{v.d} = {a.d}"
        if op in ("<<", ">>"):
            a = binary(a, "&", number(63))
        if op in ("/", "%"):
            a = self.divisor(a)
        type = v.type if op in ("/", "%") else None  # as DTrace does
        return v, f"{v.c} = {binary(v.read(), op, a, type).c}", f"{v.d} {op}= {a.d}"

    def statement(self):
        """The statements for C and D; each prints one line."""
        if self.rng.random() < 0.5:
            e = self.expression(self.rng.randint(1, 4))
            e = e if e.d.startswith("(") else unary("+", e)
            return (f'{{ long value = {e.c}; printf("%ld %ld %d\\n", value, (long)({e.type.name})value, {e.type.size}); }}',
                    f'printf("%d ", (long){e.d}); printf("%d ", (long)({e.type.name}){e.d}); printf("%d\\n", (int)sizeof ({e.d}));',
                    e.d)
        v, c, d = self.assignment()
        return (f'{{ long value = (long)({c}); printf("%ld %ld\\n", value, (long){v.c}); }}',
                f'printf("%d ", (long)({d})); printf("%d\\n", (long){v.d});', d)


def declarations():
    c = "enum sign { E_NEG = -1, E_TWO = 2 };\n" + RECORD
    d = c + "struct rec r; int v[4]; short h[2][3]; this struct rec *p;\n"
    c += "static struct rec r, object, *p = &object; static int v[4]; static short h[2][3];\n"
    for t, name in TYPES.items():
        c += f"static {name} g{t}, s{t}, t{t}, a{t}[4];\n"
        d += f"{name} g{t}, a{t}[string, int]; self {name} s{t}; this {name} t{t};\n"
    return c, d


class Arithmetic(unittest.TestCase):
    def test_values_are_those_of_64_bits(self):
        generator = Generator()
        statements = [generator.statement() for _ in range(STATEMENTS)]
        c, d = declarations()
        c = "#include <stdint.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\n" + c + "int main(void) {\n"
        for first in range(0, STATEMENTS, A_CLAUSE):
            part = statements[first:first + A_CLAUSE]
            clear = "".join(f"t{t} = 0; " for t in TYPES)
            c += "memset(p, 0, sizeof *p); " + clear + "\n" + "\n".join(x for x, _, _ in part) + "\n"
            clear = "".join(f"this->t{t} = 0; " for t in TYPES)
            zero = "this->zero.mi = 0; this->p = (struct rec *)alloca(sizeof (struct rec)); *this->p = this->zero;"
            d += "BEGIN { " + clear + zero + "\n" + "\n".join(y for _, y, _ in part) + "\n}\n"
        d = d.replace("this struct rec *p;", "this struct rec *p; this struct rec zero;", 1)
        ccompare.compare(self, ccompare.run_c(self, c + "}\n"), ccompare.run_d(self, d), [text for _, _, text in statements])


if __name__ == "__main__":
    unittest.main()
