#pragma once
// A pseudo-terminal for the output of the programs that dvm starts while it draws on the real one.
//
//   program ── pseudo-terminal ──> relay ── socket ──> dvm, which prints it above its drawing
//                                    └── the real terminal, once dvm has let go or is gone
//
// The relay is a process of its own. So a program loses nothing when dvm ends, or is killed.

#include <memory>
#include <string>

#include "dvm/common/result.h"

namespace dvm::exporting {

class ProgramTerminal {
 public:
  static Result<std::unique_ptr<ProgramTerminal>> open(int terminal);
  ~ProgramTerminal();
  ProgramTerminal(const ProgramTerminal&) = delete;
  ProgramTerminal& operator=(const ProgramTerminal&) = delete;

  // For programs, in place of the terminal.
  int output() const { return output_; }
  // Whole lines that programs have written since the last call, without what would move the cursor. Does not wait.
  std::string take_lines();
  // The relay prints what follows. Returns what is left.
  std::string let_go();

 private:
  ProgramTerminal(int output, int from_relay) : output_(output), from_relay_(from_relay) {}
  void read(size_t most);

  int output_, from_relay_;
  std::string waiting_;  // not handed out yet
};

// Text for a terminal whose cursor must stay where the text ends: printable characters, line ends, tabs and colours.
std::string without_movement(const std::string& text);

}  // namespace dvm::exporting
