// Tested by tests/unit/cmd/document_test.cpp.

#include "cmd/lsp/document.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <set>

namespace dvm::cmd::lsp {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
// UTF-16 units of the character that begins with this byte.
size_t units_of(char first) { return static_cast<unsigned char>(first) >= 0xf0 ? 2 : 1; }

// Reads a script from its beginning, and keeps what matters at the place where it stops.
class CursorReader {
 public:
  explicit CursorReader(std::string_view text) : text_(text) {}

  // Reads on to a later place. A comment, quoted text or directive that goes beyond it is read again the next time.
  void read_to(size_t end) {
    text_ = std::string_view(text_.data(), end);
    is_cut_ = false, cursor_.context = CursorContext::nothing, cursor_.begin = 0;
    while (at_ < end) {
      const size_t token = at_;
      step();
      if (is_cut_) return at_ = token, void();
    }
  }
  Cursor cursor() const { return CursorReader(*this).finish(); }

 private:
  Cursor finish() {
    if (is_cut_) return cursor_;
    if (depth_ == 0 && !in_predicate_) return description();
    cursor_.begin = word_begin(text_.size());
    cursor_.context = CursorContext::word;
    find_owner();
    find_expected();
    return cursor_;
  }

  void step() {
    const char c = text_[at_];
    if (text_.substr(at_, 2) == "/*") return skip("*/", 2);
    if (text_.substr(at_, 2) == "//" && depth_ > 0) return skip("\n", 2);
    if (c == '"' || c == '\'') return skip_quoted(c);
    if (c == '#' && is_line_start()) return skip_directive();
    if (depth_ == 0 && c == '/') return take_slash();
    if (c == '{') return open();
    if (c == '}') return close();
    if (c == ';') return end_statement();
    at_++;
  }

  size_t end_of_line(size_t at) const { return std::min(text_.find('\n', at), text_.size()); }
  bool is_line_start() const {
    size_t at = at_;
    while (at > 0 && text_[at - 1] != '\n' && is_space(text_[at - 1])) at--;
    return at == 0 || text_[at - 1] == '\n';
  }
  void skip(std::string_view end, size_t from) {
    const size_t found = text_.find(end, at_ + from);
    is_cut_ = found == std::string_view::npos;
    at_ = is_cut_ ? text_.size() : found + end.size();
  }
  void skip_quoted(char quote) {
    for (at_++; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; at_++)
      if (text_[at_] == '\\') at_++;
    is_cut_ = at_ >= text_.size();
    at_++;
  }
  void skip_directive() {
    const size_t begin = at_;
    at_ = end_of_line(at_);
    while (at_ < text_.size() && text_[at_ - 1] == '\\') at_ = end_of_line(at_ + 1);  // it goes on
    if (at_ < text_.size()) return cursor_.clause = at_ + 1, void();
    is_cut_ = true;
    cursor_.begin = word_begin(text_.size());
    const std::string_view before = text_.substr(begin, cursor_.begin - begin);
    if (before.find("pragma") != std::string_view::npos && before.find("option") != std::string_view::npos)
      cursor_.context = CursorContext::pragma;
  }
  void take_slash() {
    in_predicate_ = !in_predicate_;
    at_++;
  }
  void open() {
    if (++depth_ == 1) cursor_.body = at_ + 1, in_predicate_ = false;
    cursor_.statement = ++at_;
  }
  void close() {
    at_++;
    if (depth_ > 0) depth_--;
    cursor_.statement = at_;
    if (depth_ == 0) cursor_.clause = at_, cursor_.body = 0;
  }
  void end_statement() {
    cursor_.statement = ++at_;
    if (depth_ == 0) cursor_.clause = at_, in_predicate_ = false;  // of "inline int x = 4 / 2;"
  }

  Cursor description() {
    cursor_.context = CursorContext::description;
    cursor_.begin = text_.size();
    while (cursor_.begin > cursor_.clause && !is_space(text_[cursor_.begin - 1]) && text_[cursor_.begin - 1] != ',')
      cursor_.begin--;
    const bool is_name = text_.find_first_of(":*?\"", cursor_.begin) == std::string_view::npos;
    find_expected();
    if (!is_name) cursor_.expected = Expected::value;
    if (is_name && cursor_.expected == Expected::value) cursor_.expected = Expected::value_or_type;  // of a declaration
    return cursor_;
  }
  // By what is before the word: a parenthesis or a statement's begin may have a type behind it.
  void find_expected() {
    size_t end = cursor_.begin;
    while (end > 0 && is_space(text_[end - 1])) end--;
    if (end == 0 || end == cursor_.statement || std::string_view("(<{;").find(text_[end - 1]) != std::string_view::npos)
      cursor_.expected = Expected::value_or_type;
    const size_t begin = word_begin(end);
    const std::string_view word = text_.substr(begin, end - begin);
    if (word == "struct" || word == "union" || word == "enum") cursor_.expected = Expected::tag, cursor_.keyword = word;
    for (const std::string_view before :
         {"sizeof", "inline", "typedef", "extern", "const", "volatile", "self", "this", "translator"})
      if (word == before) cursor_.expected = Expected::value_or_type;
  }
  size_t word_begin(size_t end) const {
    while (end > 0 && is_word(text_[end - 1])) end--;
    return end > 0 && (text_[end - 1] == '$' || text_[end - 1] == '@') ? end - 1 : end;
  }

  // Behind an arrow or dot, the expression with it: names, members, and what is in parentheses and brackets.
  void find_owner() {
    const size_t end = before_selector(cursor_.begin);
    if (end == cursor_.begin) return;
    const size_t begin = operand_begin(end);
    if (begin == end) return;
    cursor_.context = CursorContext::member;
    cursor_.owner = text_.substr(begin, cursor_.begin - begin);
  }
  // Where an arrow or dot begins that ends here; the same place: there is none.
  size_t before_selector(size_t end) const {
    if (end >= 2 && text_.substr(end - 2, 2) == "->") return end - 2;
    return end >= 1 && text_[end - 1] == '.' ? end - 1 : end;
  }
  size_t operand_begin(size_t end) const {
    for (size_t at = end;;) {
      while (at > 0 && (text_[at - 1] == ')' || text_[at - 1] == ']')) at = matching_open(at);
      const size_t name = word_begin(at);
      if (name > 0 && text_[name - 1] == '`') return module_begin(name - 1);
      if (before_selector(name) == name) return name;
      at = before_selector(name);
    }
  }
  // Finds the beginning of the module before a backquote, such as a.out or libc.so.6.
  size_t module_begin(size_t end) const {
    while (end > 0 && (is_word(text_[end - 1]) || text_[end - 1] == '.')) end--;
    return end;
  }
  size_t matching_open(size_t end) const {
    size_t open = 0, at = end;
    while (at > 0) {
      const char c = text_[--at];
      if (c == ')' || c == ']') open++;
      if ((c == '(' || c == '[') && --open == 0) return at;
    }
    return 0;
  }

  std::string_view text_;
  size_t at_ = 0, depth_ = 0;
  bool in_predicate_ = false, is_cut_ = false;
  Cursor cursor_;
};

}  // namespace

void Document::find_lines() {
  lines_.assign(1, 0);
  for (size_t at = 0; (at = text_.find('\n', at)) != std::string::npos;) lines_.push_back(++at);
}

size_t Document::begin_of_line(size_t line) const { return line < lines_.size() ? lines_[line] : text_.size(); }

size_t Document::offset_of(TextPosition position) const {
  size_t at = begin_of_line(position.line);
  for (size_t left = position.character; left > 0 && !is_line_end(at);) {
    left -= std::min(left, in_bytes_ ? 1 : units_of(text_[at]));
    at++;
    while (!in_bytes_ && at < text_.size() && continues_character(text_[at])) at++;
  }
  return at;
}

bool Document::is_line_end(size_t at) const {
  return at >= text_.size() || text_[at] == '\n' || (text_[at] == '\r' && at + 1 < text_.size() && text_[at + 1] == '\n');
}

TextPosition Document::position_of(size_t offset) const {
  const auto next = std::upper_bound(lines_.begin(), lines_.end(), offset);
  const size_t begin = *std::prev(next);
  const std::string_view line = std::string_view(text_).substr(begin, offset - begin);
  TextPosition position{static_cast<size_t>(next - lines_.begin()) - 1, line.size()};
  if (in_bytes_) return position;
  position.character = 0;
  for (const char c : line)
    if (!continues_character(c)) position.character += units_of(c);
  return position;
}

size_t Document::offset_of_column(unsigned line, unsigned column) const {
  return std::min<size_t>(begin_of_line(line == 0 ? 0 : line - 1) + (column == 0 ? 0 : column - 1), text_.size());
}

size_t Document::end_of_line(unsigned line) const {
  size_t at = begin_of_line(line == 0 ? 0 : line - 1);
  while (!is_line_end(at)) at++;
  return at;
}

Cursor look_at(std::string_view text, size_t offset) { return look_at_all(text, {offset})[0]; }

std::vector<Cursor> look_at_all(std::string_view text, const std::vector<size_t>& offsets) {
  std::vector<Cursor> found;
  CursorReader reader(text);
  for (const size_t offset : offsets) {
    reader.read_to(std::min(offset, text.size()));
    found.push_back(reader.cursor());
  }
  return found;
}

std::string_view word_at(std::string_view text, size_t offset) {
  size_t begin = std::min(offset, text.size()), end = begin;
  while (begin > 0 && is_word(text[begin - 1])) begin--;
  while (end < text.size() && is_word(text[end])) end++;
  if (begin < end && begin > 0 && (text[begin - 1] == '$' || text[begin - 1] == '@')) begin--;
  for (const std::string_view scope : {"self->", "this->"})
    if (begin < end && text.substr(0, begin).ends_with(scope)) begin -= scope.size();
  return text.substr(begin, end - begin);
}

std::string_view description_at(std::string_view text, size_t begin) {
  const bool is_quoted = text.substr(begin, text.find_first_of(" \t\r\n,{/", begin) - begin).find('"') != std::string_view::npos;
  if (is_quoted) return text.substr(begin, text.find_first_of("\r\n{", begin) - begin);
  return text.substr(begin, text.find_first_of(" \t\r\n,{/", begin) - begin);
}

namespace {

// The end of a comment or quoted text that begins at `at`; `at` itself: there is none.
size_t skip_unread(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("/*")) return std::min(text.find("*/", at + 2), text.size() - 2) + 2;
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.empty() || (rest[0] != '"' && rest[0] != '\'')) return at;
  const size_t begin = at;
  for (at++; at < text.size() && text[at] != text[begin] && text[at] != '\n'; at++)
    if (text[at] == '\\') at++;
  return std::min(at + 1, text.size());
}

}  // namespace

bool is_assigned(std::string_view behind) {
  behind.remove_prefix(std::min(behind.find_first_not_of(" \t"), behind.size()));
  return behind.starts_with('=') && !behind.starts_with("==");
}

std::vector<std::string_view> code_words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    if (const size_t end = skip_unread(text, at); end > at) {
      at = end;
      continue;
    }
    size_t end = at;
    while (end < text.size() && is_word(text[end])) end++;
    if (end > at && std::isdigit(static_cast<unsigned char>(text[at])) == 0) words.push_back(word_at(text, at));
    at = std::max(end, at + 1);
  }
  // Of self->x also self is a word.
  std::erase_if(words, [](std::string_view word) { return word == "self" || word == "this"; });
  return words;
}

std::vector<std::string> own_names(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (const std::string_view word : code_words(text)) {
    const auto begin = static_cast<size_t>(word.data() - text.data());
    const bool is_scoped = word.find("->") != std::string_view::npos || word.starts_with('@');
    const bool is_member = !is_scoped && begin > 0 && std::string_view(".>").find(text[begin - 1]) != std::string_view::npos;
    if (is_scoped || (!is_member && is_assigned(text.substr(begin + word.size())) && !word.starts_with('$'))) names.emplace(word);
  }
  return {names.begin(), names.end()};
}

}  // namespace dvm::cmd::lsp
