#include "runtime/instrument/agent/tail_finder.h"

#include "runtime/code/frame_index.h"

namespace dvm::runtime {

TailExits TailFinder::find(const std::string& path, const ModuleCode& code, const FunctionExtent& function) {
  return find_tail_exits(function, {[&](const FunctionExtent& its) { return code.bytes(its.offset, its.size); },
                                    [&](uint64_t offset) {
                                      const auto around = function_around(path, code, offset);
                                      return around && around->offset == offset ? around : std::nullopt;
                                    },
                                    [&](uint64_t offset) { return function_around(path, code, offset); },
                                    [&](uint64_t offset) { return is_as_entered(path, offset); }});
}

std::optional<FunctionExtent> TailFinder::function_around(const std::string& path, const ModuleCode& code, uint64_t offset) {
  const auto elf = elfs_.read(path);
  const auto address = elf ? (*elf)->address_of(offset) : std::nullopt;
  if (!address) return std::nullopt;
  const ElfFunction* found = (*elf)->function_at(*address);
  const auto framed = framed_function(code.file(), *address);
  uint64_t begin = 0, size = 0;
  if (found != nullptr && (found->address == *address || !framed || framed->address != *address))
    begin = found->address, size = found->is_indirect ? 0 : found->size;
  else if (framed)
    begin = framed->address, size = framed->size;
  if (size == 0) return std::nullopt;
  return FunctionExtent{offset - (*address - begin), size, size};
}

// By call frame information: the frame begins eight bytes above the stack pointer.
bool TailFinder::is_as_entered(const std::string& path, uint64_t offset) {
  constexpr int32_t kReturnAddressBytes = 8;
  const auto frames = frames_.open(path);
  const auto address = frames ? frames->address_of(offset) : std::nullopt;
  if (!address) return false;
  const FrameRule& rule = frames->at(*address);
  return rule.is_known && !rule.cfa_is_loaded && !rule.is_signal && rule.cfa_base == kStackPointer &&
         rule.cfa_offset == kReturnAddressBytes;
}

}  // namespace dvm::runtime
