#pragma once
// Tells threads where their stacks lie, so that they may load from these. A thread asks in its lane (inside::Lane). Its stack is
// one that the C library has made: a mapping with the thread control block at its end, and nothing readable below. Above the
// stack pointer such a stack lasts as long as the thread runs on it. Tested by tests/unit/instrument/stack_finder_test.cpp.

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

class StackFinder {
 public:
  // file: the memfd of the process. It stays the caller's.
  StackFinder(int file, uint32_t lanes, pid_t pid) : file_(file), pid_(pid), lanes_(lanes), refused_(lanes) {}

  // Reads what the process has mapped at most ten times a second, and only if a thread asks.
  void answer();

 private:
  struct Asked {
    uint64_t thread = 0, pointer = 0;
    bool operator==(const Asked&) const = default;
  };
  bool wants_answer(uint32_t number) const;
  bool publish(uint32_t number, const inside::MemoryRange& stack) const;

  int file_;
  pid_t pid_;
  std::vector<inside::Lane> lanes_;
  std::vector<Asked> refused_;  // what each thread has asked last, in vain
  uint64_t looked_ = 0;
};

}  // namespace dvm::runtime
