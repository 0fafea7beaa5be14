#pragma once
// The open calls of one thread: the addresses to which they return, with breakpoints there. Calls that are left in another way
// (longjmp, an exception) are not reported. They are removed when the stack pointer is seen above them. Probe context, except
// that setting debug registers makes system calls.

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "runtime/instrument/breakpoint/debug_register.h"
#include "runtime/instrument/breakpoint/stopped_thread.h"

namespace dvm::runtime {

struct OpenCall {
  uint64_t returns_to = 0;
  uint64_t stack = 0;     // %rsp at its entry, the address of the return address
  uint64_t function = 0;  // address of the function
  uint64_t cookie = 0;
};

class Calls {
 public:
  Calls() { calls_.reserve(kMostCalls); }

  // False: its return will not be seen. Adds the counts of debug registers that it frees to `hits`.
  bool add(pid_t tid, const OpenCall& call, uint64_t& hits) {
    if (calls_.size() == kMostCalls || !watch(tid, call.returns_to, hits)) return false;
    calls_.push_back(call);
    return true;
  }

  // Removes the calls that a new one shows to have been left: those whose return address is no longer there, and those of the
  // same function with the same return address. The latter, which are counted, may also be tail calls that have come round.
  uint64_t leave(pid_t pid, const OpenCall& entered) {
    uint64_t same = 0;
    while (!calls_.empty() && calls_.back().stack <= entered.stack && entered.stack - calls_.back().stack < kFarthest) {
      const OpenCall& last = calls_.back();
      const bool has_same_return = last.stack == entered.stack && last.returns_to == entered.returns_to;
      if (has_same_return && last.function != entered.function) break;
      if (last.stack < entered.stack && read_word(pid, last.stack) == last.returns_to) break;  // perhaps on another stack
      same += has_same_return ? 1 : 0;
      calls_.pop_back();
    }
    return same;
  }

  bool watches(uint64_t address) const { return find(address) != registers_.end(); }

  // Passes the calls that have returned to the address to `handle`, the innermost first.
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

  // Sets a breakpoint. A debug register is kept for later calls from the same place, until another one needs it.
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
