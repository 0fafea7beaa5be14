#pragma once
// Decides by the mapped files of a process if exceptions may pass its functions. An unwinder does not know the address that a
// uretprobe puts in place of a return address, so an exception thrown below such a frame is not caught above it. This matters
// only if a frame above catches exceptions or cleans up, so only files with such frames count:
//
//   handlers  A file whose .eh_frame names a personality: frames of C++, Rust, C with -fexceptions.
//   runtime   A library that throws for others (libstdc++, libgcc_s, libunwind). It counts only if a file that counts imports
//             one of its symbols.
//   allocator A library that replaces malloc(). Its C functions throw nothing and make no callbacks, so it counts only if a
//             file that counts imports a C++ name of it. For example, libjemalloc has `operator new`, which C programs do not
//             call.
//
// All other files with handlers count. The C library has handlers for cancelled threads only. A cancelled thread still ends
// correctly, because its unwinder takes the unknown address for the end of the stack.
//
// The decision is made when the probes are enabled. It does not consider a C++ library that a C program loads later.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "runtime/symbol/file_key.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// How a file takes part in exceptions and, by its dynamic symbols, which other files it uses. The imports of a program that is
// linked statically are those functions for handlers above that it contains.
struct LinkedFile {
  std::unordered_set<std::string> imports, exports;
  bool has_handlers = true;
  bool switches_stacks = true;  // runtime/symbol/stack_switches.h
  bool is_runtime = false, is_allocator = false, is_c_library = false;

  // For a file that cannot be read, the worst case.
  static LinkedFile read(const MappedObject& object);
};

// True if an exception may pass a function of a process that has these files mapped.
bool can_throw(std::span<const LinkedFile* const> files);

// True if a function of such a process may be suspended on one stack while others run on another.
bool can_switch_stacks(std::span<const LinkedFile* const> files);

// True if a signal handler may interrupt any function of such a process, and run on an alternate stack above it. The first
// thread's stack lies above all others. In a program that is linked statically, its own symbols tell; a stripped one may have
// such handlers.
bool can_handle_above(std::span<const LinkedFile* const> files);

}  // namespace dvm::runtime
