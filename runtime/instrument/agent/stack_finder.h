#pragma once
// Gives threads the addresses of their stacks, so that they can load from these directly. A thread requests them through its lane
// (inside::Lane). A stack must be one that the C library has made: a mapping with the thread control block at its end, and
// nothing readable below. The part of such a stack above the stack pointer stays mapped while the thread runs on it.

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agent/inside/format.h"
#include "runtime/instrument/agent/thread_ids.h"

namespace dvm::runtime {

class StackFinder {
 public:
  // file: the memfd of the process, owned by the caller, as the ids of its threads are.
  StackFinder(int file, uint32_t lanes, ThreadIds& ids) : file_(file), ids_(ids), lanes_(lanes), refused_(lanes) {}

  // Answers the requests. Reads the mappings of the process at most ten times a second, and only if a thread asks.
  void answer();

 private:
  struct Asked {
    uint64_t thread = 0, pointer = 0;
    bool operator==(const Asked&) const = default;
  };
  bool wants_answer(uint32_t number) const;
  bool publish(uint32_t number, const inside::MemoryRange& stack) const;

  int file_;
  ThreadIds& ids_;
  std::vector<inside::Lane> lanes_;
  std::vector<Asked> refused_;  // what each thread has asked last, in vain
  uint64_t looked_ = 0;
};

}  // namespace dvm::runtime
