#pragma once
// Where the consumer's text goes: results to one file, which freopen() may change, notices to another. Nothing is written before
// flush().

#include <cstdio>
#include <string>

#include "common/result.h"

namespace dvm::runtime {

class Output {
 public:
  Output(std::FILE* out, std::FILE* err) : out_(out), err_(err) { look_at_file(); }
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // What flush() will write.
  std::string& text() { return text_; }
  std::string& notices() { return notices_; }
  // True if the text goes to a terminal, which obeys control characters.
  bool is_terminal() const { return is_terminal_; }

  // The error says why something could not be written, now or before.
  Status flush();
  // What follows is appended to this file, also by commands that system() starts.
  Status redirect(const std::string& path);
  // What follows goes where it went before the first redirect().
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
  int first_ = -1;  // a copy of the descriptor that out_ began with; -1: it still has it
  Status failure_;
};

}  // namespace dvm::runtime
