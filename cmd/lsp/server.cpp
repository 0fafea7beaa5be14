// Covered by tests/runtime/scenarios/test_lsp.py and the fuzz target lsp.

#include "cmd/lsp/server.h"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/lsp/words.h"

namespace dvm::cmd::lsp {
namespace {

// Error codes of JSON-RPC.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602;
constexpr int kError = 1, kWarning = 2, kFullText = 1;
constexpr size_t kMostItems = 1000;

Json item(const std::string& label, WordKind kind, const std::string& detail, const std::string& text) {
  Json made = {{"label", label}, {"kind", static_cast<int>(kind)}};
  if (!detail.empty()) made["detail"] = detail;
  if (!text.empty()) made["documentation"] = text;
  return made;
}

Json item(const Word& word) { return item(word.name, word.kind, word.detail, word.text); }

std::string spelled(const dif::Variable& variable) {
  constexpr const char* kScopes[] = {"", "self->", "this->"};
  return kScopes[static_cast<size_t>(variable.scope)] + variable.name;
}

// As its detail has it, which names a function and not a variable.
std::string declaration(const Word& word) {
  return word.kind == WordKind::variable ? fmt::format("{} {}", word.detail, word.name) : word.detail;
}

Position position_of(const Json& parameters) {
  const Json& position = parameters.at("position");
  return {position.at("line").get<size_t>(), position.at("character").get<size_t>()};
}

std::string uri_of(const Json& parameters) { return parameters.at("textDocument").at("uri").get<std::string>(); }

Json error(const Json& id, int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

}  // namespace

const std::map<std::string, Server::Answer>& Server::requests() {
  static const std::map<std::string, Answer> all = {{"initialize", &Server::initialize},
                                                    {"shutdown", &Server::shutdown},
                                                    {"textDocument/completion", &Server::completion},
                                                    {"textDocument/hover", &Server::hover},
                                                    {"textDocument/inlayHint", &Server::inlay_hints}};
  return all;
}

const std::map<std::string, Server::Answer>& Server::notifications() {
  static const std::map<std::string, Answer> all = {{"initialized", &Server::initialized},
                                                    {"exit", &Server::exit},
                                                    {"textDocument/didOpen", &Server::did_open},
                                                    {"textDocument/didChange", &Server::did_change},
                                                    {"textDocument/didClose", &Server::did_close}};
  return all;
}

void Server::refuse(const std::string& problem) { send_(error(nullptr, kParseError, problem)); }

void Server::handle(const Json& message) {
  const bool is_object = message.is_object();
  if (is_object && message.contains("id") && !message.contains("method")) return;  // an answer, and nothing was asked
  const Json id = is_object && message.contains("id") ? message["id"] : Json();
  if (!is_object || !message.contains("method") || !message["method"].is_string())
    return send_(error(id, kInvalidRequest, "a message must be an object with a method"));
  const auto& known = message.contains("id") ? requests() : notifications();
  const auto found = known.find(message["method"].get<std::string>());
  if (found == known.end()) {
    if (message.contains("id"))
      send_(error(id, kMethodNotFound, fmt::format("there is no {}", message["method"].get<std::string>())));
    return;
  }
  try {
    const Json result = (this->*found->second)(message.value("params", Json::object()));
    if (message.contains("id")) send_({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
  } catch (const Json::exception& wrong) {
    if (message.contains("id")) send_(error(id, kInvalidParams, wrong.what()));
  }
}


}  // namespace dvm::cmd::lsp
