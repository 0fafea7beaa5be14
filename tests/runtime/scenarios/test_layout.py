"""Structures, unions, bit-fields, arrays and enumerations lie in memory as the C compiler lays them out.

Random declarations, the same text for both, are compiled as C and as D. Both programs print sizes, offsets, and the bytes that
setting each bit-field leaves behind."""

import random
import unittest

import ccompare
import dvmtest

SEED = 20061121
RECORDS = 100 if dvmtest.SANITIZED else 350
IMAGE = 48  # larger structures show no bytes

INTEGERS = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long", "unsigned long",
            "long long", "unsigned long long", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t",
            "uint64_t", "size_t", "ssize_t", "intptr_t", "uintptr_t", "ptrdiff_t", "_Bool", "pid_t", "short int",
            "long unsigned int", "int long long", "const volatile int"]
BITS = {"char": 8, "signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32, "long": 64,
        "unsigned long": 64, "uint8_t": 8, "uint16_t": 16, "uint32_t": 32, "uint64_t": 64, "int64_t": 64, "_Bool": 1, "enum e0": 32}
OTHERS = ["float", "double", "long double", "enum e0", "enum e1", "enum_t", "fn_t"]
DECLARATORS = ["*{}", "**{}", "*const {}", "(*{})(int, char *)", "*(*{})(void)", "(*{})[3]", "*{}[2]", "(*{}[2])(long)", "{}[3]",
               "{}[2][3]", "{}[1][2][2]", "{}[sizeof (long) + 1]", "{}[E0_B]"]
ATTRIBUTES = [" __attribute__((packed))", " __attribute__ ((__packed__, aligned (2)))", " __attribute__((aligned(8)))", " __attribute__((aligned (sizeof (long) * 4)))",
              " __attribute__((unused))"]
PROLOGUE = """enum e0 { E0_A = -1, E0_B = 5, E0_C, E0_D = E0_B * 2 + 1 };
enum e1 { E1_A, E1_B = 0x7fffffff, E1_C = -(1 << 30) };
typedef enum e1 enum_t;
typedef int (*fn_t)(void *, unsigned long, ...);
struct later;
typedef struct later later_t;
"""


class Record:
    """A structure or union: its text, members whose offset is asked for, and its bit-fields."""

    def __init__(self, rng, name, known):
        self.name, self.rng, self.known = name, rng, known
        self.members, self.bits, self.count = [], [], 0
        self.keyword = rng.choice(["struct", "struct", "struct", "union"])
        self.type = f"{self.keyword} {name}"
        attribute = rng.choice(ATTRIBUTES) if rng.random() < 0.3 else ""
        self.widest = 57 if "packed" in attribute else 64  # no packed bit-field may lie in nine bytes
        body = self.body(rng.randint(1, 7), 0)
        if self.keyword == "struct" and rng.random() < 0.1:
            body += f" {rng.choice(INTEGERS)} flexible[{rng.choice(['', '0'])}];"
            self.members.append("flexible")
        self.text = f"{self.type} {{ {body} }}{attribute};"

    def fresh(self):
        self.count += 1
        return f"m{self.count}"

    def body(self, count, depth):
        return " ".join([self.plain()] + [self.member(depth) for _ in range(count - 1)])

    def member(self, depth):
        roll = self.rng.random()
        if roll < 0.35:
            return self.bitfield()
        if roll < 0.45 and depth < 2:
            return f"{self.rng.choice(['struct', 'union'])} {{ {self.body(self.rng.randint(1, 3), depth + 1)} }};"
        if roll < 0.5:
            return f"struct later *{self.named()}; later_t **{self.named()};"
        if roll < 0.65 and self.known:
            return f"{self.rng.choice(self.known)} {self.named()};"
        return self.plain()

    def named(self):
        self.members.append(self.fresh())
        return self.members[-1]

    def plain(self):
        base = self.rng.choice(INTEGERS if self.rng.random() < 0.8 else OTHERS)
        form = self.rng.choice(DECLARATORS) if self.rng.random() < 0.3 else "{}"
        return f"{base} {form.format(self.named())};"

    def bitfield(self):
        base = self.rng.choice(list(BITS))
        if self.rng.random() < 0.15:
            return f"{base} : {self.rng.choice([0, self.rng.randint(1, min(BITS[base], self.widest))])};"
        most = min(BITS[base], self.widest)
        width = self.rng.choice([1, most, self.rng.randint(1, most)])
        self.bits.append(self.fresh())
        return f"{base} {self.bits[-1]} : {width};"


# D evaluates an allocation in a clause of its own; C in a block.
def d_clause(r):
    p = f"this->p_{r.name}"
    lines = [f'printf("{r.name} %d", (int)sizeof ({r.type}));']
    lines += [f'printf(" %d", (int)offsetof({r.type}, {m}));' for m in r.members]
    if r.size <= IMAGE and r.bits:
        zero = "".join(f"((uint8_t *){p})[{i}] = 0; " for i in range(r.size))
        image = 'printf(" ' + "%02x" * r.size + '", ' + ", ".join(f"((uint8_t *){p})[{i}]" for i in range(r.size)) + ");"
        lines.append(f"{p} = ({r.type} *)alloca({r.size}); {zero}")
        for b in r.bits:
            lines.append(f'{p}->{b} = -1; {image} printf(" %d", (int){p}->{b}); {p}->{b} = 0;')
    return "BEGIN { " + "\n".join(lines) + ' printf("\\n"); }\n'


def c_block(r):
    lines = [f'printf("{r.name} %d", (int)sizeof ({r.type}));']
    lines += [f'printf(" %d", (int)offsetof({r.type}, {m}));' for m in r.members]
    lines.append(f"if (sizeof ({r.type}) <= {IMAGE}) {{ static {r.type} v;")
    for b in r.bits:
        lines.append(f'v.{b} = -1; image(&v, sizeof v); printf(" %d", (int)v.{b}); v.{b} = 0;')
    return "{ " + "\n".join(lines) + ' } printf("\\n"); }\n'


C_PROLOGUE = """#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
static void image(const void *p, size_t size) {
  printf(" ");
  for (size_t i = 0; i < size; i++) printf("%02x", ((const unsigned char *)p)[i]);
}
"""


class Layout(unittest.TestCase):
    def test_records_lie_as_in_c(self):
        rng = random.Random(SEED)
        records, known = [], ["struct s0"]
        for i in range(1, RECORDS + 1):
            records.append(Record(rng, f"s{i}", known[-8:]))
            known.append(records[-1].type)
        declarations = PROLOGUE + "struct s0 { char c; };\n" + "\n".join(r.text for r in records) + "\n"
        c = ccompare.run_c(self, C_PROLOGUE + declarations + "int main(void) {\n" + "".join(map(c_block, records)) + "}\n")
        for record, line in zip(records, c):
            record.size = int(line.split()[1])
        d = ccompare.run_d(self, declarations + "".join(map(d_clause, records)))
        ccompare.compare(self, c, d, [r.text for r in records])


if __name__ == "__main__":
    unittest.main()
