#!/usr/bin/env python3
"""Random scripts on a live program: an agent and uprobes must give the same results.

usage: backend_fuzz.py [SECONDS [SEED]]     with DVM=path of dvm, DVM_PROGRAMS=folder of the traced programs, as root;
                                            without SECONDS, one script of a fixed seed

PROBES is the table of what the clauses trace: probes of tests/programs/varied.c, with what a clause may use there. STATEMENTS is the
table of what clauses do. A script traces the program with each backend. What is printed must be equal, or equal but for the order of
lines where several threads fire.
"""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

from seeds import run_seeds

DVM = os.environ.get("DVM", "build/release/cmd/dvm")
PROGRAMS = os.environ.get("DVM_PROGRAMS", "build/release/tests/programs")
NO_ROOT = 77  # exit status: skipped
ENV = {**{name: value for name, value in os.environ.items() if not name.startswith("DTRACE_OPT_")}, "TZ": "UTC", "LC_ALL": "C"}


class Probes(NamedTuple):
    description: str
    integers: tuple = ()
    strings: tuple = ()


PROBES = [
    Probes("pid$target:PROGRAM:number:entry", ("arg0", "arg1", "arg2", "args[1]", "(int)arg1", "(unsigned short)arg2")),
    Probes("pid$target:PROGRAM:number:return", ("arg1", "args[1]")),
    Probes("pid$target:PROGRAM:text:entry", ("arg1", "(arg0 > 4096)"), ("copyinstr(arg0)", "stringof(args[0])", "copyinstr(arg0, 5)")),
    Probes("pid$target:PROGRAM:text:return", ("arg1", "(int)arg1")),
    Probes("pid$target:PROGRAM:look:entry", ("args[0]->first", "args[0]->second", "*(long *)copyin(arg0, 8)"), ("args[0]->name", )),
    Probes("pid$target:PROGRAM:nest:entry", ("arg0", )),
    Probes("pid$target:PROGRAM:nest:return", ("arg1", )),
    Probes("pid$target:PROGRAM:ways:entry", ("arg0", )),
    Probes("pid$target:PROGRAM:ways:return", ("arg1", "(char)arg1")),
    Probes("pid$target:PROGRAM:handle:entry", ("arg0", "(int)arg0")),
    Probes("pid$target:PROGRAM:handle:return"),
    Probes("varied$target:::passed", ("arg0", ), ("copyinstr(arg1)", )),
    Probes("pid$target:PROGRAM:n*:entry", ("(arg0 & 0xff)", )),
    Probes("pid$target:PROGRAM:number:entry, pid$target:PROGRAM:ways:entry, pid$target:PROGRAM:nest:return"),
    Probes("pid$target:PROGRAM:number:4", ("(int)arg0", "arg2 & 0xffff")),  # where the unoptimised program has kept the frame pointer
    Probes("pid$target:PROGRAM:ways:"),  # each instruction
    Probes("pid$target:PROGRAM:look:entry, pid$target:PROGRAM:look:1, pid$target:PROGRAM:look:return"),
    Probes("pid$target:liblate_library*:late_function:entry", ("arg0", )),
]


class Script:
    """A random script, as far as it has been written."""

    def __init__(self, rng, is_alone, is_storm, may_tick):
        self.rng, self.is_storm = rng, is_storm
        self.variables = GLOBALS + OF_CLAUSES + OF_THREADS * (not is_storm)
        kind = rng.choices([PLAIN, RECORDED, STATEMENTS + ALONE * is_alone], [3, 3, 4])[0]
        self.statements = [one for one in kind if (not is_storm or one not in OF_PLACES) and (is_alone or one not in OF_ORDER) and (may_tick or one is not count_phase)]
        self.aggregations = 0
        self.later = []  # clauses that some statements need
        self.clauses = [self.clause(rng.choice(PROBES)) for _ in range(rng.randrange(1, 7))]

    def text(self, may_exit, may_tick):
        clauses = self.clauses + self.later
        if self.rng.random() < 0.5:
            clauses.append("ERROR { @errors[arg2, arg3, arg4, arg5] = count(); }\n")
        if may_exit and self.rng.random() < 0.3:
            clauses.insert(self.rng.randrange(len(clauses) + 1), self.exit())
        if may_tick and self.rng.random() < 0.3:
            clauses.append(self.rng.choice(WATCHES))
        elif may_tick and not may_exit and self.rng.random() < 0.3:
            clauses.append("pid$target:PROGRAM:number:entry, pid$target:PROGRAM:nest:return { @ticked = count(); }\n"
                           "tick-2ms { normalize(@ticked, 1); printa(\"\\nticked %@d\\n\", @ticked); clear(@ticked); }\n")
        text = begin(self.rng, may_tick) + "".join(clauses) + self.end()
        return text + "".join(f'END {{ printa("\\nticked %@d\\n", {name}); }}\n' for name in ("@ticked", "@ticked_phase") if name + " =" in text or name + "[" in text)

    def exit(self):
        probe, many = f"pid$target:PROGRAM:{self.rng.choice(['number:entry', 'nest:entry'])}", self.rng.randrange(1, 90)
        calls = self.rng.choice(["++calls", "++self->calls", "self->calls++", "arg0"])
        end = self.rng.choice([f"{probe} /{calls} == {many}/ {{ exit(3); }}\n", f"{probe} /calls < {many}/ {{ calls++; }}\n{probe} /calls >= {many}/ {{ exit(3); }}\n",
                               f"{probe} /calls >= {many}/ {{ calls++; exit(3); }}\n{probe} {{ calls++; }}\n", f"{probe} {{ self->calls++; }}\n{probe} /self->calls > {many}/ {{ self->calls = 0; exit(3); }}\n"])
        return end if self.rng.random() < 0.7 else end.replace("exit(3);", f"{self.aggregation()} = count(); exit({self.integer()});", 1)

    def end(self):
        """What is left, in many forms."""
        body = 'printf("%d %d %d %d %d %d %d %d %d\\n", n, m, narrow, g[0], g[1], g[2], g[3], calls, wrong); '
        for number in range(1, self.aggregations + 1):
            body += self.rng.choice(["", "", f"normalize(@a{number}, {self.rng.randrange(1, 9)});", f"trunc(@a{number}, {self.rng.randrange(-3, 4)});",
                                     f"printa(@a{number});", f"clear(@a{number});", f"normalize(@a{number}, 3); denormalize(@a{number});"])
        return f"END {{ {body} }}\n"

    def some(self, make, least, most):
        return [make() for _ in range(self.rng.randrange(least, most + 1))]

    def clause(self, probes):
        self.at = probes
        predicate = f" /({self.integer(2)})/" if self.rng.random() < 0.4 else ""
        self.has_predicate = predicate != ""
        body = "".join(f"  {statement};\n" for statement in self.some(self.statement, 1, 4))
        return f"{probes.description}{predicate}\n{{\n{body}}}\n"

    def statement(self):
        return self.rng.choice(self.statements)(self)

    def integer(self, depth=1):
        if depth == 0 or self.rng.random() < 0.3:
            return self.rng.choice([*self.at.integers, *self.at.integers, *self.variables, str(self.rng.choice([0, 1, 3, 7, 64, 1000, 2147483647]))])
        one, other = self.integer(depth - 1), self.integer(depth - 1)
        op = self.rng.choice(["+", "-", "*", "&", "|", "^", "<", ">", "==", "!=", "&&", "||", "/", "%", "<<", ">>", "?", "cast"])
        if op in ("/", "%"):
            return f"({one} {op} {self.rng.choice(['3', '-7', '10', '1000', f'({other} | 1)', f'({other} | 16)', other])})"
        if op in ("<<", ">>"):
            return f"({one} {op} {self.rng.randrange(40)})"
        if op == "?":
            return f"({one} ? {other} : {self.integer(0)})"
        if op == "cast":
            return f"({self.rng.choice(['char', 'unsigned char', 'short', 'int', 'unsigned int', 'uint64_t'])}){one}"
        return f"({one} {op} {other})"

    def string(self):
        return self.rng.choice([*self.at.strings, *self.at.strings, "probefunc", "probename", "probemod", "execname", '"words"',
                                *["self->s"] * (not self.is_storm)])

    def key(self):
        kind = self.rng.random()
        if kind < 0.5:
            return f"{self.integer()} & {self.rng.choice([1, 7, 0xffff])}"
        stacks = ["ustack()", "ustack(1)", "ustack(2)", "ustack(4)", "ufunc(ucaller)"]
        return self.string() if kind < 0.85 else "ufunc(ucaller)" if self.is_storm else self.rng.choice(stacks)

    def aggregation(self):
        """Each has one function and kinds of keys, so each is used once."""
        self.aggregations += 1
        keys = ", ".join(self.some(self.key, 0, 3))
        return f"@a{self.aggregations}" + (f"[{keys}]" if keys else "")


def aggregate(script):
    of = script.integer(2)
    function = script.rng.choice(["count()", f"sum({of})", f"min({of})", f"max({of})", f"avg({of})", f"stddev({of} & 0xffff)", f"quantize({of})",
                                  f"lquantize({of}, -10, 90, 7)", f"llquantize({of}, 10, 0, 4, 20)", f"quantize({of}, {script.integer(0)})"])
    return f"{script.aggregation()} = {function}"


def assign(script):
    name = script.rng.choice(["self->a", "self->b"] * (not script.is_storm) + ["this->x", "this->y"])
    return f"{name} {script.rng.choice(['=', '=', '+=', '^='])} {script.integer(2)}"


def count_up(script):
    return script.rng.choice(["self->a++"] * (not script.is_storm) + ["this->x--", "n++", f"n += {script.integer()}", "n--"])


def change_global(script):
    """Once in a firing, so threads may do it. Then the order of firings matters."""
    change = script.rng.choice([f"m = {script.integer()}", f"m = m * 5 + {script.integer()}", f"m = m > {script.integer()} ? 0 : m + 1", "@ = sum(m)",
                                "@ = quantize(m++)", "narrow ^= 0x55", "@ = count()", f"narrow = narrow * 3 + {script.integer()}"])
    return change.replace("@", script.aggregation()) if change.startswith("@") else change


def limit_global(script):
    """A clause whose predicate and change are one step. Then clauses find what that has left."""
    condition = script.rng.choice([f"m < {script.rng.randrange(90)}", "!m", f"m < 40 && ({script.integer(2)})", "m++ < 30", "(m & 3) != 3"])
    change = "" if "++" in condition else script.rng.choice(["m++; ", f"m = {script.integer()}; ", f"m = m * 3 + {script.integer()}; ", f"m = {script.integer()} & 1 ? m + 1 : m; "])
    more = ["", "@ = count(); ", "@ = sum(m); ", f"this->x = m + {script.integer()}; ", 'printf("m %d|\\n", m); ', "self->b = m; ", f"n += {script.integer()}; "]
    before, after = (script.rng.choice(more) for _ in range(2))
    clauses = f"{script.at.description} /{condition}/ {{ {before}{change}{after}}}\n" + script.rng.choice(["", f"{script.at.description} /m > 20/ {{ @ = max(m); }}\n"])
    while "@ " in clauses:
        clauses = clauses.replace("@ ", script.aggregation() + " ", 1)
    script.later.append(clauses)
    return "@ = count()".replace("@", script.aggregation())


def keep_text(script):
    return f"self->s = {script.rng.choice([script.string(), script.string(), 'NULL', '0'])}"


def keep_address(script):
    """A string is read at the return of its function, by an address that the entry has kept. If the entry kept none, uprobes would read it late."""
    if script.at.description != "pid$target:PROGRAM:text:entry" or script.has_predicate:
        return keep_text(script)
    use = script.rng.choice(['trace(copyinstr(self->q)); printf("|\\n")', 'printf("%s|\\n", stringof((char *)self->q))', 'printf("%s %d|\\n", copyinstr(self->q, 4), self->a)',
                             "@kept[copyinstr(self->q)] = count()", "this->x = *(char *)(self->q + 1)", 'this->q = self->q; printf("%s|\\n", copyinstr(this->q + 1))',
                             'self->s = copyinstr(self->q); printf("%s|\\n", self->s)', 'this->s = copyinstr(self->q); printf("%s %s|\\n", this->s, self->s)'])
    end = script.rng.choice(["; self->q = 0", "", "; self->a++; self->q = 0", "; self->s = 0; self->q = 0"])
    script.later.append(f"pid$target:PROGRAM:text:return {script.rng.choice(['/self->q/', '/self->q/', ''])} {{ {use}{end}; }}\n")
    return f"self->q = {script.rng.choice(['arg0', 'arg0', '(uint64_t)args[0]', 'arg1'])}"


def print_text(script):
    """From a record of the clause, if nothing else in the script keeps it in dvm. Then the thread changes what the record has."""
    line = script.rng.choice([f'printf("%s %d|\\n", self->s, {script.integer()})', f'trace(self->s); printf(" %s|\\n", {script.string()})', 'printf("%s %s|\\n", self->s, self->r)',
                              '@ = count(); trace(self->r); printf("|\\n")'])
    before, behind = (script.rng.choice(["", "", "self->r = self->s; ", "self->s = 0; ", "self->a++; ", f"self->r = {script.string()}; "]) for _ in range(2))
    condition = script.rng.choice(["", "/self->s != NULL/ ", "/self->r == NULL/ ", f"/({script.integer()})/ "])
    if line.startswith("@"):
        line = line.replace("@", script.aggregation(), 1)
    script.later.append(f"{script.at.description} {condition}{{ {before}{line}; {behind}}}\n")
    return f"self->{script.rng.choice('sr')} = {script.rng.choice([script.string(), script.string(), 'self->s', 'NULL'])}"


def note_time(script):
    return script.rng.choice(["self->t = timestamp", "@late = count()", "@r = max(self->t ? (int64_t)(timestamp - self->t) >= 0 : 1)"])


def print_values(script):
    return f'printf("%d %s %x %5d|\\n", {script.integer()}, {script.string()}, {script.integer(0)}, {script.integer(2)})'


def trace_value(script):
    """With the end of the line, since clauses of other threads print other lines."""
    return f'trace({script.string() if script.rng.random() < 0.3 else script.integer(2)}); printf("|\\n")'


def record_stack(script):
    return script.rng.choice(["ustack()", "ustack(1)", "ustack(3)", 'usym(ucaller); printf("|\\n")', 'umod(ucaller); printf("|\\n")'])


def fault(script):
    if script.rng.random() < 0.25:
        return f"{script.aggregation()} = sum(*(int *)(uint64_t)({script.integer()} & 7))"
    return script.rng.choice([f'trace({script.integer()} / ({script.integer()} & 1)); printf("|\\n")', "trace(copyinstr(8))", f"this->y = {script.integer(0)} % (n & 0)"])


def element(script):
    return f"g[{script.integer()} & 3] += {script.integer()}"


def speculate_values(script):
    """Statements of a clause of its own, since speculate() concerns all records of one."""
    script.later.append(f"{script.at.description} /self->p/ {{ speculate(self->p); {trace_value(script)}; }}\n"
                        f"{script.at.description} /self->p && ({script.integer(2)}) & 1/ {{ commit(self->p); self->p = 0; }}\n"
                        f"{script.at.description} /self->p/ {{ discard(self->p); self->p = 0; }}\n")
    return "self->p = self->p ? self->p : speculation()"


def count_phase(script):
    """By a value that a timer changes: its sum over both is the same, whenever that is."""
    return "@ticked_phase[phase] = count()"


def begin(rng, may_tick):
    """Globals that BEGIN and timers write. A firing sees the same values whenever a timer fires."""
    values = [rng.choice([0, 1, -1, 5, 127, -128, 40000, 2147483647, -2147483648]) for _ in range(3)]
    assignments = "".join(f"{name} = {value}; " for name, value in zip("cwl", values))
    timers = [f"tick-{rng.randrange(1, 4)}ms {{ {assignments}phase = !phase; }}\n", "tick-1ms { phase++; l = l; }\n", "tick-2ms { phase ^= 1; }\n", ""]
    return f"BEGIN {{ {assignments}}}\n" + rng.choice(timers) * may_tick


GLOBALS = ["c", "w", "l", "(l + c)"]
OF_CLAUSES = ["this->x", "this->y", "(pid == $target)"]
OF_THREADS = ["self->a", "self->b", "(tid == pid)", "(self->t != 0)", "(self->s != NULL)"]  # in a signal handler, they are by chance those of a firing that it has interrupted
DECLARATIONS = "self int a; self long b; this short x; this uint64_t y; self string s; self string r; self uint64_t t; self int p; self uint64_t q; self int calls; uint64_t n; uint64_t g[int]; int calls; " \
               "int m; char narrow; char c; int w; long l; int phase; int wrong; this uint64_t q; this string s;\n"
STATEMENTS = [aggregate, aggregate, aggregate, aggregate, aggregate, assign, assign, count_up, note_time, print_values, trace_value, record_stack, fault,
              element, count_phase, keep_text, keep_address, change_global, limit_global]
RECORDED = [aggregate, aggregate, assign, count_up, keep_text, keep_address, keep_address, print_text, print_text, print_text, print_values, change_global, limit_global]
PLAIN = [aggregate, aggregate, aggregate, assign, count_up, count_phase, note_time, keep_text, keep_address, change_global, limit_global]
OF_ORDER = [change_global, limit_global]  # of firings: what they change depends on it
# Of timers: what clauses change under conditions never leaves these limits, whenever they look.
WATCHES = ["tick-1ms /calls < 0/ { wrong = 1; }\n", "tick-1ms /calls > 2000000/ { wrong = 2; }\n", "tick-2ms { wrong = calls < 0 ? calls : wrong; }\n"]
OF_PLACES = [note_time, keep_text, keep_address, print_text, record_stack, speculate_values]  # of threads, and of what a signal handler has interrupted
ALONE = [speculate_values]  # other threads may hold a speculation


class Way(NamedTuple):
    """How a script is run."""
    backend: str
    command: str
    options: list
    is_alone: bool  # one thread fires


def run_dvm(folder, *words, is_alone):
    """Its output, and status. One thread stays on one CPU, so buffers of CPUs are the same for all backends. Addresses are the same in each run."""
    before = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if is_alone else []
    with open(folder / "out", "w+") as out:  # what the program prints is elsewhere
        result = subprocess.run([*before, "setarch", "-R", DVM, words[0], "-q", "-Z", "-o", out.name, *words[1:]], capture_output=True, text=True, errors="replace",
                                env=ENV, timeout=300)
        return [f"status {result.returncode}", *(out.read() + result.stderr).split("\n")]


def traced(how, folder, *more):
    return run_dvm(folder, "run", "-x", f"backend={how.backend}", *how.options, *more, "-s", folder / "script.d", "-c", how.command, is_alone=how.is_alone)


def as_json(how, folder):
    """Without the fields that are of this run."""
    return [re.sub(r'"(epid|cpu|time|pid|id)":\d+', r'"\1":N', line) for line in traced(how, folder, "--json")]


def replayed(how, folder):
    recording, script = folder / "recording", ["-s", folder / "script.d"]
    result = subprocess.run(["setarch", "-R", DVM, "record", "-q", "-Z", "-o", recording, "-x", f"backend={how.backend}", *how.options, *script, "-c", how.command],
                            capture_output=True, text=True, errors="replace", env=ENV, timeout=300)
    return [re.sub(r"\d+ events", "N events", line) for line in result.stderr.split("\n")] + run_dvm(folder, "replay", recording, *how.options, *script, is_alone=how.is_alone)


def accounted(how, folder):
    """With the counts of the account, but without its times."""
    lines = [line for line in traced(how, folder, "--account") if not re.match(r"ACCOUNT| +(stage|consumer|KIND|stages,|traced threads)", line)]
    return [re.sub(r"^( +(opcode|variable|subroutine|action) +\S+ +\d+) .*", r"\1", re.sub(r" *(engine \w+|after \d+ firings on interp)", "", line)) for line in lines]


MODES = [traced, traced, traced, as_json, replayed, accounted]
OPTIONS = ["strsize=8", "ustackframes=2", "aggsortkey", "aggsortrev", "switchrate=1ms", "switchrate=20hz", "aggrate=1ms", "return=exits", "ustackunwind=0",
           "ustackunwind=4k", "demangle=off", "engine=interp", "engine=llvm", "agghist", "aggpack", "nspec=3"]
OPTIONS_ALONE = ["bufpolicy=ring", "bufpolicy=fill", "bufsize=4k", "followfork"]


MASKS = [(r"/tmp/tmp[^/]*/", ""), (r"(pid|varied|ID )\d+", "N")]


# What dvm says where results differ by design, or by chance on a busy machine.
NOT_COMPARED = "dvm was too slow|thread-local variables were reset"
# What it says if another dvm traces by an agent meanwhile.
OF_NEIGHBOURS = "itself opens are noticed: an agent has replaced its code in another process"


def summed(lines):
    """What ticks print adds up to the same, whenever they fire."""
    lines = list(lines)
    ticked = [int(number) for line in lines for number in re.findall(r"^ticked (\d+)$", line)]
    return [line for line in lines if line.strip() and not line.startswith("ticked ")] + [f"all ticked: {sum(ticked)}"]


def shown(lines, is_alone):
    lines = summed(line for line in lines if OF_NEIGHBOURS not in line)
    for pattern, replacement in MASKS:
        lines = [re.sub(pattern, replacement, line) for line in lines]
    # The first five faults are shown each; which threads those are of is chance.
    return lines if is_alone else sorted(line for line in lines if not re.search("error on enabled probe|error in |additional errors?|\"errors?\"", line))


def run(seed):
    rng = random.Random(seed)
    mode = rng.choice(MODES)
    threads = rng.choice([1, 1, 2, 4])
    is_storm = rng.random() < 0.3
    is_alone, program = threads == 1 and not is_storm, rng.choice(["varied", "varied", "varied_bare"])
    text = f"/* seed {seed} */\n{DECLARATIONS}{Script(rng, is_alone, is_storm, mode is traced).text(is_alone, mode is traced)}".replace("PROGRAM", program)
    command = f"{PROGRAMS}/{program} {rng.choice([20, 60])} {threads}" + f" {PROGRAMS}/liblate_library.so" * (rng.random() < 0.25)
    if is_storm:
        command = f"{PROGRAMS}/{program} 600 {threads} storm"
    known = OPTIONS + [one for one in OPTIONS_ALONE * is_alone if "ticked" not in text or "bufpolicy" not in one]  # what ticks print may be lost
    options = [word for option in rng.sample(known, rng.randrange(3)) for word in ("-x", option)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "script.d").write_text(text)
        one, other = (shown(mode(Way(backend, command, options, is_alone), folder), is_alone) for backend in ("agent", "uprobe"))
    if any("failed to compile" in line for line in one):
        return None if any("expression contains division by zero" in line for line in one) else "\n".join([text, *one])
    if one == other or any(re.search(NOT_COMPARED + r"|\bdrops?\b" * is_storm, line) for line in one + other):
        return None
    differing = [f"agent:  {line}" for line in one if line not in other] + [f"uprobe: {line}" for line in other if line not in one]
    if not differing:
        first = next(i for i in range(len(one)) if one[i:i + 1] != other[i:i + 1])
        differing = ["another order or number", *one[first - 2:first + 5], "by uprobes", *other[first - 2:first + 5]]
    return "\n".join([text, mode.__name__, command, " ".join(options), *differing[:20], ""])


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("needs root, for uprobes")
        sys.exit(1 if os.environ.get("DVM_NO_SKIP") else NO_ROOT)
    run_seeds(run)
