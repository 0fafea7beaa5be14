// A scanner for names. Tests: tests/unit/compiler/library_test.cpp.
#include "compiler/source/words.h"

#include <algorithm>
#include <cctype>

namespace dvm::compiler {

namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_word(char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)); }
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)); }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool next(ScannedWord& word) {
    while (at_ < text_.size()) {
      if (is_letter(text_[at_])) return take(word), true;
      step();
    }
    return false;
  }

 private:
  void take(ScannedWord& word) {
    const size_t begin = at_;
    while (at_ < text_.size() && continues_word(text_[at_])) at_++;
    word = {text_.substr(begin, at_ - begin), depth_, enum_depth_ != 0};
    if (word.text == "enum") after_enum_ = true;
    at_line_start_ = false;
  }

  // Over what is no word.
  void step() {
    const char c = text_[at_];
    if (c == '#' && at_line_start_) return skip_past('\n');
    at_line_start_ = c == '\n' || (at_line_start_ && is_blank(c));
    if (text_.substr(at_, 2) == "/*") return skip_comment();
    if (c == '"' || c == '\'') return skip_quoted(c);
    follow(c);
    at_++;
    if (std::isdigit(static_cast<unsigned char>(c)))
      while (at_ < text_.size() && continues_word(text_[at_])) at_++;
  }

  void follow(char c) {
    if (c == '{') {
      depth_++;
      if (after_enum_) enum_depth_ = depth_;
      after_enum_ = false;
    } else if (c == '}' && depth_ > 0) {
      if (depth_-- == enum_depth_) enum_depth_ = 0;
    } else if (c == ';') {
      after_enum_ = false;
    }
  }

  void skip_comment() {
    const size_t end = text_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
  }

  void skip_quoted(char quote) {
    for (at_++; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; at_++)
      if (text_[at_] == '\\') at_++;
    at_ = std::min(at_ + 1, text_.size());
  }

  void skip_past(char end) {
    const size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + 1;
  }

  std::string_view text_;
  size_t at_ = 0;
  unsigned depth_ = 0;
  unsigned enum_depth_ = 0;  // of the braces of an enum, 0 outside
  bool after_enum_ = false;
  bool at_line_start_ = true;
};

}  // namespace

void for_each_word(std::string_view text, const std::function<void(const ScannedWord&)>& f) {
  Scanner scanner(text);
  for (ScannedWord word; scanner.next(word);) f(word);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> list;
  for (size_t at = 0; at < text.size();) {
    if (is_blank(text[at])) {
      at++;
      continue;
    }
    const size_t begin = at;
    while (at < text.size() && !is_blank(text[at])) at++;
    list.emplace_back(text.substr(begin, at - begin));
  }
  return list;
}

std::vector<std::string_view> directives_of(std::string_view text) {
  std::vector<std::string_view> list;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    if (text[at] == '#') list.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return list;
}

}  // namespace dvm::compiler
