#pragma once
// Finds the jump tables of functions that are understood (jump_tables.h), so that what is read as a table from some other address
// on ends where one of these begins. Functions are those of the unwinders' table, which stripped files have, too. Files are
// untrusted: the work is bounded. Consumer context.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "runtime/code/frame_index.h"
#include "runtime/code/function_code.h"
#include "runtime/code/naming_file.h"

namespace dvm::runtime {

// Ascending addresses of tables of distances. decode: the code of a function, with its tables. Functions beyond the bound are
// left out.
std::vector<uint64_t> find_known_tables(CodeBytes file, std::span<const FileSegment> code,
                                        const std::function<FunctionCode(const FramedFunction&)>& decode);

}  // namespace dvm::runtime
