#pragma once
// The destinations of the consumer's text. Results go to one file, which freopen() may change, and notices to another. Nothing is
// written before flush().

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "dvm/common/result.h"

namespace dvm::runtime {

class Output {
 public:
  Output(std::FILE* out, std::FILE* err) : out_(out), err_(err) { look_at_file(); }
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Text that flush() will write.
  std::string& text() { return text_; }
  std::string& notices() { return notices_; }
  // True if the text goes to a terminal, which obeys control characters.
  bool is_terminal() const { return is_terminal_; }

  // Keeps `shown`, a notice that output takes time, until something is written.
  void hold_until_flush(std::shared_ptr<void> shown) { shown_ = std::move(shown); }
  // The error says why something could not be written, now or before.
  Status flush();
  // Appends further text to this file; so do commands that system() starts.
  Status redirect(const std::string& path);
  // Sends further text to the place that was in use before the first redirect().
  void restore();
  // Empties the file that the text goes to.
  void truncate();

 private:
  void look_at_file();

  bool is_terminal_ = false;
  std::FILE* out_;
  std::FILE* err_;
  std::string text_;
  std::string notices_;
  std::shared_ptr<void> shown_;
  int first_ = -1;  // a copy of the original descriptor of out_; -1: out_ still has it
  Status failure_;
};

}  // namespace dvm::runtime
