// Splits a command line as sh does, without its expansions. Covered by tests/unit/instrument/process_test.cpp.

#include "runtime/process/process.h"

namespace dvm::runtime {
namespace {

class CommandSplitter {
 public:
  explicit CommandSplitter(std::string_view text) : text_(text) {}

  Result<std::vector<std::string>> split() {
    while (at_ < text_.size()) {
      if (!take()) return Error{"the command ends inside quotes"};
    }
    finish_word();
    if (words_.empty()) return Error{"the command is empty"};
    return std::move(words_);
  }

 private:
  bool take() {
    char c = text_[at_++];
    if (c == '\'' || c == '"') return take_quoted(c);
    if (c == ' ' || c == '\t' || c == '\n') {
      finish_word();
    } else if (c == '\\') {
      if (at_ == text_.size()) return false;
      append(text_[at_++]);
    } else {
      append(c);
    }
    return true;
  }

  bool take_quoted(char quote) {
    in_word_ = true;  // "" is a word too
    while (at_ < text_.size()) {
      char c = text_[at_++];
      if (c == quote) return true;
      bool escapes = c == '\\' && quote == '"' && at_ < text_.size() &&
                     std::string_view("\"\\$`").find(text_[at_]) != std::string_view::npos;
      append(escapes ? text_[at_++] : c);
    }
    return false;
  }

  void append(char c) {
    word_ += c;
    in_word_ = true;
  }

  void finish_word() {
    if (in_word_) words_.push_back(std::move(word_));
    word_.clear();
    in_word_ = false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string word_;
  bool in_word_ = false;
  std::vector<std::string> words_;
};

}  // namespace

Result<std::vector<std::string>> split_command(std::string_view command) { return CommandSplitter(command).split(); }

}  // namespace dvm::runtime
