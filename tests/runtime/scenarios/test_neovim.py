"""editors/neovim.lua in Neovim: what a user sees of dvm lsp."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from dvmtest import DVM, ENV, ROOT, skip_or_fail

SCRIPT = """\
syscall::read:entry
{
\t@n[execname] = count();
}

proc:::exit
{
\tprintf("%s\\n", curpsinfo->pr_fname);
\tbad = nosuch(1);
}
"""
PROFILE = ('{"dvm_profile": 1, "name": "test", "machine": "any", "clock_hz": 1e9, '
           '"prices": {"aggregation": {"count": {"m": 1500}}, "source": {"tracepoint": {"trigger": {"m": 1}}}}}')
# Prints one JSON object a line. A row is counted from 0.
SESSION = r"""
local function say(what, value) io.stdout:write(vim.json.encode({ [what] = value }) .. '\n') end
local function ask(method, row, column, name)
  local about = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = row, character = column }, newName = name }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, about, 60000) or {}) do return answer.result end
end
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 20)
say('diagnostics', vim.tbl_map(function(one) return { one.lnum, one.message } end, vim.diagnostic.get(0)))
say('hover', ask('textDocument/hover', 2, 17).contents.value)
local found = ask('textDocument/completion', 7, 29)
say('members', vim.tbl_map(function(one) return one.label end, found.items or found))
say('omnifunc', vim.bo.omnifunc)
local function costs()
  if vim.lsp.inlay_hint then
    return vim.tbl_map(function(one) return { one.inlay_hint.position.line, one.inlay_hint.label } end, vim.lsp.inlay_hint.get({ bufnr = 0 }))
  end
  local marks = vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('dvm_costs'), 0, -1, { details = true })
  return vim.tbl_map(function(one) return { one[2], one[4].virt_text[1][1] } end, marks)
end
vim.api.nvim_buf_set_lines(0, 8, 9, false, { '\tgood = 1;' })
vim.wait(60000, function() return #vim.diagnostic.get(0) == 0 end, 20)
say('left', #vim.diagnostic.get(0))
vim.wait(60000, function() return #costs() > 0 end, 20)
say('costs', costs())
say('definition', ask('textDocument/definition', 2, 2).range.start)
vim.lsp.util.apply_workspace_edit(ask('textDocument/rename', 2, 2, 'reads'), 'utf-16')
vim.api.nvim_win_set_cursor(0, { 9, 1 })
vim.lsp.buf.rename('best')
vim.wait(60000, function() return vim.api.nvim_buf_get_lines(0, 8, 9, false)[1] ~= '\tgood = 1;' end, 20)
say('renamed', { vim.api.nvim_buf_get_lines(0, 2, 3, false)[1], vim.api.nvim_buf_get_lines(0, 8, 9, false)[1] })
vim.bo.modified = false
vim.cmd('edit b.d')
local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
say('shared', #clients())
vim.lsp.stop_client(clients())
vim.wait(60000, function() return #clients() == 0 end, 20)
say('clients', #clients())
"""


class NeovimTest(unittest.TestCase):
    def test_a_session(self):
        if not shutil.which("nvim"):
            skip_or_fail(self, "needs Neovim")
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "a.d").write_text(SCRIPT)
        (folder / "session.lua").write_text(SESSION)
        (folder / "dvm").symlink_to(os.path.realpath(DVM))  # the file for users starts "dvm"
        (folder / "config/dvm").mkdir(parents=True)
        (folder / "config/dvm/profile.json").write_text(PROFILE)
        environment = dict(ENV, PATH=f"{folder}:{os.environ['PATH']}", HOME=str(folder), XDG_STATE_HOME=str(folder), XDG_DATA_HOME=str(folder),
                           XDG_CONFIG_HOME=str(folder / "config"))
        command = ["nvim", "--headless", "-u", str(ROOT / "editors/neovim.lua"), "a.d", "-c", "luafile session.lua", "-c", "qa!"]
        result = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
        said = {}
        for line in result.stdout.splitlines():
            said.update(json.loads(line))
        self.assertEqual(said.get("diagnostics"), [[8, "undefined function name: nosuch"]], result.stderr)
        self.assertIn("the number of calls", said["hover"])
        self.assertIn("pr_fname", said["members"])
        self.assertEqual([row for row, _ in said["costs"]], [0, 5])
        self.assertRegex(said["costs"][0][1], r"^1\.5 us of \d")
        self.assertEqual(said["definition"], {"line": 2, "character": 2})
        self.assertEqual(said["renamed"], ["\t@reads[execname] = count();", "\tbest = 1;"])
        self.assertEqual(said["shared"], 1)
        self.assertEqual((said["omnifunc"], said["left"], said["clients"]), ("v:lua.vim.lsp.omnifunc", 0, 0))


if __name__ == "__main__":
    unittest.main()
