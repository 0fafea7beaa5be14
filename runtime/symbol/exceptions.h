#pragma once
// Whether an exception may pass functions of a process while it runs, judged by the files that it has mapped. Unwinders know
// nothing of the address that a uretprobe puts in the place of a return address: a throw below such a frame is not caught above
// it. That does harm only where a frame above catches or cleans up, so a process is safe in which no such frame is ever entered.
//
//   handlers  a file whose .eh_frame names a personality: frames of C++, Rust, C with -fexceptions
//   runtime   a library that throws for others (libstdc++, libgcc_s, libunwind). It does nothing by itself, so it counts only if
//             a file that counts imports something of it
//   allocator a library that replaces malloc(). Its C functions throw nothing and call nobody back, so it counts only if a file
//             that counts imports a C++ name of it: libjemalloc has `operator new`, which C programs do not call
//
// All other files count. The C library has handlers for cancelled threads only: a cancelled thread ends as it should, as its
// unwinder takes the unknown address for the end of the stack.
//
// Judged by what is mapped when the probes are enabled: a C++ library that a program of C loads later is not seen.

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

// What a file has to do with exceptions and, by its dynamic symbols, with other files.
struct LinkedFile {
  std::unordered_set<std::string> imports, exports;
  bool has_handlers = true;
  bool is_runtime = false, is_allocator = false, is_c_library = false;

  // Of a file that cannot be read, the worst.
  static LinkedFile read(const MappedObject& object);
};

// Whether an exception may pass a function of a process that has these files mapped.
bool can_throw(std::span<const LinkedFile* const> files);

}  // namespace dvm::runtime
