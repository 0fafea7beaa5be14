-- Starts dvm's language server for D scripts. Copy this file to ~/.config/nvim/plugin/dvm.lua.

local costs = vim.api.nvim_create_namespace("dvm_costs")

-- Neovim draws inlay hints since 0.10. Earlier versions get them as virtual text at the ends of their lines.
local function draw_costs(buffer, hints)
  vim.api.nvim_buf_clear_namespace(buffer, costs, 0, -1)
  for _, hint in ipairs(hints or {}) do
    local text = { { hint.label, "Comment" } }
    pcall(vim.api.nvim_buf_set_extmark, buffer, costs, hint.position.line, 0, { virt_text = text })
  end
end

local function ask_for_costs(client, uri)
  local buffer = vim.uri_to_bufnr(uri)
  local whole = {
    start = { line = 0, character = 0 },
    ["end"] = { line = vim.api.nvim_buf_line_count(buffer), character = 0 },
  }
  client.request("textDocument/inlayHint", { textDocument = { uri = uri }, range = whole }, function(_, hints)
    if vim.api.nvim_buf_is_loaded(buffer) then draw_costs(buffer, hints) end
  end, buffer)
end

-- The server publishes diagnostics after each change, and has new costs then.
local handlers = {}
if not vim.lsp.inlay_hint then
  handlers["textDocument/publishDiagnostics"] = function(err, result, context, config)
    vim.lsp.diagnostic.on_publish_diagnostics(err, result, context, config)
    local client = vim.lsp.get_client_by_id(context.client_id)
    if client and result then ask_for_costs(client, result.uri) end
  end
end

local function show_costs(_, buffer)
  if vim.lsp.inlay_hint then vim.lsp.inlay_hint.enable(true, { bufnr = buffer }) end
end

local config = { name = "dvm", cmd = { "dvm", "lsp" }, handlers = handlers, on_attach = show_costs }
local server -- one for all buffers, before Neovim 0.8
local function start()
  if vim.lsp.start then return vim.lsp.start(config) end
  if not (server and vim.lsp.get_client_by_id(server)) then server = vim.lsp.start_client(config) end
  if server then vim.lsp.buf_attach_client(0, server) end
  return server
end

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = "*.d",
  callback = function()
    if start() then vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc" end
  end,
})
