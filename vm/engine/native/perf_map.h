#pragma once
// Names machine code for perf. The file /tmp/perf-PID.map, which `perf report` reads, has a line "ADDRESS SIZE NAME" for each
// function. It is written only on request (write_perf_map). Consumer context; any thread.

#include <cstddef>
#include <string_view>

namespace dvm::vm::native {

// Does nothing if the file was not requested, or if it may belong to another user.
void name_code(const void* begin, size_t size, std::string_view name);

}  // namespace dvm::vm::native
