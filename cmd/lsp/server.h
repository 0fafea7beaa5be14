#pragma once
// The language server: answers the messages of an editor. docs/manual/editors.md says what it can do.

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cmd/lsp/language.h"
#include "cmd/lsp/occurrences.h"

namespace dvm::cmd::lsp {

using Json = nlohmann::ordered_json;

class Server {
 public:
  using Send = std::function<void(const Json&)>;
  Server(const Language& language, Send send) : language_(language), send_(std::move(send)) {}

  // Answers a message, of any shape at all. Requests that it does not know get an error, notifications are ignored.
  void handle(const Json& message);
  // Takes a text that is no message.
  void refuse(const std::string& problem);
  // Whether a document has changed since it was checked.
  bool has_changes() const { return !changed_.empty(); }
  // Checks such documents and sends what is wrong in them. handle() does so before any message but another change.
  void check_changes();
  // Whether the editor has sent exit. The exit status is 1 if it had not sent shutdown before.
  bool has_ended() const { return has_ended_; }
  int status() const { return is_shut_down_ ? 0 : 1; }

 private:
  struct Open {
    Document document;
    Checked checked;
  };
  using Handler = Json (Server::*)(const Json& parameters);
  static const std::map<std::string, Handler>& requests();
  static const std::map<std::string, Handler>& notifications();

  Json initialize(const Json& parameters);
  Json initialized(const Json& parameters);
  Json shutdown(const Json& parameters);
  Json exit(const Json& parameters);
  Json did_open(const Json& parameters);
  Json did_change(const Json& parameters);
  Json did_close(const Json& parameters);
  Json completion(const Json& parameters);
  Json hover(const Json& parameters);
  Json inlay_hints(const Json& parameters);
  Json definition(const Json& parameters);
  Json references(const Json& parameters);
  Json prepare_rename(const Json& parameters);
  Json rename(const Json& parameters);

  // The error code of a method at a wrong time; 0: the time is right.
  std::pair<int, const char*> misplaced(const std::string& method) const;
  void take(const std::string& uri, Document document);
  void check(const std::string& uri, Open& open);
  Open* find(const Json& parameters);
  // Where a script means the name at a position, if it declares it; nothing: it does not.
  std::vector<Occurrence> own_occurrences(const Document& document, const Json& parameters) const;
  // Why a script cannot be changed like this; empty: it can.
  std::string objection(const Open& open, const std::string& uri, const std::string& to, const std::string& changed) const;
  Json range(const Document& document, size_t begin, size_t end) const;
  Json diagnostic(const Document& document, const compiler::Diagnostic& one) const;
  Json items(const Open& open, const std::string& uri, const Cursor& cursor, size_t offset) const;

  // What a word is, as Markdown; empty: it is not known.
  std::string about_word(const Open& open, const std::string& uri, std::string_view word) const;

  const Language& language_;
  Send send_;
  std::map<std::string, Open> documents_;  // by URI
  std::set<std::string> changed_;          // of these
  bool in_bytes_ = false, is_initialized_ = false, is_shut_down_ = false, has_ended_ = false;
};

}  // namespace dvm::cmd::lsp
