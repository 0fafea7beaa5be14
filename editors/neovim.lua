-- Starts dvm's language server for D scripts. Copy this file to ~/.config/nvim/plugin/dvm.lua.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  pattern = "*.d",
  callback = function()
    local client = vim.lsp.start_client({ name = "dvm", cmd = { "dvm", "lsp" } })
    if client then
      vim.lsp.buf_attach_client(0, client)
      vim.bo.omnifunc = "v:lua.vim.lsp.omnifunc"
    end
  end,
})
