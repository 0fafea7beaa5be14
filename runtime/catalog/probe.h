#pragma once
// A probe: the four-part name, its id, and the site where a firing comes from.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/catalog/kernel_event.h"
#include "runtime/catalog/operand.h"

namespace dvm::runtime {

// Fires when some process reaches this file offset, of a function's entry or inside of it, or returns from the function there.
struct UprobeSite {
  std::string path;     // of the file as dvm can open it, e.g. /proc/PID/root/usr/lib/libc.so.6
  uint64_t offset = 0;  // in the file
  bool is_return = false;
  int32_t pid = 0;                   // the process it belongs to, never 0
  int32_t stack_moved = 0;           // entry: bytes from %rsp to the return address
  uint64_t size = 0;                 // size of the function; 0: unknown
  uint64_t alone = 0;                // bytes of the function before another symbol
  std::optional<Operands> inside{};  // in a function: its arguments there
  std::optional<Operands> passed{};  // entry or return: arguments that are not where C passes them
  uint32_t behind = 0;               // entry: offset of the probed instruction, if code before it may run again
  std::string_view no_goroutine{};   // why goid is not known; a literal
  uint64_t semaphore = 0;            // file offset of the count of enablings; 0: none
};

// tick-N: on one CPU, from dvm's own loop. profile-N: on every CPU, in whatever runs there.
struct TimerSite {
  uint64_t period_ns = 0;
  bool every_cpu = false;
};

// Fires at tracepoints of the kernel, in whatever thread runs there.
struct TracepointSite {
  std::vector<KernelEvent> events;
};

// BEGIN, END, ERROR: fired by the runtime itself.
struct InternalSite {};

struct Probe {
  uint32_t id = 0;  // from 1; BEGIN is 1, END 2, ERROR 3, as dtrace has them
  std::string provider{}, module{}, function{}, name{};
  std::variant<InternalSite, UprobeSite, TimerSite, TracepointSite> site{};
  std::vector<UprobeSite> more_sites{};  // where it fires too: further places of a usdt probe
  std::string remark{};                  // notes on values that it cannot provide, for -v
  // Other module names that a description may use. A module that is a file of a process also answers to its full path and to
  // its base name up to a dot ("libc" for libc.so.6). The program itself also answers to a.out.
  std::string object{};  // the full path in its process; empty: the module is no file
  bool in_program = false;
  // Another name of what has a probe already: only a description that spells the field means it, no glob.
  bool spell_provider = false, spell_function = false;
  // Other names of the function by which descriptions have found it: its demangled name with or without arguments, or its symbol.
  std::vector<std::string> other_names{};
};

}  // namespace dvm::runtime
