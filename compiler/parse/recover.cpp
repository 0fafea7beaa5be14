// Recovery from syntax errors. Tests: tests/golden/parse (err.D_SYNTAX.*), tests/golden/sema (err.D_SYNTAX.ten.d).
#include "compiler/parse/recover.h"

#include <fmt/format.h>

#include <algorithm>

#include "DParser.h"

namespace dvm::compiler {

using Kind = grammar::DParser;

ItemTokens::ItemTokens(std::vector<Token>& file, size_t begin, size_t end) : end_(&file.back()) {
  for (size_t i = begin; i <= end && i < file.size(); i++)
    if (file[i].type() != Kind::DIRECTIVE && file[i].type() != Token::EOF) tokens_.push_back(&file[i]);
}

Token* ItemTokens::LT(ssize_t k) {
  if (k > 0) return get(at_ + static_cast<size_t>(k) - 1);
  return k == 0 || static_cast<size_t>(-k) > at_ ? nullptr : get(at_ - static_cast<size_t>(-k));
}

const Token* ItemTokens::before(const antlr4::Token& token) const {
  const auto it = std::find(tokens_.begin(), tokens_.end(), &token);
  return it == tokens_.begin() || it == tokens_.end() ? nullptr : *std::prev(it);
}

size_t ItemTokens::kind(size_t i) const { return get(i)->type(); }

size_t ItemTokens::find(size_t wanted, size_t from) const {
  while (from < tokens_.size() && kind(from) != wanted) from++;
  return from;
}

bool ItemTokens::is_clause() const { return kind(0) == Kind::PROBE || kind(0) == Kind::INTEGER; }

bool ItemTokens::is_boundary(size_t i) const {
  return kind(i) == Kind::SEMI || kind(i) == Kind::LBRACE || kind(i) == Kind::RBRACE;
}

bool ItemTokens::leave_out(size_t at) {
  size_t i = 0;
  while (i < tokens_.size() && tokens_[i]->index() < at) i++;
  const size_t body = find(Kind::LBRACE, 0);
  if (body == tokens_.size()) return false;
  if (is_clause() && i <= body) return take_header(i, body);
  return i > body && take_part(i);
}

// Before the body: the predicate, or what stands between the descriptions and the body.
bool ItemTokens::take_header(size_t at, size_t body) {
  const size_t predicate = std::min(find(Kind::SLASH, 0), body);
  if (at >= predicate && predicate > 0) return take_away(predicate, body);
  return at > 0 && take_away(at, predicate);
}

// Within the body: what stands between two ends of statements or members.
bool ItemTokens::take_part(size_t at) {
  size_t from = std::min(at, tokens_.size());
  if (from > 0 && (from == tokens_.size() || kind(from) == Kind::SEMI || kind(from) == Kind::RBRACE) && !is_boundary(from - 1))
    from--;
  while (from > 0 && !is_boundary(from) && !is_boundary(from - 1)) from--;
  if (kind(from) == Kind::RBRACE) return false;
  // A block where none belongs: the '}' before it is missing, and what belongs to what is anyone's guess.
  if (kind(at) == Kind::LBRACE && kind(from) != Kind::IF && kind(from) != Kind::ELSE) return false;
  return take_away(from, end_of_part(from));
}

// With its ';', or with its blocks and what follows them by else.
size_t ItemTokens::end_of_part(size_t from) const {
  size_t i = end_of_loop_header(from);
  while (i < tokens_.size() && !is_boundary(i)) i++;
  if (kind(i) == Kind::SEMI) return i + 1;
  if (kind(i) != Kind::LBRACE) return i;
  i = end_of_block(i);
  return kind(i) == Kind::ELSE ? end_of_part(i) : i;
}

// What C would write between the parentheses of a loop is one part, ';' and all.
size_t ItemTokens::end_of_loop_header(size_t from) const {
  if (kind(from) != Kind::RESERVED || kind(from + 1) != Kind::LPAREN) return from;
  const size_t end = find(Kind::RPAREN, from), body = find(Kind::LBRACE, from);
  return end < body ? end : from;
}

size_t ItemTokens::end_of_block(size_t brace) const {
  unsigned depth = 0;
  for (size_t i = brace; i < tokens_.size(); i++) {
    if (kind(i) == Kind::LBRACE) depth++;
    if (kind(i) == Kind::RBRACE && --depth == 0) return i + 1;
  }
  return tokens_.size();
}

bool ItemTokens::take_away(size_t from, size_t to) {
  if (from >= to || to > tokens_.size()) return false;
  for (size_t i = from; i < to; i++) note_name(i);
  tokens_.erase(tokens_.begin() + static_cast<std::ptrdiff_t>(from), tokens_.begin() + static_cast<std::ptrdiff_t>(to));
  return true;
}

void ItemTokens::note_names() {
  for (size_t i = 0; i < tokens_.size(); i++) note_name(i);
}

void ItemTokens::note_name(size_t i) {
  if (kind(i) != Kind::IDENTIFIER) return;
  const bool is_scoped = i >= 2 && kind(i - 1) == Kind::ARROW && (kind(i - 2) == Kind::SELF || kind(i - 2) == Kind::THIS);
  const dif::Scope scope = !is_scoped ? dif::Scope::global : kind(i - 2) == Kind::SELF ? dif::Scope::thread : dif::Scope::clause;
  names.emplace_back(scope, tokens_[i]->getText());
}

namespace {

// Tokens that together mean one thing to people.
struct Group {
  std::vector<size_t> needed;
  std::vector<size_t> covered;
  const char* words;
};

const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups = {
      {{Kind::IDENTIFIER, Kind::INTEGER, Kind::STRING}, {Kind::LPAREN}, "an expression"},
      {{Kind::PLUS, Kind::STAR, Kind::SLASH},
       {Kind::LESS, Kind::GREATER, Kind::ASSIGN, Kind::QUESTION, Kind::LBRACKET},
       "an operator"},
      {{Kind::BASIC_TYPE, Kind::STRUCT}, {}, "a type"},
      {{Kind::IDENTIFIER}, {}, "a name"},
      {{Kind::PROBE}, {}, "a probe description"},
      {{Kind::SEMI}, {}, "';'"},
      {{Kind::COMMA}, {}, "','"},
      {{Kind::LPAREN}, {}, "'('"},
      {{Kind::RPAREN}, {}, "')'"},
      {{Kind::LBRACKET}, {}, "'['"},
      {{Kind::RBRACKET}, {}, "']'"},
      {{Kind::LBRACE}, {}, "'{'"},
      {{Kind::RBRACE}, {}, "'}'"},
      {{Kind::COLON}, {}, "':'"},
      {{Kind::ASSIGN}, {}, "'='"},
      {{Kind::LESS}, {}, "'<'"},
      {{Kind::GREATER}, {}, "'>'"},
      {{Kind::ARROW}, {}, "'->'"},
      {{Kind::SLASH}, {}, "'/'"},
  };
  return kGroups;
}

}  // namespace

std::string expected(const antlr4::misc::IntervalSet& kinds) {
  std::vector<size_t> covered;
  std::vector<std::string> words;
  const auto is_open = [&](size_t kind) {
    return kinds.contains(kind) && std::find(covered.begin(), covered.end(), kind) == covered.end();
  };
  for (const Group& group : groups()) {
    if (!std::all_of(group.needed.begin(), group.needed.end(), is_open)) continue;
    words.emplace_back(group.words);
    covered.insert(covered.end(), group.needed.begin(), group.needed.end());
    covered.insert(covered.end(), group.covered.begin(), group.covered.end());
    // After a whole operand an operator may follow anywhere: '->' is one of them.
    if (group.needed.size() == 3) covered.push_back(Kind::ARROW);
  }
  if (words.empty() || words.size() > 5) return "";
  std::string text = "expected " + words[0];
  for (size_t i = 1; i < words.size(); i++) text += (i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

}  // namespace dvm::compiler
