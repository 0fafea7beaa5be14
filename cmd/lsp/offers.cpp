// Covered by tests/runtime/scenarios/test_lsp.py.

#include "cmd/lsp/offers.h"

#include <algorithm>
#include <set>
#include <utility>

namespace dvm::cmd::lsp {
namespace {

using Kind = compiler::NameDesc::Kind;

WordKind kind_of(Kind kind) {
  if (kind == Kind::constant) return WordKind::constant;
  return kind == Kind::type ? WordKind::structure : WordKind::variable;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find(" {\n")); }

// The prefix of all names that may stand at the cursor.
std::string prefix_at(const Cursor& cursor) {
  if (cursor.context == CursorContext::member) return std::string(cursor.owner);
  return cursor.expected == Expected::tag ? std::string(cursor.keyword) + " " : "";
}

bool is_tag(std::string_view name) {
  return name.starts_with("struct ") || name.starts_with("union ") || name.starts_with("enum ");
}

bool may_stand(const compiler::NameDesc& one, const Cursor& cursor) {
  if (cursor.expected == Expected::tag) return one.kind == Kind::type;
  if (one.kind == Kind::type) return cursor.expected == Expected::value_or_type && !is_tag(one.name);
  return cursor.context != CursorContext::description;
}

// The text without the word that is being typed.
std::string without_word(std::string_view text, const Cursor& cursor, size_t offset) {
  return std::string(text.substr(0, cursor.begin)) + std::string(text.substr(offset));
}

}  // namespace

std::vector<LanguageWord> offered_names(const std::vector<compiler::NameDesc>& known, std::string_view text, const Cursor& cursor,
                                        size_t offset) {
  std::vector<LanguageWord> offers;
  std::set<std::string> labels;
  const std::string before = prefix_at(cursor);
  const auto offer = [&](const std::string& name, WordKind kind, const std::string& detail, const std::string& about) {
    if (name.size() <= before.size() || !name.starts_with(before) || !labels.insert(name).second) return;
    offers.push_back({name.substr(before.size()), kind, detail, about});
  };
  if (cursor.context == CursorContext::word && before.empty())
    for (const LanguageWord& one : words()) offer(one.name, one.kind, one.detail, one.text);
  for (const compiler::NameDesc& one : known)
    if (may_stand(one, cursor)) offer(one.name, kind_of(one.kind), first_line(one.text), "");
  if (cursor.context != CursorContext::description && cursor.expected != Expected::tag)
    for (const std::string& name : own_names(without_word(text, cursor, offset))) offer(name, WordKind::variable, "", "");
  return offers;
}

const compiler::NameDesc* find_name(const std::vector<compiler::NameDesc>& known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const compiler::NameDesc& one) { return one.name == name; });
  return found == known.end() ? nullptr : &*found;
}

}  // namespace dvm::cmd::lsp
