"""dvm run --html: one page with all that a run found."""

import html.parser
import json
import os
import re
import tempfile
import unittest

import dvmtest
from dvmtest import dvm, program


class Page(html.parser.HTMLParser):
    """The elements of a page, and the data in it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.attributes, self.data = [], [], [], ""
        self.feed(text)
        self.data = json.loads(self.data)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, *each) for each in attrs]
        self.open.append((tag, dict(attrs).get("id")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if self.open and self.open[-1] == ("script", "data"):
            self.data += data


def made(*args, status=0):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.html")
        result = dvm(*args, "--html", path)
        if result.returncode != status:
            raise AssertionError(result.stderr)
        with open(path, encoding="utf-8") as file:
            return result, Page(file.read())


class HtmlTest(unittest.TestCase):
    def table(self, page, title):
        found = [table for table in page.data["tables"] if table["title"] == title]
        self.assertEqual(len(found), 1, page.data["tables"])
        return found[0]

    def test_every_aggregation_and_value_is_there(self):
        script = r"""BEGIN { @["</script><img src=x>", 1] = count(); @s["\377"] = sum(-5); @q = quantize(3); @q = quantize(100); @a = avg(10); @a = avg(5);
                             @m = max((uint64_t)-1); exit(0); }"""
        result, page = made("run", "-q", "-n", script)
        self.assertIn("</script><img src=x>", result.stdout)  # the usual output is the usual
        self.assertEqual(self.table(page, "@ = count()")["rows"], [{"keys": ["</script><img src=x>", "1"], "value": "1"}])
        self.assertEqual(self.table(page, "@s = sum()")["rows"], [{"keys": ["\ufffd"], "value": "-5"}])
        self.assertEqual(self.table(page, "@a = avg()")["rows"], [{"keys": [], "value": "7.5", "count": "2"}])
        self.assertEqual(self.table(page, "@m = max()")["rows"][0]["value"], str(2**64 - 1))
        shape = self.table(page, "@q = quantize()")
        counts = dict(zip(shape["bounds"] + [None], shape["rows"][0]["buckets"]))
        self.assertEqual((counts[3], counts[127], sum(counts.values())), (1, 1, 2))
        self.assertNotIn("img", page.elements)

    def test_saved_results(self):
        with tempfile.TemporaryDirectory() as folder:
            saved, path = os.path.join(folder, "a.json"), os.path.join(folder, "a.html")
            script = 'BEGIN { @c["</script>"] = sum(39); @q = quantize(5); normalize(@c, 10); exit(0); }'
            self.assertEqual(dvm("run", "-q", "--json", "-o", saved, "-n", script).returncode, 0)
            self.assertEqual(dvm("page", saved, saved, "-o", path).returncode, 0)
            with open(path, encoding="utf-8") as file:
                page = Page(file.read())
            self.assertEqual(self.table(page, "@c = sum()")["rows"], [{"keys": ["</script>"], "value": "7"}])
            self.assertEqual(self.table(page, "@q = quantize()")["rows"][0]["value"], "2")
            self.assertIsNone(page.data["history"])
            self.assertIsNone(page.data["account"])
            for words, problem in (([os.path.join(folder, "nosuch")], "No such file"), ([path], "this is not a line of dvm run --json"),
                                   ([saved, "--rows", "0"], "--rows")):
                result = dvm("page", *words)
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(result.stdout, "")
                self.assertIn(problem, result.stderr)

    def test_values_are_those_that_normalize_prints(self):
        script = "BEGIN { @c = sum(39); @d = sum(39); @gone = count(); normalize(@c, 10); normalize(@d, 10); denormalize(@d); trunc(@gone); exit(0); }"
        _, page = made("run", "-q", "-n", script)
        rows = {table["title"]: [row["value"] for row in table["rows"]] for table in page.data["tables"]}
        self.assertEqual((rows["@c = sum()"], rows["@d = sum()"]), (["3"], ["39"]))
        self.assertEqual(rows.get("@gone = count()", []), [])

    def test_keys_that_the_page_leaves_out_are_told(self):
        result, page = made("run", "-q", "-x", "maxseries=10", "-n", "tick-1ms /i++ < 50/ { @a[i] = count(); } tick-300ms { exit(0); }")
        self.assertEqual(len(page.data["tables"][0]["rows"]), 10)
        self.assertRegex(result.stderr, r"dvm: the page leaves out \d+ keys of @a \(maxseries\)")

    def test_nothing_outside_is_asked_for(self):
        _, page = made("run", "-q", "-n", "BEGIN { @ = count(); exit(0); }")
        self.assertEqual(page.elements.count("script"), 2)
        self.assertFalse({"link", "img", "object", "embed"} & set(page.elements))
        self.assertFalse([each for each in page.attributes if each[1] in ("src", "href")])

    def test_growth_adds_up(self):
        _, page = made("run", "-q", "-x", "aggrate=50ms", "-n", "tick-10ms { @ = count(); @q = quantize(i++); } tick-1s { exit(0); }")
        history = page.data["history"]
        self.assertGreater(len(history["times"]), 3)
        self.assertEqual(history["times"], sorted(history["times"]))
        for title in ("@ = count()", "@q = quantize()"):
            table = self.table(page, title)
            self.assertEqual(sum(history["series"][table["name"]]), int(table["rows"][0]["value"]))
        heat = history["heat"][self.table(page, "@q = quantize()")["name"]]
        self.assertEqual(sum(map(sum, heat["cells"])), int(self.table(page, "@q = quantize()")["rows"][0]["value"]))

    def test_the_account_is_there(self):
        _, page = made("run", "-q", "-n", "tick-10ms /i++ % 2/ { @ = count(); } tick-200ms { exit(0); }")
        ecbs = page.data["account"]["ecbs"]
        self.assertEqual(len(ecbs), 2)
        first = next(ecb for ecb in ecbs if ecb["probe"].endswith("tick-10ms"))
        self.assertGreater(first["firings"], first["predicate_hits"])
        firings = next(int(one["value"]) for one in page.data["numbers"] if one["name"] == "firings")
        self.assertGreaterEqual(firings, first["firings"])

    def test_keys_over_the_limit_are_counted(self):
        _, page = made("run", "-q", "-x", "maxseries=10", "-n", "BEGIN { @[0] = count(); } tick-1ms { @[i++] = count(); } tick-1ms /i == 50/ { exit(0); }")
        table = self.table(page, "@ = count()")
        self.assertEqual(len(table["rows"]), 10)
        left = [one for one in page.data["numbers"] if one["name"] == "aggregation_keys_left_out" and one["labels"].endswith("maxseries")]
        self.assertEqual(len(left), 1)
        self.assertGreaterEqual(int(left[0]["value"]), 39)

    def test_a_run_without_aggregations(self):
        result, page = made("run", "-q", "-n", "BEGIN { trace(1); exit(3); }", status=3)
        self.assertEqual((result.returncode, page.data["tables"]), (3, []))

    def test_a_file_that_cannot_be_written(self):
        result = dvm("run", "-q", "--html", "/nowhere/run.html", "-n", "BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^dvm: .*/nowhere/run\.html.*No such file or directory\n$")


class StacksTest(dvmtest.PrivilegedTest):
    def test_stacks_are_drawn(self):
        _, page = made("run", "-q", "-n", "pid$target:a.out:func:entry { @where[ustack()] = count(); }", "-c", program("looper") + " 100")
        self.assertEqual([flame["title"] for flame in page.data["flames"]], ["@where"])
        self.assertRegex(page.data["flames"][0]["svg"], r"<title>func \(100 samples")
        self.assertFalse(re.search(r"(src|href)=.?http", page.data["flames"][0]["svg"]))


if __name__ == "__main__":
    unittest.main()
