"""Aggregations for expression_fuzz.py: FUNCTIONS is the table of aggregating functions.

The C program computes the keys and values and prints them at its end; the models here say what the aggregations then hold. D prints them
in END. Histograms are compared as the rows that are not zero.
"""

import collections
import math
import re
from typing import Callable, NamedTuple

MARK = "= "  # begins a line about an aggregation
KEPT = "static struct { const char *name; long key; long value; } kept[512];\nstatic int kept_count;\n" \
       "static void keep(const char *name, long key, long value) { kept[kept_count].name = name; kept[kept_count].key = key; " \
       "kept[kept_count++].value = value; }\n"
SHOW_KEPT = f'for (int i = 0; i < kept_count; i++) printf("{MARK}%s %ld %ld\\n", kept[i].name, kept[i].key, kept[i].value);\n'
ROW = re.compile(r"^ *((?:< |>= )?-?\d+) \|[@ -]* +(-?\d+) *$")


def cut(value):
    """As 64 bits with a sign."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def divided(value, by):
    """As C divides."""
    return abs(value) // by * (1 if value >= 0 else -1)


def average(values):
    return divided(cut(sum(values)), len(values))


def deviation(values):
    return math.isqrt(sum(value * value for value in values) // len(values) - average(values) ** 2)


def histogram(bucket):
    def rows(values):
        return tuple(sorted((label, str(count)) for label, count in collections.Counter(map(bucket, values)).items()))
    return rows


def power(value):
    size = 1 << abs(value).bit_length() >> 1
    return str(size if value >= 0 else -size)


def linear(low, high, step):
    last = low + (high - low) // step * step
    return lambda value: f"< {low}" if value < low else f">= {last}" if value >= last else str(low + (value - low) // step * step)


def log_linear(factor, high, steps):
    def bucket(value):
        if value <= 0:
            return "0" if value == 0 else "-" + bucket(-value)
        if value >= factor ** (high + 1):
            return f">= {factor ** (high + 1)}"
        magnitude = max(m for m in range(high + 1) if factor ** m <= value)
        step = max(1, factor ** (magnitude + 1) // steps)
        return str(value // step * step)
    return bucket


class Function(NamedTuple):
    d: str                 # with {} for the value
    model: Callable        # of the values: a number, or the rows
    limit: str = "{}"      # of the value, in D and in C


FUNCTIONS = {
    "count": Function("count()", len),
    "sum": Function("sum({})", lambda values: cut(sum(values))),
    "min": Function("min({})", min),
    "max": Function("max({})", max),
    "avg": Function("avg({})", average),
    "stddev": Function("stddev({})", deviation, "((({}) & 0xffffff) - 5000000)"),
    "quantize": Function("quantize({})", histogram(power)),
    "lquantize": Function("lquantize({}, -50, 50, 10)", histogram(linear(-50, 50, 10)), "((({}) & 127) - 64)"),
    "uneven": Function("lquantize({}, -50, 50, 7)", histogram(linear(-50, 50, 7))),
    "llquantize": Function("llquantize({}, 10, 0, 6, 20)", histogram(log_linear(10, 6, 20)), "((({}) & 0xffffff) - 8000000)"),
    "binary": Function("llquantize({}, 2, 0, 20, 4)", histogram(log_linear(2, 20, 4)), "((({}) & 0x1fffff) - 1000000)"),
}


def aggregated(g):
    """A value under a key; both lines of output say only that."""
    name = g.rng.choice(list(FUNCTIONS))
    value, key = g.any(g.rng.randrange(1, 4)), g.any(1)
    d, limit = FUNCTIONS[name].d, FUNCTIONS[name].limit
    return (f'@{name}[(int)(({key.d}) & 3)] = {d.format(limit.format(value.d))}; printf("{name}\\n");',
            f'keep("{name}", ({key.c}) & 3, {limit.format(value.c)}); puts("{name}");')


def end_of(program):
    """The clause END of a D program: it prints the aggregations that the program has."""
    return "END {\n" + "".join(f'printa("{MARK}{name} %d %@d\\n", @{name});\n' for name in FUNCTIONS if f"@{name}[" in program) + "}\n"


def wanted(lines):
    """What the aggregations hold, by name and key, from the lines of the C program."""
    values = collections.defaultdict(list)
    for line in lines:
        if line.startswith(MARK):
            name, key, value = line.removeprefix(MARK).split()
            values[name, key].append(int(value))
    return {place: FUNCTIONS[place[0]].model(of) for place, of in values.items()}


def found(lines):
    """The same from the lines of the D program."""
    held, place = {}, None
    for line in lines:
        if line.startswith(MARK):
            name, key, *value = line.removeprefix(MARK).split()
            place = name, key
            held[place] = int(value[0]) if value else ()
        elif place and (row := ROW.match(line)) and row[2] != "0":
            held[place] = tuple(sorted((*held[place], (row[1], row[2]))))
    return held
