"""An editor that talks to dvm lsp."""

import json
import os
import subprocess
import unittest

import dvmtest

URI = "file:///tmp/script.d"
SCRIPT = """\
#pragma D option quiet

syscall::read:entry
/execname == "sh"/
{
\tself->began = timestamp;
\tthis->who = pid;
}

proc:::exit
{
\t@total[pid] = sum(timestamp - self->began);
\tprintf("%s\\n", curpsinfo->pr_fname);
}
"""


class Editor:
    """Starts the server and talks to it."""

    def __init__(self, *options, capabilities=None, **environment):
        self.process = subprocess.Popen([dvmtest.DVM, "lsp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env={**os.environ, **environment})
        self.number = 0
        self.told = []
        self.initialized = self.ask("initialize", {"capabilities": capabilities or {}})["result"]
        self.tell("initialized", {})

    def send(self, message):
        text = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))

    def send_bytes(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def tell(self, method, parameters):
        self.send({"method": method, "params": parameters})

    def read(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, parameters):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": parameters})
        return self.answer()

    def answer(self):
        while True:
            message = self.read()
            if "method" not in message:
                return message
            self.told.append(message)

    def open(self, text):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": URI, "languageId": "d", "version": 1, "text": text}})
        return self.diagnostics()

    def change(self, text):
        self.tell("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"text": text}]})
        return self.diagnostics()

    def edit(self, *changes):
        """Each change: (line, character, line, character, text)."""
        self.tell("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [
            {"range": {"start": {"line": a, "character": b}, "end": {"line": c, "character": d}}, "text": text} for a, b, c, d, text in changes]})
        return self.diagnostics()

    def diagnostics(self):
        while (message := self.read())["method"] != "textDocument/publishDiagnostics":
            self.told.append(message)
        return message["params"]["diagnostics"]

    def at(self, method, line, character):
        return self.ask(f"textDocument/{method}", {"textDocument": {"uri": URI}, "position": {"line": line, "character": character}})["result"]

    def complete(self, text):
        """Labels of what may stand at the end of a text, and their details."""
        self.change(text)
        lines = text.split("\n")
        return {item["label"]: item.get("detail", "") for item in self.at("completion", len(lines) - 1, len(lines[-1]))["items"]}

    def close(self):
        self.process.kill()
        self.process.communicate()

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.stdin.flush()
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return self.process.wait(), out, err


class EditorTest(unittest.TestCase):
    def editor(self, *options, **how):
        editor = Editor(*options, **how)
        self.addCleanup(editor.close)
        return editor
