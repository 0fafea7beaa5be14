"""A strict reader of Prometheus' text format: fails on what the format forbids, and gives samples by name and labels."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
SUFFIXES = {"counter": ("",), "gauge": ("",), "summary": ("_sum", "_count"), "histogram": ("_bucket", "_count")}


def unescaped(text):
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match and match[1] not in labels, text
        labels[match[1]], at = unescaped(match[2]), match.end()
    return labels


class Exposition:
    def __init__(self, body):
        self.types, self.samples = {}, {}
        assert body.endswith(b"\n"), "the last line has no end"
        family = None
        for line in body.decode().rstrip("\n").split("\n"):  # not splitlines(), which knows other ends of lines
            if line.startswith("# HELP "):
                continue
            if line.startswith("# TYPE "):
                family, kind = re.fullmatch(rf"# TYPE ({NAME}) (\w+)", line).groups()
                assert family not in self.types, line
                self.types[family] = kind
                continue
            name, labels, value = re.fullmatch(rf"({NAME})(?:\{{(.*)\}})? (\S+)", line).groups()
            assert name in [family + suffix for suffix in SUFFIXES[self.types[family]]], line
            key = (name, tuple(sorted(labels_of(labels or "").items())))
            assert key not in self.samples, line
            self.samples[key] = float(value)
        for family, kind in self.types.items():
            if kind == "histogram":
                self.check_histogram(family)

    def check_histogram(self, family):
        rows = {}
        for (name, labels), value in self.samples.items():
            if name == family + "_bucket":
                others = tuple(label for label in labels if label[0] != "le")
                rows.setdefault(others, []).append((float(dict(labels)["le"]), value))
        for others, buckets in rows.items():
            assert buckets == sorted(buckets), (family, buckets)  # ends and counts rise
            assert [value for _, value in buckets] == sorted(value for _, value in buckets)
            assert buckets[-1] == (float("inf"), self.samples[(family + "_count", others)])

    def get(self, name, **labels):
        return self.samples.get((name, tuple(sorted(labels.items()))))

    def of(self, name):
        """{labels: value} of a name."""
        return {labels: value for (its, labels), value in self.samples.items() if its == name}
