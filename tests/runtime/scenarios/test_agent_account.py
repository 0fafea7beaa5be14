"""The account of a run by an agent: work in the traced threads is counted exactly, and priced by the profile of the machine."""

import json
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

ENTRY = "pid$target:a.out:deep:entry "  # called with 10000 to 0
CALLS = 10001


def price(clocks):
    return {"m": clocks, "n": 0, "spread": 0}


PRICES = {"stub": {"entry": price(4)}, "lane": {"find": price(1), "take": price(2), "record": price(9), "read": price(1)},
          "capture": {"thread": price(2), "argument": price(50)}, "site": {"expression": price(5)},
          "aggregation": {"count": price(7), "sum": price(11)}, "key": {"any": price(20), "integer": price(30)}}


class AgentAccount(AgentTest):
    def account(self, script, form, prices=None):
        folder = dvmtest.own_folder(self)
        if prices is not None:
            (folder / "dvm").mkdir()
            (folder / "dvm/profile.json").write_text(json.dumps({"dvm_profile": 1, "name": "round", "machine": "made up", "clock_hz": 1e9, "prices": prices}))
        result = dvmtest.dvm("run", "-q", f"--account={form}", "-x", "backend=agent", "-n", script, "-c", program("returns"),
                             env=dict(dvmtest.ENV, XDG_CONFIG_HOME=str(folder)))
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def threads(self, script):
        text = self.account(script, "json", {"agent": PRICES})
        return json.loads(text[text.index('{\n  "firings"'):])["threads"]

    def stages(self, stages):
        return [(one["name"], one["count"], one["cycles_each"], one["cycles"]) for one in stages]

    def test_the_stages_of_a_record_are_priced(self):
        (probe,) = self.threads(ENTRY + "{ trace(arg0); } " + ENTRY + "/arg0 == 7/ { trace(arg2); }")
        self.assertTrue(probe["probe"].endswith(":deep:entry"))
        self.assertEqual(self.stages(probe["stages"]), [("stub", CALLS, 4, 4 * CALLS), ("lane", CALLS, 3, 3 * CALLS), ("record", CALLS, 9, 9 * CALLS),
                                                        ("captures", CALLS, 102, 102 * CALLS)])
        self.assertNotIn("without_account", probe)

    def test_clauses_that_run_in_the_thread_without_an_account_are_priced_as_such(self):
        (probe,) = self.threads(ENTRY + "/arg0 < 10/ { @ = sum(arg0); } " + ENTRY + "{ @n[arg0 & 1] = count(); }")
        self.assertEqual(self.stages(probe["without_account"]),
                         [("stub and lane", CALLS, 7, 7 * CALLS), ("epid 1 predicate", CALLS, 5, 5 * CALLS), ("epid 1 actions", 10, 16, 160),
                          ("epid 2 actions", CALLS, 62, 62 * CALLS)])

    def test_the_table_has_them(self):
        text = self.account(ENTRY + "{ @ = count(); }", "table", {"agent": PRICES})
        self.assertIn("traced threads, by the agent; prices of profile round at 1.000 GHz\n", text)
        self.assertRegex(text, rf"\n    stub +{CALLS} +4\.0 +{4 * CALLS}\n")
        self.assertRegex(text, rf"\n    epid 1 actions +{CALLS} +7\.0 +{7 * CALLS}\n    sum +{12 * CALLS}\n")
        self.assertNotIn("without a price", text)

    def test_rows_without_a_price_are_named(self):
        text = self.account(ENTRY + "{ @ = max(arg0); }", "table", {"agent": PRICES})
        self.assertIn("without a price, counted as 0: agent/aggregation/max\n", text)

    def test_a_machine_without_a_profile_has_no_prices(self):
        self.assertIn("traced threads: not priced; 'dvm cost calibrate'", self.account(ENTRY + "{ trace(arg0); }", "table"))


if __name__ == "__main__":
    unittest.main()
