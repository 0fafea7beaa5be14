#pragma once
// Judges by the mapped files of a process if exceptions may pass its functions. An unwinder does not know the address that a
// uretprobe puts in place of a return address, so an exception thrown below such a frame is not caught above it. That does harm
// only if a frame above catches or cleans up; a process is safe if it never enters such a frame.
//
//   handlers  a file whose .eh_frame names a personality: frames of C++, Rust, C with -fexceptions
//   runtime   a library that throws for others (libstdc++, libgcc_s, libunwind). It does nothing by itself, so it counts only if
//             a file that counts imports something of it
//   allocator a library that replaces malloc(). Its C functions throw nothing and make no callbacks, so it counts only if a file
//             that counts imports a C++ name of it: libjemalloc has `operator new`, which C programs do not call
//
// All other files count. The C library has handlers for cancelled threads only. A cancelled thread still ends correctly, as its
// unwinder takes the unknown address for the end of the stack.
//
// The judgement is made when the probes are enabled: a C++ library that a C program loads later is not seen.

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

// How a file takes part in exceptions and, by its dynamic symbols, which other files it uses.
struct LinkedFile {
  std::unordered_set<std::string> imports, exports;
  bool has_handlers = true;
  bool is_runtime = false, is_allocator = false, is_c_library = false;

  // For a file that cannot be read, the worst case.
  static LinkedFile read(const MappedObject& object);
};

// True if an exception may pass a function of a process that has these files mapped.
bool can_throw(std::span<const LinkedFile* const> files);

}  // namespace dvm::runtime
