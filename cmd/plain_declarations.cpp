// Covered by tests/runtime/scenarios/test_preprocessor.py.
#include "cmd/drop_functions.h"

#include <algorithm>
#include <cctype>

namespace dvm::cmd {
namespace {

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
    if (c == '}' && depth_ > 0 && --depth_ == 0) close();
    if (c == ';' && depth_ == 0) begin(at_ + 1);
    if (!std::isspace(static_cast<unsigned char>(c))) last_ = c;
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
    if (depth_++ == 0) is_function_ = is_included_ && last_ == ')';
  }

  void close() {
    if (is_function_) blank();
    if (is_function_) begin(at_ + 1);
    is_function_ = false;
  }

  // The lines of directives stay.
  void blank() {
    bool is_directive = false;
    for (size_t i = start_; i <= at_; i++) {
      if (i > 0 && text_[i - 1] == '\n') is_directive = text_[i] == '#';
      if (text_[i] != '\n' && !is_directive) text_[i] = ' ';
    }
  }

  void begin(size_t at) { start_ = at, last_ = 0; }

  std::string text_, script_;
  size_t at_ = 0, start_ = 0;  // of the declaration
  char last_ = 0;              // the last sign that is no space; 0: none since the declaration began
  unsigned depth_ = 0;         // of braces
  bool is_included_ = false, is_function_ = false;
};

}  // namespace

std::string drop_functions(std::string text) { return Dropper(std::move(text)).run(); }

}  // namespace dvm::cmd
