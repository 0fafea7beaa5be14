#!/usr/bin/env python3
"""dvm run --json: the output of many scripts is valid by docs/json.schema.json, and has the values of the text."""

import json
import os
import shlex
import sys
import unittest

import dvmtest
import run_scripts

SCHEMA = json.loads((dvmtest.ROOT / "docs/json.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "null": type(None)}


def is_type(value, name):
    return isinstance(value, TYPES[name]) and not isinstance(value, bool)


def problem(value, schema, path="$"):
    """Why a value is not as the schema says; None if it is. Knows the keywords that the schema uses."""
    if "$ref" in schema:
        return problem(value, SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]], path)
    if "oneOf" in schema:
        reasons = [problem(value, choice, path) for choice in schema["oneOf"]]
        return None if reasons.count(None) == 1 else f"{path}: {reasons.count(None)} choices fit: {reasons}"
    if "enum" in schema:
        return None if value in schema["enum"] else f"{path}: {value!r} is none of {schema['enum']}"
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(is_type(value, name) for name in types):
        return f"{path}: {value!r} is no {schema['type']}"
    found = [f"{path}: no {key}" for key in schema.get("required", []) if key not in value]
    for key, inner in value.items() if isinstance(value, dict) else []:
        known = schema.get("properties", {}).get(key)
        if known:
            found.append(problem(inner, known, f"{path}.{key}"))
        elif not schema.get("additionalProperties", True):
            found.append(f"{path}: unknown {key}")
    for i, inner in enumerate(value if isinstance(value, list) and "items" in schema else []):
        found.append(problem(inner, schema["items"], f"{path}[{i}]"))
    return next((f for f in found if f), None)


def lines(*args, cwd=None):
    result = dvmtest.dvm("run", "--json", *args, cwd=cwd)
    return result, [json.loads(line) for line in result.stdout.splitlines()]


class Json(unittest.TestCase):
    def values(self, program, *args):
        result, objects = lines("-n", program, *args)
        for item in objects:
            self.assertIsNone(problem(item, SCHEMA), item)
        return objects

    def test_many_faults_are_counted(self):
        objects = self.values("int zero, n; tick-1ms { @ = sum(1 / zero); } ERROR { @faults = count(); n++; } tick-1ms /n > 50/ { exit(0); } tick-30s { exit(1); }")
        shown = [item for item in objects if item["type"] == "error"]
        more = [item for item in objects if item["type"] == "errors"]
        counted = [item for item in objects if item["type"] == "aggregation" and item["aggregations"][0]["name"] == "faults"]
        faults = counted[0]["rows"][0]["values"][0]
        self.assertEqual(len(shown), 5)
        self.assertEqual(more, [{"type": "errors", "clause": 0, "fault": "divide-by-zero", "count": faults - 5,
                                 "message": f"{faults - 5} more errors in dt_clause_0: divide-by-zero"}])

    def test_every_script_keeps_to_the_schema(self):
        privilege = dvmtest.missing_privilege()
        checked = 0
        for script in sorted(dvmtest.HERE.glob("*/tst.*.d")):
            given = run_scripts.settings(script)
            source = script.with_name(given.get("script", script.name))
            text = source.read_text(errors="replace")
            needed = given.get("program")
            if "replay" in given or (given.get("needs") == "uprobes" and privilege) or "system(" in text:
                continue
            if needed and not os.path.exists(dvmtest.program(needed)):
                continue
            with self.subTest(script=script.name):
                args = shlex.split(given.get("run", "").replace("{programs}", dvmtest.PROGRAMS))
                result = dvmtest.dvm("run", "--json", "-s", source.name, *args, cwd=script.parent)
                own = [line for line in result.stdout.splitlines() if line.startswith('{"type":')]
                self.assertTrue(own, result.stderr)
                for line in own:
                    self.assertIsNone(problem(json.loads(line), SCHEMA), line)
                self.assertEqual(json.loads(own[-1])["type"], "exit")
                checked += 1
        self.assertGreater(checked, 30)
        if privilege:
            dvmtest.skip_or_fail(self, "without what needs uprobes: " + privilege)

    def test_values_have_their_types(self):
        record = self.values('BEGIN { trace(-1); trace("a\\tb"); trace((uint64_t)-1); printf("%d|%s", (char)-2, "x"); exit(7); }')[0]
        self.assertEqual([a["value"] for a in record["actions"][:3]], [-1, "a\tb", 2**64 - 1])
        self.assertEqual(record["actions"][3], {"action": "printf", "text": "-2|x", "arguments": [-2, "x"]})
        self.assertEqual(record["probe"]["name"], "BEGIN")

    def test_structures_are_objects(self):
        record = self.values("enum e { A, B }; struct s { short x; char t[4]; enum e e; int n[2]; struct { int d; } in; };"
                             "BEGIN { this->s = (struct s *)alloca(sizeof (struct s)); this->s->x = -3; this->s->t[0] = 'q';"
                             "this->s->e = B; this->s->n[1] = 4; this->s->in.d = 5; print(*this->s); exit(0); }")[0]
        self.assertEqual(record["actions"][0]["value"], {"x": -3, "t": "q", "e": "B", "n": [0, 4], "in": {"d": 5}})

    def test_floating_point_is_a_number(self):
        record, aggregation = self.values("struct s { double d; } s; BEGIN { this->p = (struct s *)alloca(8); *(uint64_t *)this->p = 0x3ff8000000000000;"
                                          "s = *this->p; trace(s.d); @[s.d] = count(); exit(0); }")[:2]
        self.assertEqual(record["actions"][0]["value"], 1.5)
        self.assertEqual(aggregation["rows"][0]["keys"], [1.5])

    def test_buckets_say_where_they_end(self):
        objects = self.values("BEGIN { @q = quantize(-9); @q = quantize(0); @q = quantize(5, 3); @l = lquantize(-1, 0, 10, 5);"
                              "@l = lquantize(7, 0, 10, 5); @l = lquantize(10, 0, 10, 5); @ll = llquantize(57, 10, 0, 2, 10); exit(0); }")
        found = {o["aggregations"][0]["name"]: [(b["min"], b["max"], b["count"]) for b in o["rows"][0]["values"][0]["buckets"]]
                 for o in objects if o["type"] == "aggregation"}
        self.assertEqual(found["q"], [(-15, -8, 1), (0, 0, 1), (4, 7, 3)])
        self.assertEqual(found["l"], [(None, -1, 1), (5, 9, 1), (10, None, 1)])
        self.assertEqual(found["ll"], [(50, 59, 1)])

    def test_joined_aggregations_have_null_where_a_key_is_missing(self):
        record = self.values('BEGIN { @a["x"] = count(); @b["x"] = sum(5); @b["y"] = sum(8); printa(@a, @b); exit(0); }')[0]
        rows = {tuple(row["keys"]): row["values"] for row in record["actions"][0]["rows"]}
        self.assertEqual(rows, {("x",): [1, 5], ("y",): [None, 8]})

    def test_what_could_not_be_done_is_a_line(self):
        notices = [o for o in self.values('BEGIN { setopt("agrate", "1ms"); freopen("/no/such/file"); exit(0); }', "-w") if o["type"] == "notice"]
        self.assertIn("couldn't set option \"agrate\"", notices[0]["message"])
        self.assertEqual(notices[0]["hints"], ["did you mean 'aggrate'?"])
        self.assertIn("couldn't freopen() \"/no/such/file\"", notices[1]["message"])

    def test_faults_and_the_exit_status_are_lines(self):
        objects = self.values("BEGIN { trace(1 / (pid - pid)); } BEGIN { exit(3); }")
        error = next(o for o in objects if o["type"] == "error")
        self.assertEqual(error["fault"], "divide-by-zero")
        self.assertEqual(error["probe"]["provider"], "dtrace")
        self.assertEqual(objects[-1], {"type": "exit", "status": 3})


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
