// Reads Go's table of functions. Tested by tests/unit/instrument/go_functions_test.cpp.

#include "runtime/symbol/go_functions.h"

#include <elf.h>

#include <algorithm>

#include "runtime/symbol/file_bytes.h"

namespace dvm::runtime {
namespace {

std::string_view name_at(CodeBytes file, uint64_t at) {
  constexpr uint64_t kMost = 64;
  const std::string_view name =
      at < file.size() ? text(file, at, std::min<uint64_t>(kMost, file.size() - at)) : std::string_view();
  return name.substr(0, name.find('\0'));
}

CodeBytes find_table(CodeBytes file) {
  const auto header = load<Elf64_Ehdr>(file, 0);
  const auto section = [&](uint64_t n) { return load<Elf64_Shdr>(file, header->e_shoff + n * sizeof(Elf64_Shdr)); };
  const auto names = header ? section(header->e_shstrndx) : std::nullopt;
  for (unsigned n = 0; names && n < header->e_shnum; n++) {
    const auto one = section(n);
    if (!one || !name_at(file, names->sh_offset + one->sh_name).ends_with(".gopclntab")) continue;
    if (one->sh_type == SHT_NOBITS || text(file, one->sh_offset, one->sh_size).empty()) return {};
    return file.subspan(one->sh_offset, one->sh_size);
  }
  return {};
}

}  // namespace

std::optional<GoFunctions> GoFunctions::read(CodeBytes file, uint64_t text) {
  constexpr uint32_t kSince18 = 0xfffffff0, kSince20 = 0xfffffff1;
  constexpr uint64_t kPointerSize = 7, kCount = 8, kFunctions = 64;
  GoFunctions read;
  read.table_ = find_table(file);
  const auto magic = load<uint32_t>(read.table_, 0);
  const auto count = load<uint64_t>(read.table_, kCount), functions = load<uint64_t>(read.table_, kFunctions);
  const bool is_known = magic == kSince18 || magic == kSince20;
  if (!is_known || load<uint8_t>(read.table_, kPointerSize) != sizeof(uint64_t) || !count || !functions) return std::nullopt;
  if (*functions > read.table_.size() || *count > (read.table_.size() - *functions) / 8) return std::nullopt;
  read.text_ = text;
  read.functions_ = *functions;
  read.count_ = *count;
  read.flag_at_ = magic == kSince18 ? 37 : 41;
  return read;
}

// Each entry is two numbers: where the function begins, from runtime.text on, and where it is described.
GoFunctions::Maker GoFunctions::maker_of(uint64_t address) const {
  constexpr uint8_t kAssembly = 4;
  uint64_t low = 0, high = count_;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (text_ + load<uint32_t>(table_, functions_ + 8 * middle).value_or(0) < address)
      low = middle + 1;
    else
      high = middle;
  }
  const auto begin = load<uint32_t>(table_, functions_ + 8 * low), described = load<uint32_t>(table_, functions_ + 8 * low + 4);
  if (low == count_ || !begin || !described || text_ + *begin != address) return Maker::unknown;
  const auto flag = load<uint8_t>(table_, functions_ + *described + flag_at_);
  if (!flag || load<uint32_t>(table_, functions_ + *described) != begin) return Maker::unknown;
  return (*flag & kAssembly) != 0 ? Maker::assembler : Maker::compiler;
}

}  // namespace dvm::runtime
