"""dvm lsp: messages out of order, or that are none."""

import json
import subprocess
import unittest

import dvmtest
from editor import URI, Editor, EditorTest


class Messages(EditorTest):
    def test_what_is_no_request_is_refused(self):
        editor = self.editor()
        for text, code in ((b"{", -32700), (b"[]", -32600), (b'{"id": 7, "method": 3}', -32600), (b'{"id": 7, "method": "dance"}', -32601),
                           (b'{"id": 7, "method": "textDocument/hover", "params": {"textDocument": 5}}', -32602)):
            editor.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
            self.assertEqual(editor.answer()["error"]["code"], code, text)
        editor.tell("dance", {})
        self.assertEqual(editor.at("hover", 0, 0), None)  # no document, and it goes on
        editor.send_bytes(b"content-length:2\r\n\r\n[]")
        self.assertEqual(editor.answer()["error"]["code"], -32600)

    def test_requests_at_a_wrong_time(self):
        process = subprocess.Popen([dvmtest.DVM, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        editor = Editor.__new__(Editor)
        editor.process, editor.number, editor.told = process, 0, []
        self.addCleanup(editor.close)
        self.assertEqual(editor.ask("shutdown", None)["error"]["code"], -32002)
        self.assertEqual(editor.ask("textDocument/hover", {})["error"]["code"], -32002)
        editor.tell("textDocument/didOpen", {"textDocument": {"uri": URI, "text": "x"}})  # ignored
        self.assertIn("capabilities", editor.ask("initialize", {"capabilities": {}})["result"])
        self.assertEqual(editor.ask("initialize", {"capabilities": {}})["error"]["code"], -32600)
        editor.tell("$/cancelRequest", {"id": 1})
        self.assertIsNone(editor.ask("shutdown", None)["result"])
        self.assertEqual(editor.ask("textDocument/hover", {})["error"]["code"], -32600)
        editor.tell("exit", None)
        self.assertEqual(process.wait(), 0)

    def test_a_head_without_a_length_ends_it(self):
        for head in (b"\r\n", b"Content-Length: 99999999999\r\n\r\n", b"Content-Length: -1\r\n\r\n"):
            done = subprocess.run([dvmtest.DVM, "lsp"], input=head, capture_output=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, b"^dvm: a message has ")

    def test_whatever_comes_it_ends_in_order(self):
        def framed(text):
            return b"Content-Length: %d\r\n\r\n%s" % (len(text), text)

        def message(**fields):
            return framed(json.dumps({"jsonrpc": "2.0", **fields}).encode())

        begin = message(id=1, method="initialize", params={"capabilities": {}})
        end = message(id=2, method="shutdown") + message(method="exit")
        opened = message(method="textDocument/didOpen", params={"textDocument": {"uri": URI, "languageId": "d", "version": 1, "text": "BEGIN { x = " + "(" * 50000}})
        far = b"".join(message(id=3, method=f"textDocument/{what}", params={"textDocument": {"uri": URI}, "position": {"line": line, "character": line}})
                       for what in ("hover", "completion") for line in (-1, 10**9, 2**63))
        for name, text, status in (("bad JSON", begin + framed(b"{]") + end, 0), ("deep JSON", begin + framed(b"[" * 200000) + end, 0),
                                   ("no object", begin + framed(b"7") + framed(b"[]") + end, 0),
                                   ("wrong types", begin + message(id=[1], method=7) + message(id=3, method="textDocument/hover", params=7) + end, 0),
                                   ("far positions, deep script", begin + opened + far + end, 0),
                                   ("cut off", begin + b"Content-Length: 500\r\n\r\n{", 1), ("too long", b"Content-Length: 70000000\r\n\r\n", 1),
                                   ("negative", b"Content-Length: -5\r\n\r\n", 1), ("bytes", bytes(range(256)) * 20, 1)):
            with self.subTest(name):
                result = subprocess.run([dvmtest.DVM, "lsp"], input=text, capture_output=True, timeout=300, check=False)
                self.assertEqual(result.returncode, status, result.stderr)
                self.assertLessEqual(len(result.stderr.splitlines()), 1)

    def test_input_that_ends_within_a_message(self):
        result = subprocess.run([dvmtest.DVM, "lsp"], input=b"x", capture_output=True, timeout=300, check=False)
        self.assertEqual((result.returncode, result.stderr), (1, b"dvm: the input ends within a message\n"))

    def test_the_status_says_whether_it_was_shut_down(self):
        editor = self.editor()
        editor.tell("exit", None)
        self.assertEqual(editor.process.wait(), 1)


if __name__ == "__main__":
    unittest.main()
