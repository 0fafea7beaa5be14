"""dvm lsp: its answers to the messages of an editor."""

import json
import os
import subprocess
import tempfile
import unittest

import dvmtest
from editor import SCRIPT, URI, EditorTest


class LanguageServer(EditorTest):
    def test_a_script_without_errors_has_no_diagnostics(self):
        editor = self.editor()
        self.assertEqual(editor.open(SCRIPT), [])
        self.assertEqual(editor.end(), (0, b"", b""))

    def test_errors_are_told_with_their_place_as_they_are_typed(self):
        editor = self.editor()
        editor.open(SCRIPT)
        diagnostic, = editor.change('BEGIN\n{\n\tprintf("ü %d", timestmp);\n}\n')
        self.assertEqual(diagnostic["code"], "D_IDENT_UNDEF")
        self.assertEqual(diagnostic["severity"], 1)
        self.assertIn("timestamp", diagnostic["message"])  # the hint
        self.assertEqual(diagnostic["range"], {"start": {"line": 2, "character": 16}, "end": {"line": 2, "character": 24}})
        self.assertEqual(editor.change("BEGIN\n{\n\texit(0);\n}\n"), [])

    def test_edits_of_parts_of_the_text(self):
        editor = self.editor()
        self.assertEqual(editor.initialized["capabilities"]["textDocumentSync"]["change"], 2)
        editor.open('BEGIN\n{\n\tprintf("ü😀 %d", pid);\n}\n')
        diagnostic, = editor.edit((2, 18, 2, 21, "pod"))  # behind two characters of six bytes and three units
        self.assertEqual((diagnostic["code"], diagnostic["range"]["start"]), ("D_IDENT_UNDEF", {"line": 2, "character": 18}))
        # Each change is one of the text that the change before it has left.
        diagnostic, = editor.edit((2, 18, 2, 21, "tid"), (4, 0, 4, 0, "END { }\n"), (0, 0, 1, 0, ""))
        self.assertEqual((diagnostic["code"], diagnostic["range"]["start"]), ("D_SYNTAX", {"line": 0, "character": 0}))
        self.assertEqual(editor.edit((0, 0, 0, 0, "BEGIN\n")), [])
        self.assertEqual(editor.edit((0, 0, 99, 0, "BEGIN { exit(0); }")), [])
        self.assertEqual(editor.edit((0, 13, 0, 3, "1 + ")), [])  # ends before it begins, and nothing is removed

    def test_positions_in_bytes_if_the_editor_wants_them(self):
        editor = self.editor(capabilities={"general": {"positionEncodings": ["utf-16", "utf-8"]}})
        self.assertEqual(editor.initialized["capabilities"]["positionEncoding"], "utf-8")
        diagnostic, = editor.open('BEGIN { printf("ü %d", timestmp); }')
        self.assertEqual(diagnostic["range"]["start"]["character"], 24)

    def test_words_of_the_language_and_of_the_script(self):
        editor = self.editor()
        editor.open(SCRIPT)
        words = editor.complete(SCRIPT + "BEGIN { ")
        self.assertEqual(words["strlen"], "uint64 strlen(string)")
        self.assertEqual(words["timestamp"], "uint64")
        self.assertEqual(words["quantize"], "@ = quantize(int, int?)")
        for name in ("printf", "self->began", "this->who", "@total", "pid"):
            self.assertIn(name, words)
        self.assertNotIn("expression", words)

    def test_members_of_what_is_before_the_arrow(self):
        editor = self.editor()
        editor.open(SCRIPT)
        for text in ("proc:::exit { printf(\"%s\", curpsinfo->", "proc:::exit /curpsinfo->pr_f"):
            self.assertEqual(editor.complete(text).get("pr_fname"), "string", text)
        members = editor.complete("struct inner { int low; }; struct outer { struct inner in; char name[8]; } o; BEGIN { o.")
        self.assertEqual(members, {"in": "struct inner", "name": "char [8]"})
        self.assertEqual(set(editor.complete("struct inner { int low; }; struct outer { struct inner in; } *o; BEGIN { x = (o + 1)->in.")), {"low"})
        self.assertEqual(editor.complete("BEGIN { nothing->"), {})

    def test_types(self):
        editor = self.editor()
        editor.open("")
        for text in ("BEGIN { x = (", "BEGIN { x = sizeof (", "BEGIN { printf(\"%d\", xlate <", "inline ", "ps", "BEGIN { "):
            self.assertIn("psinfo_t", editor.complete(text), text)
        self.assertEqual(editor.complete("BEGIN { x = (ps")["psinfo_t"], "typedef struct psinfo psinfo_t")
        self.assertNotIn("psinfo_t", editor.complete("BEGIN { x = 1 + "))
        tags = editor.complete("struct own { int x; }; BEGIN { x = (struct ")
        self.assertEqual((tags["own"], tags["psinfo"]), ("struct own", "struct psinfo"))
        self.assertNotIn("printf", tags)

    def test_names_of_libraries(self):
        editor = self.editor()
        editor.open("")
        words = editor.complete("BEGIN { cu")
        self.assertEqual(words["curpsinfo"], "inline psinfo_t * curpsinfo")
        self.assertIn("SIGKILL", words)
        self.assertEqual([name for name in [*words, *editor.complete("BEGIN { x = (struct "), *editor.complete("BEGIN { x = (")] if "dvm_" in name], [])

    def test_own_names_in_a_broken_script(self):
        editor = self.editor()
        broken = "BEGIN { self->mine = ; this->one = 1 @sums[pid] = count( \"self->text\" /* @comment */\n total = 3; x."
        editor.open("")
        self.assertEqual(set(editor.complete(broken + "\nself->")), {"mine"})
        words = editor.complete(broken + "\n y = 1 + ")
        for name in ("self->mine", "this->one", "@sums", "total"):
            self.assertIn(name, words)
        for name in ("self->text", "@comment"):
            self.assertNotIn(name, words)

    def test_probes_that_do_not_exist(self):
        editor = self.editor()
        diagnostic, = editor.open("BEGIN, fbt:::entry { exit(0); }")
        self.assertEqual((diagnostic["severity"], diagnostic["code"]), (2, "D_PDESC_ZERO"))
        self.assertEqual(diagnostic["range"], {"start": {"line": 0, "character": 7}, "end": {"line": 0, "character": 18}})
        self.assertIn("does not match any probes\n", diagnostic["message"])
        # Nobody knows the process of $target yet, nor what a script on it may be for.
        self.assertEqual(editor.open("pid$target:a.out:main:entry, looper$target:::* { exit(0); }"), [])
        self.assertEqual(editor.open("tick-1s, profile-997, proc:::exit, END { exit(0); }"), [])

    def test_functions_that_a_process_does_not_have(self):
        target = subprocess.Popen(["sleep", "60"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        editor = self.editor("-p", str(target.pid))
        self.assertEqual(editor.open("pid$target:libc:malloc:entry, pid$target:libc:mall*: { }"), [])
        diagnostic, = editor.open("pid$target:libc:malok:entry { }")
        self.assertEqual(diagnostic["severity"], 2)
        self.assertIn("malok", diagnostic["message"])

    def test_options_behind_a_pragma(self):
        editor = self.editor()
        editor.open("")
        options = editor.complete("#pragma D option buf")
        self.assertIn("bufsize", options)
        self.assertNotIn("printf", options)

    def test_probes(self):
        editor = self.editor()
        editor.open("")
        self.assertIn("BEGIN", " ".join(editor.complete("BEG")))
        self.assertEqual(editor.complete("/* BEG"), {})
        self.assertEqual(editor.complete('BEGIN { trace("BEG'), {})

    def test_probes_of_a_process(self):
        target = subprocess.Popen(["sleep", "60"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        editor = self.editor("-p", str(target.pid))
        editor.open("")
        self.assertIn("pid$target:libc.so.6:malloc:entry", editor.complete("BEGIN { } pid$target:libc.so.6:malloc:e"))

    def test_types_of_a_process(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with open(folder + "/a.c", "w", encoding="ascii") as file:
            file.write("#include <stdio.h>\nstruct place { short x, y; } here;\nint visit(struct place *p) { return p->x; }\n"
                       "int main(void) { puts(\"ready\"); fflush(stdout); getchar(); return visit(&here); }\n")
        subprocess.run([os.environ.get("DVM_CC", "cc"), "-g", "-o", folder + "/a", folder + "/a.c"], check=True)
        target = subprocess.Popen([folder + "/a"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        target.stdout.readline()
        editor = self.editor("-p", str(target.pid))
        function = "pid$target:a.out:visit:entry"
        self.assertEqual(editor.open(function + " { trace(args[0]->x); }"), [])
        self.assertIn("z", editor.change(function + " { trace(args[0]->z); }")[0]["message"])
        self.assertEqual(editor.complete(function + " { trace(args[0]->"), {"x": "short", "y": "short"})
        self.assertEqual(editor.complete(function + " { trace(a.out`here."), {"x": "short", "y": "short"})
        self.assertNotEqual(self.editor().open(function + " { trace(a.out`here.x); }"), [])

    def test_a_process_that_has_ended(self):
        target = subprocess.Popen(["true"])
        target.wait()
        done = subprocess.run([dvmtest.DVM, "lsp", "-p", str(target.pid)], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, f"dvm: failed to grab process {target.pid}: No such process\n".encode()))

    def test_what_a_word_is(self):
        editor = self.editor()
        editor.open(SCRIPT)
        hover = editor.at("hover", 5, 18)
        self.assertEqual(hover["contents"]["value"].split("\n")[1], "uint64 timestamp")
        self.assertEqual(hover["range"]["start"], {"line": 5, "character": 15})
        self.assertIn("print values by a format", editor.at("hover", 12, 3)["contents"]["value"])
        self.assertIsNone(editor.at("hover", 0, 0))

    def explain(self, editor, text, word):
        """The first line of what hovering over the last place of a word shows, and all of it."""
        editor.open(text)
        before = text[:text.rindex(word)]
        hover = editor.at("hover", before.count("\n"), len(before) - before.rfind("\n") - 1 + len(word) - 1)
        return (hover["contents"]["value"].split("\n")[1], hover["contents"]["value"]) if hover else (None, "")

    def test_what_names_of_the_script_are(self):
        editor = self.editor()
        for word, declaration in (("self->began", "uint64_t self->began"), ("this->who", "pid_t this->who"), ("@total", "@total[pid_t] = sum()"),
                                  ("pr_fname", "string curpsinfo->pr_fname"), ("curpsinfo", "inline psinfo_t * curpsinfo")):
            self.assertEqual(self.explain(editor, SCRIPT, word)[0], declaration)
        self.assertEqual(self.explain(editor, 'BEGIN { a[1, "x"] = 2; trace(a[1, "x"]); }', "a[")[0], "int a[int, string]")

    def place(self, text, word, number=0):
        """Line and character of a word's last letter, of the place with that number."""
        at = -1
        for _ in range(number + 1):
            at = text.index(word, at + 1)
        before = text[:at + len(word) - 1]
        return before.count("\n"), len(before) - before.rfind("\n") - 1

    def test_where_a_name_is_declared_and_used(self):
        editor = self.editor()
        editor.open(SCRIPT)
        where = editor.at("definition", *self.place(SCRIPT, "self->began", 1))
        self.assertEqual((where["uri"], where["range"]["start"], where["range"]["end"]),
                         (URI, {"line": 5, "character": 7}, {"line": 5, "character": 12}))
        self.assertEqual([one["range"]["start"]["line"] for one in editor.at("references", *self.place(SCRIPT, "self->began"))], [5, 11])
        for word in ("timestamp", "curpsinfo", "pr_fname", "read", "quiet"):
            self.assertIsNone(editor.at("definition", *self.place(SCRIPT, word)), word)
            self.assertEqual(editor.at("references", *self.place(SCRIPT, word)), [], word)

    def rename(self, editor, text, word, to):
        line, character = self.place(text, word)
        answer = editor.ask("textDocument/rename", {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}, "newName": to})
        if "error" in answer:
            return answer["error"]["message"]
        lines = text.split("\n")
        for edit in reversed(answer["result"]["changes"].get(URI, [])):
            begin, end = edit["range"]["start"], edit["range"]["end"]
            lines[begin["line"]] = lines[begin["line"]][:begin["character"]] + edit["newText"] + lines[end["line"]][end["character"]:]
        return "\n".join(lines)

    def test_renaming(self):
        editor = self.editor()
        editor.open(SCRIPT)
        self.assertEqual(self.rename(editor, SCRIPT, "self->began", "start"), SCRIPT.replace("began", "start"))
        self.assertEqual(self.rename(editor, SCRIPT, "self->began", "self->start"), SCRIPT.replace("began", "start"))
        self.assertEqual(self.rename(editor, SCRIPT, "@total", "sum"), SCRIPT.replace("@total", "@sum"))
        self.assertEqual(editor.at("prepareRename", *self.place(SCRIPT, "self->began"))["start"], {"line": 5, "character": 7})
        self.assertIsNone(editor.at("prepareRename", *self.place(SCRIPT, "timestamp")))
        for word, to, message in (("timestamp", "x", "the script declares no name there"), ("@total", "1x", "'1x' is not a name"),
                                  ("self->began", "began", None)):
            got = self.rename(editor, SCRIPT, word, to)
            self.assertEqual(got, SCRIPT) if message is None else self.assertRegex(got, message)

    def test_renaming_to_a_name_that_is_there(self):
        editor = self.editor()
        text = "inline int most = 3;\nint other;\nBEGIN { other = most; this->most = other; }\n"
        editor.open(text)
        for to in ("other", "pid", "curpsinfo"):
            self.assertEqual(self.rename(editor, text, "most", to), f"there is a {to} already")
        self.assertRegex(self.rename(editor, text, "most", "if"), "^the script would have an error: ")
        self.assertEqual(self.rename(editor, text, "most", "limit"), text.replace("int most", "int limit").replace("= most", "= limit"))

    def test_renaming_what_a_macro_may_use(self):
        editor = self.editor("-C")
        text = "BEGIN { x = 1; y = x; }\n#define INC x++\nEND { INC; }\n"
        editor.open(text)
        self.assertEqual(self.rename(editor, text, "x", "z"), "the directive of line 2 uses this name, and directives are not changed")
        self.assertEqual(self.rename(editor, text, "y", "z"), text.replace("y", "z"))

    @unittest.skipUnless(os.path.exists("/sys/kernel/btf/vmlinux"), "the kernel does not describe its types")
    def test_types_of_the_kernel(self):
        editor = self.editor()
        text = "syscall::openat:entry { this->t = (struct vmlinux`task_struct *)0; trace(sizeof (struct vmlinux`task_struct)); trace(args[0]); }\n"
        self.assertEqual(editor.open(text), [])
        self.assertIn("comm", editor.complete("BEGIN { this->t = (struct vmlinux`task_struct *)0; trace(this->t->"))
        self.assertRegex(self.explain(editor, "syscall::openat:entry\n{ trace(1); }", "openat:entry")[1], r"`args\[0\]`: `(int|unsigned int)`")

    def test_a_script_for_the_preprocessor(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/limits.h", "w") as header:
                header.write("#define LIMIT 10\nstruct own { int first; };\n")
            uri = f"file://{folder}/a%20b.d"
            text = '#include "limits.h"\n#define WHERE syscall::read:entry\nWHERE\n/arg0 > LIMIT/\n{ this->o = (struct own *)0; trace(this->o->first + LIMIT); nosuch(1); }\n'
            for options, script, line in (((), "#!/usr/sbin/dtrace -Cqs\n" + text, 5), (("-C",), text, 4)):
                editor = self.editor(*options)
                editor.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "d", "version": 1, "text": script}})
                told = editor.diagnostics()
                self.assertEqual([(one["message"], one["range"]["start"]) for one in told],
                                 [("undefined function name: nosuch", {"line": line, "character": text.split("\n")[4].index("nosuch")})])
                position = {"line": line, "character": text.split("\n")[4].index("first")}
                items = editor.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": position})["result"]["items"]
                self.assertEqual([one["label"] for one in items], ["first"])
                editor.close()
            editor = self.editor("-C")
            self.assertEqual([(one["range"]["start"]["line"], one["message"]) for one in editor.open('BEGIN { }\n#include "none.h"\n')],
                             [(1, "none.h: No such file or directory")])
            self.assertEqual(editor.change('#warning careful\nBEGIN { trace(1); }\n')[0]["severity"], 2)

    def test_what_types_are(self):
        editor = self.editor()
        script = "struct own { int x; char *s; }; typedef struct own own_t; translator own_t < int N > { x = N; s = 0; };\nBEGIN { trace(sizeof (own_t)); }"
        first, whole = self.explain(editor, script, "own_t")
        self.assertEqual(first, "typedef struct own own_t {")
        self.assertIn("\n  int x;\n  char * s;\n}\ntranslator own_t < int N >", whole)
        self.assertEqual(self.explain(editor, script.replace("(own_t)", "(struct own)"), "own")[0], "struct own {")

    def test_what_probes_are(self):
        editor = self.editor()
        first, whole = self.explain(editor, "BEGIN,\nproc:::signal-send { }", "signal-send")
        self.assertEqual(first, "proc:::signal-send")
        self.assertIn("signals", whole)
        self.assertIn("`args[1]`: `psinfo_t *`", whole)
        self.assertIn("fired by dvm itself", self.explain(editor, "BEGIN { }", "BEGIN")[1])
        editor.open("BEGIN { }\n\n")
        self.assertIsNone(editor.at("hover", 1, 0))

    def test_costs_beside_clauses(self):
        with tempfile.TemporaryDirectory() as home:
            editor = self.editor(XDG_CONFIG_HOME=home)
            editor.open(SCRIPT)
            self.assertEqual(self.hints(editor), [])
            self.assertIn("no costs are shown", editor.told[0]["params"]["message"])
            os.mkdir(f"{home}/dvm")
            with open(f"{home}/dvm/profile.json", "w", encoding="utf-8") as file:
                file.write('{"dvm_profile": 1, "name": "test", "machine": "any", "clock_hz": 1e9, '
                           '"prices": {"aggregation": {"sum": {"m": 1500}}, "source": {"tracepoint": {"trigger": {"m": 1}}}}}')
            editor = self.editor(XDG_CONFIG_HOME=home)
            editor.open(SCRIPT)
            hints = self.hints(editor)
            self.assertEqual([hint["position"]["line"] for hint in hints], [2, 9])
            self.assertRegex(hints[1]["label"], r"^1\.5 us of \d")

    def hints(self, editor):
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
        return editor.ask("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": whole})["result"]

    def test_lines_that_end_with_two_characters(self):
        editor = self.editor()
        diagnostic, = editor.open("BEGIN\r\n{\r\n\ttrace(timestmp);\r\n}\r\n")
        self.assertEqual(diagnostic["range"], {"start": {"line": 2, "character": 7}, "end": {"line": 2, "character": 15}})
        self.assertEqual(editor.edit((2, 7, 2, 99, "pid);")), [])  # behind the end of its line, which stays
        self.assertEqual(editor.edit((0, 99, 0, 99, ", END")), [])
        diagnostic, = editor.edit((2, 7, 2, 10, "pod"))
        self.assertEqual(diagnostic["range"]["start"], {"line": 2, "character": 7})

    def test_changes_that_come_together_are_checked_together(self):
        """Only the last of them has an error."""
        editor = self.editor()
        editor.open(SCRIPT)
        texts = [SCRIPT + f"BEGIN {{ n = {i}; }}\n" for i in range(50)] + ["BEGIN { nosuch(); }"]
        messages = [json.dumps({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": text}]}}).encode() for text in texts]
        editor.send_bytes(b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(text), text) for text in messages))
        told = [editor.diagnostics()]
        while not told[-1]:
            told.append(editor.diagnostics())
        self.assertLess(len(told), 10)

    def test_several_documents(self):
        editor = self.editor()
        editor.open("BEGIN { self->first = 1; }")
        other = {"textDocument": {"uri": "file:///tmp/other.d", "text": "BEGIN { self->second = 1; }"}}
        editor.tell("textDocument/didOpen", other)
        editor.diagnostics()
        self.assertEqual(set(editor.complete("BEGIN { self->first = 1; self->")), {"first"})
        editor.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
        self.assertEqual(editor.at("completion", 0, 9), [])


if __name__ == "__main__":
    unittest.main()
