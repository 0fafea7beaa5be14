#pragma once
// The calls of one thread whose return is waited for: where each returns to,
// with a breakpoint there. Of calls that were left in another way (longjmp, an
// exception) nothing is said; they are forgotten when the stack has been seen
// above them. Probe context, but for debug registers, which are the kernel's to
// give.

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "runtime/instrument/breakpoint/debug_register.h"

namespace dvm::runtime {

struct OpenCall {
  uint64_t returns_to = 0;
  uint64_t stack = 0;     // %rsp at its entry, where the return address lies
  uint64_t function = 0;  // its address
  uint64_t cookie = 0;
};

class Calls {
 public:
  Calls() { calls_.reserve(kMostCalls); }

  // False: its return will not be seen. What registers that are given up have
  // counted is added to hits.
  bool add(pid_t tid, const OpenCall& call, uint64_t& hits) {
    if (calls_.size() == kMostCalls || !watch(tid, call.returns_to, hits)) return false;
    calls_.push_back(call);
    return true;
  }

  bool watches(uint64_t address) const { return find(address) != registers_.end(); }

  // Hands those over that have returned to the address, the innermost first.
  template <class Handle>
  void take(uint64_t address, uint64_t stack, Handle&& handle) {
    while (!calls_.empty() && calls_.back().stack < stack && stack - calls_.back().stack < kFarthest) {
      const OpenCall call = calls_.back();
      calls_.pop_back();
      if (call.returns_to == address && call.stack + sizeof(uint64_t) == stack) handle(call);
    }
  }

  std::vector<DebugRegister>& registers() { return registers_; }

 private:
  static constexpr size_t kMostCalls = 4096;
  static constexpr uint64_t kFarthest = 8 << 20;  // a call on another stack is not above this one

  std::vector<DebugRegister>::const_iterator find(uint64_t address) const {
    return std::find_if(registers_.begin(), registers_.end(), [&](const auto& it) { return it.address() == address; });
  }

  // A register is kept for the next call from the same place, until another
  // needs it.
  bool watch(pid_t tid, uint64_t address, uint64_t& hits) {
    if (watches(address)) return true;
    for (;;) {
      DebugRegister made = DebugRegister::set(tid, address);
      if (made) {
        registers_.push_back(std::move(made));
        return true;
      }
      const auto idle = std::find_if(registers_.begin(), registers_.end(), [&](const auto& it) { return is_idle(it.address()); });
      if (errno != ENOSPC || idle == registers_.end()) return false;
      hits += idle->hits();
      registers_.erase(idle);
    }
  }
  bool is_idle(uint64_t address) const {
    return std::none_of(calls_.begin(), calls_.end(), [&](const OpenCall& call) { return call.returns_to == address; });
  }

  std::vector<OpenCall> calls_;
  std::vector<DebugRegister> registers_;
};

}  // namespace dvm::runtime
