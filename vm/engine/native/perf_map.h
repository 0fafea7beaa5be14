#pragma once
// Names of machine code for perf: the file /tmp/perf-PID.map, a line "ADDRESS SIZE NAME" for each function, as `perf report`
// reads it. Off unless it was asked for. Consumer context; any thread.

#include <cstddef>
#include <string_view>

namespace dvm::vm::native {

// Does nothing if the file is off, or could be another user's.
void name_code(const void* begin, size_t size, std::string_view name);

}  // namespace dvm::vm::native
