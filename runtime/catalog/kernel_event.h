#pragma once
// The event that fires a probe in the kernel: a tracepoint with conditions, and the places of the arguments in the words that the
// tracepoint passes. Members of kernel structures are given by name, because their offsets differ between kernels. The instrument
// looks up the offsets when the probe is enabled.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/catalog/operand.h"

namespace dvm::runtime {

// An operand, or a value reached through members from the target of its word: "signal.live.counter" follows the pointer
// `signal`; "&comm" is an address. The names live as long as the program.
struct KernelWord {
  Operand operand{};
  std::string_view members{};

  bool is_given() const { return operand.kind != Operand::Kind::none; }
};

struct KernelCondition {
  enum class Is : uint8_t { equal, different, less, greater };

  KernelWord left;
  Is is = Is::equal;
  int64_t value = 0;
  std::optional<KernelWord> right{};  // compared instead of `value`
  int32_t mask = -1;                  // bits of the left word that are compared
  bool is_newer = false;              // the condition is left out on kernels whose tracepoint lacks the word
};

struct KernelEvent {
  std::string tracepoint;               // "sched_switch"; "sys_enter" and "sys_exit" of system calls
  std::vector<uint16_t> calls{};        // of sys_enter and sys_exit: the numbers of the system calls
  std::vector<KernelCondition> when{};  // all must hold
  std::array<KernelWord, kArguments> args{};
  KernelWord thread{};  // the task_struct of the thread of the firing, if this is not the running thread
  // Events for the same firings that occur in the thread itself, where its user stack can be captured. They are used for clauses
  // that need the user stack, if the kernel has all of them.
  std::vector<KernelEvent> in_thread{};
};

inline bool is_system_call(const KernelEvent& event) { return event.tracepoint == "sys_enter" || event.tracepoint == "sys_exit"; }

}  // namespace dvm::runtime
