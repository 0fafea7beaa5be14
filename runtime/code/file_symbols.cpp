// Covered by tests/unit/code/system_call_finder_test.cpp.

#include "runtime/code/file_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "runtime/code/naming_file.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostSymbols = size_t{1} << 23, kMostSections = 4096;

std::vector<Elf64_Shdr> sections_of(CodeBytes file) {
  std::vector<Elf64_Shdr> found;
  Elf64_Ehdr header;
  Elf64_Shdr section;
  if (!load_value(file, 0, header) || header.e_shentsize != sizeof section) return found;
  const size_t count = std::min<size_t>(header.e_shnum, kMostSections);
  for (size_t i = 0; i < count && load_value(file, header.e_shoff + i * sizeof section, section); i++) found.push_back(section);
  return found;
}

}  // namespace

FileSymbols::FileSymbols(CodeBytes file) : file_(file) {
  const std::vector<Elf64_Shdr> sections = sections_of(file);
  for (const Elf64_Shdr& one : sections) {
    if ((one.sh_flags & SHF_EXECINSTR) != 0) code_.push_back({one.sh_addr, one.sh_size});
    const bool has_symbols = one.sh_type == SHT_SYMTAB || one.sh_type == SHT_DYNSYM;
    if (has_symbols && one.sh_link < sections.size()) read_functions(one.sh_offset, one.sh_size, sections[one.sh_link].sh_offset);
  }
  std::ranges::stable_sort(functions_, {}, &Function::address);
}

void FileSymbols::read_functions(uint64_t symbols, uint64_t size, uint64_t names) {
  Elf64_Sym symbol;
  for (uint64_t at = 0; at < size && read_ < kMostSymbols; at += sizeof symbol, read_++) {
    if (!load_value(file_, symbols + at, symbol)) return;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF)
      functions_.push_back({symbol.st_value, symbol.st_size, names + symbol.st_name});
  }
}

std::optional<FramedFunction> FileSymbols::named(std::string_view name) const {
  const auto found = std::ranges::find_if(functions_, [&](const Function& one) {
    if (one.name > file_.size() || file_.size() - one.name <= name.size()) return false;
    const unsigned char* text = file_.data() + one.name;
    return std::memcmp(text, name.data(), name.size()) == 0 && text[name.size()] == 0;
  });
  return found == functions_.end() ? std::nullopt : std::optional(FramedFunction{found->address, found->size});
}

std::optional<FramedFunction> FileSymbols::before(uint64_t address) const {
  const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::address);
  if (after == functions_.begin()) return std::nullopt;
  return FramedFunction{std::prev(after)->address, std::prev(after)->size};
}

std::optional<FramedFunction> FileSymbols::section_of(uint64_t address) const {
  const auto found = std::ranges::find_if(code_, [&](const FramedFunction& one) { return address - one.address < one.size; });
  return found == code_.end() ? std::nullopt : std::optional(*found);
}

bool FileSymbols::may_be_code(uint64_t address) const { return code_.empty() || section_of(address); }

}  // namespace dvm::runtime
