#pragma once
// The event that fires a probe in the kernel: a tracepoint with conditions, and the places of the arguments in the words that
// it passes. Members of the kernel's structures are named, because their offsets differ from kernel to kernel. The instrument
// looks them up when the probe is enabled.

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
  std::optional<KernelWord> right{};  // instead of the value
  int32_t mask = -1;                  // bits of the left one that count
  bool is_newer = false;              // left out where the tracepoint hands on no such word
};

struct KernelEvent {
  std::string tracepoint;               // "sched_switch"; "sys_enter" and "sys_exit" of system calls
  std::vector<uint16_t> calls{};        // of those two: the system calls meant
  std::vector<KernelCondition> when{};  // all of them
  std::array<KernelWord, kArguments> args{};
  KernelWord thread{};  // that the firing is of, if not of the one that runs: a task_struct
  // Events for the same firings, in the thread itself, where its user stack can be taken. Used for clauses that take it, on
  // kernels that have them all.
  std::vector<KernelEvent> in_thread{};
};

inline bool is_system_call(const KernelEvent& event) { return event.tracepoint == "sys_enter" || event.tracepoint == "sys_exit"; }

}  // namespace dvm::runtime
