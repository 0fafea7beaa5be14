// Covered by tests/runtime/scenarios/test_preprocessor.py.
#include "cmd/plain_declarations.h"

#include <algorithm>
#include <cctype>

namespace dvm::cmd {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n"), end = text.find_last_not_of(" \t\n");
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin + 1);
}

std::string_view last_word(std::string_view text) {
  text = trim(text);
  size_t begin = text.size();
  while (begin > 0 && is_word(text[begin - 1])) begin--;
  return text.substr(begin);
}

// What begins so is no prototype, whatever parentheses it has.
bool begins_otherwise(std::string_view text) {
  text = trim(text);
  for (const std::string_view word : {"typedef", "inline", "translator", "provider"})
    if (text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()]))) return true;
  return false;
}

// The parenthesis that closes the one there.
size_t end_of(std::string_view text, size_t open) {
  size_t depth = 0;
  for (size_t at = open; at < text.size(); at++) {
    depth += text[at] == '(';
    if (text[at] == ')' && --depth == 0) return at;
  }
  return text.size();
}

class Dropper {
 public:
  explicit Dropper(std::string text) : text_(std::move(text)) {}

  std::string run() {
    while (at_ < text_.size()) step();
    return std::move(text_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '#' && (at_ == 0 || text_[at_ - 1] == '\n')) return directive();
    if (c == '"' || c == '\'') return literal(c);
    if (c == '{') open();
    const bool ends_function = c == '}' && depth_ > 0 && --depth_ == 0 && is_function_;
    if (ends_function) end_function();
    const bool ends = ends_function || (c == ';' && depth_ == 0);
    if (c == ';' && ends) end_declaration();
    if (!ends && !std::isspace(static_cast<unsigned char>(c))) last_ = c;
    at_++;
  }

  // # 12 "/usr/include/stdio.h" 1 3: the line that follows. The first file is the script.
  void directive() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line(text_.data() + at_, end - at_);
    const size_t quote = line.find('"');
    if (line.starts_with("# ") && quote != std::string_view::npos) {
      const std::string_view file = line.substr(quote, line.find('"', quote + 1) - quote);
      if (script_.empty()) script_ = file;
      is_included_ = file != script_ && !file.starts_with("\"<");
    }
    at_ = end;
    if (depth_ == 0 && last_ == 0) begin(at_);
  }

  void literal(char quote) {
    for (at_++; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; at_++) at_ += text_[at_] == '\\';
    last_ = quote;
    at_ = std::min(at_ + 1, text_.size());
  }

  // A function's parameters stand before its body, and before nothing else that has braces.
  void open() {
    if (depth_++ > 0) return;
    is_function_ = is_included_ && last_ == ')';
    is_table_ |= is_included_ && last_ == '=';
  }

  void end_function() {
    blank();
    begin(at_ + 1);
    is_function_ = false;
  }

  void end_declaration() {
    if (is_table_ || (is_included_ && is_dropped(std::string_view(text_).substr(start_, at_ - start_)))) blank();
    begin(at_ + 1);
  }

  // A prototype or a static assertion: a name before the first parenthesis, which encloses no pointer's name.
  static bool is_dropped(std::string_view declaration) {
    for (size_t at = declaration.find('('); at != std::string_view::npos; at = declaration.find('(', at + 1)) {
      const std::string_view before = declaration.substr(0, at);
      if (before.find_first_of("{=\"") != std::string_view::npos || begins_otherwise(before)) return false;
      if (last_word(before) == "__attribute__") {
        at = end_of(declaration, at);
        continue;
      }
      const size_t inner = declaration.find_first_not_of(" \t\n", at + 1);
      return !last_word(before).empty() && inner != std::string_view::npos && declaration[inner] != '*';
    }
    return false;
  }

  // The lines of directives stay.
  void blank() {
    bool is_directive = false;
    for (size_t i = start_; i <= at_; i++) {
      if (i > 0 && text_[i - 1] == '\n') is_directive = text_[i] == '#';
      if (text_[i] != '\n' && !is_directive) text_[i] = ' ';
    }
  }

  void begin(size_t at) { start_ = at, last_ = 0, is_table_ = false; }

  std::string text_, script_;
  size_t at_ = 0, start_ = 0;  // of the declaration
  char last_ = 0;              // the last sign that is no space; 0: none since the declaration began
  unsigned depth_ = 0;         // of braces
  bool is_included_ = false, is_function_ = false;
  bool is_table_ = false;  // the declaration has values in braces
};

}  // namespace

std::string plain_declarations(std::string text) { return Dropper(std::move(text)).run(); }

}  // namespace dvm::cmd
