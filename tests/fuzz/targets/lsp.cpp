// Any bytes as lines, each a message of an editor: every request is answered once, and each answer can be written.

#include <memory>
#include <sstream>

#include "cmd/lsp/server.h"
#include "tests/fuzz/fuzz_support.h"

namespace {

using dvm::cmd::lsp::Json;
using dvm::cmd::lsp::Language;

const Language& language() {
  static const std::unique_ptr<Language> opened = [] {
    auto made = Language::open({});
    dvm::fuzz::require(bool(made), "a language server needs no options");
    return *std::move(made);
  }();
  return *opened;
}

bool is_request(const Json& message) {
  return message.is_object() && message.contains("id") && message.contains("method") && message["method"].is_string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  size_t answers = 0;
  dvm::cmd::lsp::Server server(language(), [&](const Json& message) {
    (void)message.dump(-1, ' ', false, Json::error_handler_t::replace);
    answers += message.contains("id");
  });
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  for (std::string line; std::getline(lines, line) && !server.has_ended();) {
    const Json message = Json::parse(line, nullptr, false);
    if (message.is_discarded()) continue;
    answers = 0;
    server.handle(message);
    if (message.size() % 2 != 0) server.check_changes();
    if (is_request(message)) dvm::fuzz::require(answers == 1, "a request has one answer");
  }
  return 0;
}
