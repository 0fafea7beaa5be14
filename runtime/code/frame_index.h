#pragma once
// Finds the bounds of functions in the search table of unwinders (.eh_frame_hdr). Stripped files have it too, and it covers
// nearly all code.
//
//   .eh_frame_hdr  | version, encodings | .eh_frame | count | begin, description | begin, description | ...   sorted by begin
//   .eh_frame      ... | length | CIE | begin | size | ...

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// By addresses as the file has them.
struct FramedFunction {
  uint64_t address = 0, size = 0;
};

// Takes the bytes of a whole ELF file. Nothing if the table is missing, has another form, or has no function there.
std::optional<FramedFunction> framed_function(CodeBytes file, uint64_t address);
// The last function that begins at the address or before it.
std::optional<FramedFunction> framed_before(CodeBytes file, uint64_t address);
// All of them, as far as they have the usual form.
std::vector<FramedFunction> framed_functions(CodeBytes file);

}  // namespace dvm::runtime
