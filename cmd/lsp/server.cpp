// Covered by tests/runtime/scenarios/test_lsp.py and the fuzz target lsp.

#include "cmd/lsp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "cmd/lsp/offers.h"
#include "cmd/lsp/words.h"

namespace dvm::cmd::lsp {
namespace {

// Error codes of JSON-RPC.
constexpr int kParseError = -32700, kInvalidRequest = -32600, kMethodNotFound = -32601, kInvalidParams = -32602,
              kNotInitialized = -32002, kRequestFailed = -32803;
constexpr int kError = 1, kWarning = 2, kIncremental = 2;
constexpr size_t kMostItems = 1000;

// A request that is well-formed, but cannot be done.
struct RequestFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Json item(const std::string& label, WordKind kind, const std::string& detail, const std::string& text) {
  Json made = {{"label", label}, {"kind", static_cast<int>(kind)}};
  if (!detail.empty()) made["detail"] = detail;
  if (!text.empty()) made["documentation"] = text;
  return made;
}

Json item(const LanguageWord& word) { return item(word.name, word.kind, word.detail, word.text); }

// As its detail has it, which names a function and not a variable.
std::string declaration(const LanguageWord& word) {
  return word.kind == WordKind::variable ? fmt::format("{} {}", word.detail, word.name) : word.detail;
}

TextPosition position_of(const Json& parameters, const char* name = "position") {
  const Json& position = parameters.at(name);
  return {position.at("line").get<size_t>(), position.at("character").get<size_t>()};
}

// A change without a range is the whole text.
void apply(Document& document, const Json& change) {
  const auto text = change.at("text").get<std::string>();
  if (!change.contains("range")) return document.replace(0, document.text().size(), text);
  const Json& range = change["range"];
  const size_t begin = document.offset_of(position_of(range, "start")), end = document.offset_of(position_of(range, "end"));
  document.replace(begin, end, text);
}

// The path of a file; of another document its URI.
std::string path_of(const std::string& uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return uri;
  std::string path;
  for (size_t at = kScheme.size(); at < uri.size(); at++) {
    unsigned code = 0;
    const char* const digits = uri.data() + at + 1;
    const bool is_coded =
        uri[at] == '%' && at + 2 < uri.size() && std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2;
    path += is_coded ? static_cast<char>(code) : uri[at];
    at += is_coded ? 2 : 0;
  }
  return path;
}

std::string uri_of(const Json& parameters) { return parameters.at("textDocument").at("uri").get<std::string>(); }

Json error(const Json& id, int code, const std::string& message) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}};
}

}  // namespace

const std::map<std::string, Server::Handler>& Server::requests() {
  static const std::map<std::string, Handler> all = {{"initialize", &Server::initialize},
                                                     {"shutdown", &Server::shutdown},
                                                     {"textDocument/completion", &Server::completion},
                                                     {"textDocument/hover", &Server::hover},
                                                     {"textDocument/inlayHint", &Server::inlay_hints},
                                                     {"textDocument/definition", &Server::definition},
                                                     {"textDocument/references", &Server::references},
                                                     {"textDocument/prepareRename", &Server::prepare_rename},
                                                     {"textDocument/rename", &Server::rename}};
  return all;
}

const std::map<std::string, Server::Handler>& Server::notifications() {
  static const std::map<std::string, Handler> all = {{"initialized", &Server::initialized},
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
  const auto method = message["method"].get<std::string>();
  if (const auto [code, problem] = misplaced(method); code != 0) {
    if (message.contains("id")) send_(error(id, code, problem));
    return;
  }
  if (method != "textDocument/didChange") check_changes();
  const auto found = known.find(method);
  if (found == known.end()) {
    if (message.contains("id")) send_(error(id, kMethodNotFound, fmt::format("there is no {}", method)));
    return;
  }
  try {
    const Json result = (this->*found->second)(message.value("params", Json::object()));
    if (message.contains("id")) send_({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
  } catch (const RequestFailed& failed) {
    if (message.contains("id")) send_(error(id, kRequestFailed, failed.what()));
  } catch (const Json::exception& wrong) {
    if (message.contains("id")) send_(error(id, kInvalidParams, wrong.what()));
  }
}

std::pair<int, const char*> Server::misplaced(const std::string& method) const {
  if (method == "exit") return {};
  if (is_shut_down_) return {kInvalidRequest, "the server was shut down"};
  if (method == "initialize" && is_initialized_) return {kInvalidRequest, "the server is initialized already"};
  if (method != "initialize" && !is_initialized_) return {kNotInitialized, "the server is not initialized yet"};
  return {};
}

Json Server::initialize(const Json& parameters) {
  is_initialized_ = true;
  const Json encodings = parameters.value(Json::json_pointer("/capabilities/general/positionEncodings"), Json::array());
  in_bytes_ = std::find(encodings.begin(), encodings.end(), "utf-8") != encodings.end();
  const Json completion = {{"triggerCharacters", {":", ">", ".", "@", "$"}}};
  return {{"serverInfo", {{"name", "dvm"}}},
          {"capabilities",
           {{"positionEncoding", in_bytes_ ? "utf-8" : "utf-16"},
            {"textDocumentSync", {{"openClose", true}, {"change", kIncremental}}},
            {"completionProvider", completion},
            {"hoverProvider", true},
            {"inlayHintProvider", true},
            {"definitionProvider", true},
            {"referencesProvider", true},
            {"renameProvider", {{"prepareProvider", true}}}}}};
}

Json Server::initialized(const Json&) {
  constexpr int kInfo = 3;
  if (!language_.no_costs().empty())
    send_({{"jsonrpc", "2.0"},
           {"method", "window/logMessage"},
           {"params", {{"type", kInfo}, {"message", fmt::format("no costs are shown: {}", language_.no_costs())}}}});
  return {};
}

Json Server::shutdown(const Json&) {
  is_shut_down_ = true;
  return {};
}

Json Server::exit(const Json&) {
  has_ended_ = true;
  return {};
}

Json Server::did_open(const Json& parameters) {
  const std::string uri = uri_of(parameters);
  take(uri, Document(parameters.at("textDocument").at("text").get<std::string>(), in_bytes_));
  check_changes();
  return {};
}

Json Server::did_change(const Json& parameters) {
  const std::string uri = uri_of(parameters);
  const auto open = documents_.find(uri);
  Document changed = open != documents_.end() ? open->second.document : Document({}, in_bytes_);
  for (const Json& change : parameters.at("contentChanges")) apply(changed, change);
  take(uri, std::move(changed));
  return {};
}

Json Server::did_close(const Json& parameters) {
  documents_.erase(uri_of(parameters));
  return {};
}

void Server::take(const std::string& uri, Document document) {
  if (const auto open = documents_.find(uri); open != documents_.end())
    open->second.document = std::move(document);
  else
    documents_.emplace(uri, Open{std::move(document), {}});
  changed_.insert(uri);
}

void Server::check_changes() {
  for (const std::string& uri : changed_) check(uri, documents_.at(uri));
  changed_.clear();
}

void Server::check(const std::string& uri, Open& open) {
  Checked checked = language_.check(path_of(uri), open.document.text());
  Json list = Json::array();
  for (const compiler::Diagnostic& one : checked.diagnostics) list.push_back(diagnostic(open.document, one));
  // While a clause is typed, it has an error, and declares nothing. Names that it declared before stay known.
  if (!checked.diagnostics.empty())
    for (compiler::NameDesc& one : open.checked.names)
      if (find_name(checked.names, one.name) == nullptr) checked.names.push_back(std::move(one));
  open.checked = std::move(checked);
  send_({{"jsonrpc", "2.0"}, {"method", "textDocument/publishDiagnostics"}, {"params", {{"uri", uri}, {"diagnostics", list}}}});
}

Server::Open* Server::find(const Json& parameters) {
  const auto found = documents_.find(uri_of(parameters));
  return found == documents_.end() ? nullptr : &found->second;
}

Json Server::range(const Document& document, size_t begin, size_t end) const {
  const TextPosition from = document.position_of(begin), to = document.position_of(end);
  return {{"start", {{"line", from.line}, {"character", from.character}}},
          {"end", {{"line", to.line}, {"character", to.character}}}};
}

Json Server::diagnostic(const Document& document, const compiler::Diagnostic& one) const {
  const size_t begin = document.offset_of_column(one.line, one.column);
  std::string message = one.message;
  for (const std::string& hint : one.hints) message += "\n" + hint;
  return {{"range", range(document, begin, std::min(begin + one.length, document.text().size()))},
          {"severity", one.severity == compiler::Severity::error ? kError : kWarning},
          {"code", one.tag},
          {"source", "dvm"},
          {"message", message}};
}

Json Server::completion(const Json& parameters) {
  const Open* open = find(parameters);
  if (open == nullptr) return Json::array();
  const size_t offset = open->document.offset_of(position_of(parameters));
  const Cursor cursor = look_at(open->document.text(), offset);
  Json list = items(*open, uri_of(parameters), cursor, offset);
  const bool is_cut = list.size() > kMostItems;
  if (is_cut) list.erase(list.begin() + kMostItems, list.end());
  const Json replaced = range(open->document, cursor.begin, offset);
  for (Json& one : list) one["textEdit"] = {{"range", replaced}, {"newText", one["label"]}};
  return {{"isIncomplete", is_cut || cursor.context == CursorContext::description}, {"items", list}};
}

Json Server::items(const Open& open, const std::string& uri, const Cursor& cursor, size_t offset) const {
  const std::string& text = open.document.text();
  Json list = Json::array();
  if (cursor.context == CursorContext::member)
    for (const compiler::MemberOfType& one : language_.members(path_of(uri), text, cursor))
      list.push_back(item(one.name, WordKind::property, one.type, ""));
  if (cursor.context == CursorContext::pragma)
    for (const LanguageWord& one : options()) list.push_back(item(one));
  const bool is_scope = cursor.owner == "self->" || cursor.owner == "this->";
  const bool has_names = cursor.context == CursorContext::word || (cursor.context == CursorContext::member && is_scope) ||
                         (cursor.context == CursorContext::description && cursor.expected != Expected::value);
  if (has_names)
    for (const LanguageWord& one : offered_names(open.checked.names, text, cursor, offset)) list.push_back(item(one));
  if (cursor.context == CursorContext::description)  // behind types, since there may be more than fit
    for (const std::string& one : language_.descriptions(text.substr(cursor.begin, offset - cursor.begin)))
      list.push_back(item(one, WordKind::constant, "", ""));
  return list;
}

Json Server::hover(const Json& parameters) {
  const Open* open = find(parameters);
  if (open == nullptr) return {};
  const std::string& text = open->document.text();
  const size_t offset = open->document.offset_of(position_of(parameters));
  if (look_at(text, offset).context == CursorContext::nothing) return {};
  std::string_view what = word_at(text, offset);
  std::string about = about_word(*open, uri_of(parameters), what);
  if (const Cursor cursor = look_at(text, offset); about.empty() && cursor.context == CursorContext::description) {
    what = description_at(text, cursor.begin);
    if (const std::string known = what.empty() ? std::string() : language_.about_probes(std::string(what)); !known.empty())
      about = fmt::format("```\n{}\n```\n{}", what, known);
  }
  if (about.empty()) return {};
  const auto begin = static_cast<size_t>(what.data() - text.data());
  return {{"contents", {{"kind", "markdown"}, {"value", about}}}, {"range", range(open->document, begin, begin + what.size())}};
}

std::string Server::about_word(const Open& open, const std::string& uri, std::string_view word) const {
  if (word.empty()) return "";
  const std::string& text = open.document.text();
  const Cursor cursor = look_at(text, static_cast<size_t>(word.data() - text.data()) + word.size());
  if (cursor.context == CursorContext::member && word.find("->") == word.npos) {
    for (const compiler::MemberOfType& one : language_.members(path_of(uri), text, cursor))
      if (one.name == word) return fmt::format("```\n{} {}{}\n```", one.type, cursor.owner, one.name);
    return "";
  }
  const bool is_pragma = cursor.context == CursorContext::pragma;
  if (const LanguageWord* found = find_word(is_pragma ? options() : words(), word))
    return fmt::format("```\n{}\n```\n{}", declaration(*found), found->text);
  const std::string tag = fmt::format("{} {}", cursor.keyword, word);
  const compiler::NameDesc* found = find_name(open.checked.names, cursor.expected == Expected::tag ? tag : word);
  return found != nullptr ? fmt::format("```\n{}\n```", found->text) : "";
}

Json Server::inlay_hints(const Json& parameters) {
  const Open* open = find(parameters);
  Json list = Json::array();
  if (open == nullptr) return list;
  for (const ClauseCost& one : open->checked.costs) {
    const TextPosition at = open->document.position_of(open->document.end_of_line(one.line));
    list.push_back({{"position", {{"line", at.line}, {"character", at.character}}}, {"label", one.text}, {"paddingLeft", true}});
  }
  return list;
}

std::vector<Occurrence> Server::own_occurrences(const Document& document, const Json& parameters) const {
  const std::string& text = document.text();
  const std::string name = name_at(text, document.offset_of(position_of(parameters)));
  if (bare_name(name).empty()) return {};
  std::vector<Occurrence> all = occurrences(text, name);
  return declaration(text, all) != nullptr ? all : std::vector<Occurrence>();
}

Json Server::definition(const Json& parameters) {
  const Open* open = find(parameters);
  if (open == nullptr) return {};
  const std::vector<Occurrence> all = own_occurrences(open->document, parameters);
  if (all.empty()) return {};
  const Occurrence& found = *declaration(open->document.text(), all);
  return {{"uri", uri_of(parameters)}, {"range", range(open->document, found.begin, found.begin + found.size)}};
}

Json Server::references(const Json& parameters) {
  const Open* open = find(parameters);
  Json list = Json::array();
  if (open == nullptr) return list;
  for (const Occurrence& one : own_occurrences(open->document, parameters))
    list.push_back({{"uri", uri_of(parameters)}, {"range", range(open->document, one.begin, one.begin + one.size)}});
  return list;
}

// Nothing: what is there is not a name of the script.
Json Server::prepare_rename(const Json& parameters) {
  const Open* open = find(parameters);
  if (open == nullptr) return {};
  const size_t offset = open->document.offset_of(position_of(parameters));
  for (const Occurrence& one : own_occurrences(open->document, parameters))
    if (offset <= one.begin + one.size && offset + one.size >= one.begin)
      return range(open->document, one.begin, one.begin + one.size);
  return {};
}

std::string Server::objection(const Open& open, const std::string& uri, const std::string& to, const std::string& changed) const {
  if (find_name(open.checked.names, to) != nullptr || find_word(words(), to) != nullptr ||
      !occurrences(open.document.text(), to).empty())
    return fmt::format("there is a {} already", to);
  const auto errors = [](const std::vector<compiler::Diagnostic>& all) {
    return std::count_if(all.begin(), all.end(), [](const auto& one) { return one.severity == compiler::Severity::error; });
  };
  const std::vector<compiler::Diagnostic> after = language_.check(path_of(uri), changed).diagnostics;
  return errors(after) > errors(open.checked.diagnostics) ? fmt::format("the script would have an error: {}", after[0].message)
                                                          : "";
}

Json Server::rename(const Json& parameters) {
  const Open* open = find(parameters);
  const std::vector<Occurrence> all = open ? own_occurrences(open->document, parameters) : std::vector<Occurrence>();
  if (all.empty()) throw RequestFailed("the script declares no name there");
  const std::string& text = open->document.text();
  const std::string from = name_at(text, open->document.offset_of(position_of(parameters)));
  const std::string scope = from.substr(0, from.size() - bare_name(from).size());
  const std::string to(bare_name(parameters.at("newName").get<std::string>()));
  if (!is_identifier(to)) throw RequestFailed(fmt::format("'{}' is not a name", to));
  if (scope + to == from) return {{"changes", Json::object()}};
  if (const size_t line = directive_with(text, from); line != 0)
    throw RequestFailed(fmt::format("the directive of line {} uses this name, and directives are not changed", line));
  Json edits = Json::array();
  std::string changed;
  size_t end = 0;  // of what has been copied
  for (const Occurrence& one : all) {
    changed.append(text, end, one.begin - end).append(to);
    end = one.begin + one.size;
    edits.push_back({{"range", range(open->document, one.begin, end)}, {"newText", to}});
  }
  changed.append(text, end);
  if (const std::string problem = objection(*open, uri_of(parameters), scope + to, changed); !problem.empty())
    throw RequestFailed(problem);
  return {{"changes", {{uri_of(parameters), edits}}}};
}

}  // namespace dvm::cmd::lsp
