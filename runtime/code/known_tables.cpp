// Covered by tests/unit/code/module_code_test.cpp.

#include "runtime/code/known_tables.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

// The bytes of a jump by a register may stand somewhere in it.
bool may_use_table(CodeBytes code) {
  constexpr unsigned char kIndirect = 0xff, kJumpByRegister = 0xe0;
  for (size_t at = 0; at + 1 < code.size(); at++)
    if (code[at] == kIndirect && (code[at + 1] & 0xf8) == kJumpByRegister) return true;
  return false;
}

CodeBytes code_of(CodeBytes file, const FileSegment& segment, const FramedFunction& function) {
  if (!segment.has_address(function.address)) return {};
  const uint64_t offset = function.address - segment.address;
  return file.subspan(segment.offset + offset, std::min(function.size, segment.size - offset));
}

}  // namespace

std::vector<uint64_t> find_known_tables(CodeBytes file, std::span<const FileSegment> code,
                                        const std::function<FunctionCode(const FramedFunction&)>& decode) {
  constexpr size_t kMostBytes = size_t{16} << 20;  // of functions that are decoded
  std::vector<uint64_t> tables;
  size_t bytes = 0;
  for (const FramedFunction& function : framed_functions(file))
    for (const FileSegment& segment : code) {
      const CodeBytes its = code_of(file, segment, function);
      if (!may_use_table(its) || (bytes += its.size()) > kMostBytes) continue;
      const std::vector<uint64_t> own = decode(function).tables;
      tables.insert(tables.end(), own.begin(), own.end());
    }
  std::ranges::sort(tables);
  return tables;
}

}  // namespace dvm::runtime
