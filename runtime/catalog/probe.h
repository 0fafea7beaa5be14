#pragma once
// A probe: its four-part name, its id, and its site, where firings come from.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/catalog/kernel_event.h"
#include "runtime/catalog/operand.h"

namespace dvm::runtime {

// Fires when a process reaches this file offset, at the entry of a function or inside of it, or returns from the function there.
struct UprobeSite {
  std::string path;     // of the file as dvm can open it, e.g. /proc/PID/root/usr/lib/libc.so.6
  uint64_t offset = 0;  // in the file
  bool is_return = false;
  int32_t pid = 0;          // of the process; never 0
  int32_t stack_moved = 0;  // of an entry: bytes from %rsp to the return address
  uint64_t size = 0;        // bytes of the function; 0: unknown
  uint64_t alone = 0;       // bytes of the function before the next symbol

  // Inside of a function: the places of its arguments there.
  std::optional<Operands> inside{};
  // Of an entry or return: the places of arguments that do not follow C's calling convention.
  std::optional<Operands> passed{};
  uint32_t behind = 0;              // of an entry: the probed instruction's offset, if code before it may run twice
  std::string_view no_goroutine{};  // why goid is unknown; a literal
  uint64_t semaphore = 0;           // file offset of the marker's semaphore (counts enablings); 0: none
  uint64_t semaphore_address = 0;   // address in the file; 0: none
};

// tick-N fires in dvm's own loop. profile-N fires on every CPU, in the thread that runs there.
struct TimerSite {
  uint64_t period_ns = 0;
  bool every_cpu = false;
};

// Fires at tracepoints of the kernel, in any thread.
struct TracepointSite {
  std::vector<KernelEvent> events;
};

// BEGIN, END, ERROR: the runtime itself fires them.
struct InternalSite {};

// An argument that cannot be read, and why.
struct UnknownArgument {
  size_t number = 0;
  std::string reason;
};

struct Probe {
  uint32_t id = 0;  // from 1; as in dtrace, BEGIN is 1, END 2, ERROR 3
  std::string provider{}, module{}, function{}, name{};
  std::variant<InternalSite, UprobeSite, TimerSite, TracepointSite> site{};
  std::vector<UprobeSite> more_sites{};  // the other sites of a usdt probe
  std::string remark{};                  // for -v
  std::vector<UnknownArgument> unknown_arguments{};
  // Other module names that a description may use. A module that is a file of a process also answers to its full path and to
  // its base name up to a dot ("libc" for libc.so.6). The program itself also answers to a.out.
  std::string object{};  // the full path in its process; empty: the module is no file
  bool in_program = false;
  // The probe is an alias. Only descriptions that spell out the field match it, not globs.
  bool spell_provider = false, spell_function = false, spell_name = false;
  // Other names of the function by which descriptions have found it: its demangled name with or without arguments, or its symbol.
  std::vector<std::string> other_names{};
};

// A probe that the runtime itself fires; one of them by its name.
inline bool is_own(const Probe& probe) { return std::holds_alternative<InternalSite>(probe.site); }
inline bool is_own(const Probe& probe, std::string_view name) { return is_own(probe) && probe.name == name; }

}  // namespace dvm::runtime
