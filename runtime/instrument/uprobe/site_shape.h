#pragma once
// The properties of a site that matter to its capture program: the places of the arguments, and of the caller of the function.
// Sites of one shape share programs.
//
// - entry    the function has not set up its frame: the return address lies at %rsp + stack_moved
// - return_  a uretprobe: the function has been left, its address is known
// - inside   the function has its frame: the caller is found through the frame pointer
// - timer    anywhere, also in the kernel; no memory can be read
// - syscall  begin or end of a system call: the registers are those of the thread in its process
// - tracepoint  anywhere in the kernel: arguments are words that the tracepoint passes
//
// The program of a timer, a system call or a tracepoint cannot sleep: memory that is not resident is not captured.
//
//   arg0 to arg5 of an entry   %rdi %rsi %rdx %rcx %r8 %r9, unless the site says otherwise
//   arg6 ...                   above the return address

#include "runtime/catalog/operand.h"
#include "runtime/catalog/probe.h"
#include "runtime/instrument/capture.h"

namespace dvm::runtime {

enum class SiteKind : uint8_t { entry, return_, inside, timer, syscall, tracepoint };

inline bool is_in_kernel(SiteKind kind) { return kind == SiteKind::syscall || kind == SiteKind::tracepoint; }
inline bool can_sleep(SiteKind kind) { return kind != SiteKind::timer && !is_in_kernel(kind); }

// How many frames of a stack are known without a walk: the function and, where that has no frame yet or has been left, its
// caller.
inline uint16_t known_frames(SiteKind kind) { return kind == SiteKind::entry || kind == SiteKind::return_ ? kKnownFrames : 1; }

// Bytes of the stack that are captured where a walk needs them. Samples are few, and of a program's deepest functions.
inline uint32_t usual_stack_bytes(SiteKind kind) { return kind == SiteKind::timer ? 2 * kUsualStackBytes : kUsualStackBytes; }

// The thread that a firing is of, where it is not the one that runs.
struct OtherThread {
  Operand process, thread, name, run_time;
  uint8_t task = 0;  // the word of the tracepoint that is its task_struct

  bool is_given() const { return process.kind != Operand::Kind::none; }
  friend bool operator==(const OtherThread&, const OtherThread&) = default;
};

struct SiteShape {
  SiteKind kind = SiteKind::entry;
  int32_t stack_moved = 0;
  Operands args;
  Operand error{};  // of a system call that has returned
  OtherThread thread{};
  bool may_name_caller = true;  // at an entry: the kernel's walk may find the caller by the return address

  // A shape with the usual arguments of its kind; `inside` has none.
  SiteShape(SiteKind kind, int32_t stack_moved = 0);  // not explicit: most sites are of a usual shape
  // A bit for each existing argument.
  uint16_t known_args() const;
  friend bool operator==(const SiteShape&, const SiteShape&) = default;
};

SiteShape shape_of(const UprobeSite& site);
// Shape of an entry where the stack has moved by this many bytes.
SiteShape entry_shape_of(const UprobeSite& site, int32_t stack_moved);
// Shape of an instruction that leaves the function.
SiteShape exit_shape_of(const UprobeSite& site);

}  // namespace dvm::runtime
