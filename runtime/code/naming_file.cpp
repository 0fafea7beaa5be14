// Covered by tests/unit/code/named_code_test.cpp.

#include "runtime/code/naming_file.h"

#include <elf.h>

#include <algorithm>
#include <map>

namespace dvm::runtime {
namespace {

class PointerReader {
 public:
  PointerReader(const NamingFile& from, const NamingFile::TakePointer& take) : from_(from), take_(take) { read_tags(); }

  void read_relocations() const {
    const CodeBytes bytes = table(DT_RELA, DT_RELASZ);
    const auto symbols = tags_.find(DT_SYMTAB);
    Elf64_Rela one;
    for (uint64_t offset = 0; load_value(bytes, offset, one); offset += sizeof one) {
      const auto addend = static_cast<uint64_t>(one.r_addend);
      const uint32_t type = ELF64_R_TYPE(one.r_info);
      if (type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE) take_(addend, one.r_offset);
      if ((type != R_X86_64_64 && type != R_X86_64_GLOB_DAT) || symbols == tags_.end()) continue;
      Elf64_Sym symbol;
      const uint64_t number = ELF64_R_SYM(one.r_info);
      if (load_at(symbols->second + number * sizeof symbol, symbol) && symbol.st_shndx != SHN_UNDEF)
        take_(symbol.st_value + addend, one.r_offset);
    }
  }

  // DT_RELR: an address, then words of bits for the 63 words behind it.
  void read_packed() const {
    constexpr uint64_t kWord = 8, kBits = 63;
    const CodeBytes bytes = table(DT_RELR, DT_RELRSZ);
    uint64_t entry = 0, place = 0;
    for (uint64_t offset = 0; load_value(bytes, offset, entry); offset += kWord) {
      if ((entry & 1) == 0) {
        take_at(entry);
        place = entry + kWord;
        continue;
      }
      for (uint64_t bit = 0; bit < kBits; bit++)
        if ((entry >> (bit + 1) & 1) != 0) take_at(place + bit * kWord);
      place += kBits * kWord;
    }
  }

 private:
  // What the dynamic section says. Only the last of each tag counts.
  void read_tags() {
    const CodeBytes bytes = from_.at(from_.dynamic.address, from_.dynamic.size);
    Elf64_Dyn one;
    for (uint64_t offset = 0; load_value(bytes, offset, one) && one.d_tag != DT_NULL; offset += sizeof one)
      if (one.d_tag > 0 && one.d_tag <= DT_RELR) tags_[one.d_tag] = one.d_un.d_val;
  }

  CodeBytes table(int64_t address, int64_t size) const {
    const auto begin = tags_.find(address), bytes = tags_.find(size);
    return begin == tags_.end() || bytes == tags_.end() ? CodeBytes() : from_.at(begin->second, bytes->second);
  }

  template <class T>
  bool load_at(uint64_t address, T& value) const {
    return load_value(from_.at(address, sizeof value), 0, value);
  }
  void take_at(uint64_t place) const {
    uint64_t address = 0;
    if (load_at(place, address)) take_(address, place);
  }

  const NamingFile& from_;
  const NamingFile::TakePointer& take_;
  std::map<int64_t, uint64_t> tags_;
};

}  // namespace

CodeBytes NamingFile::at(uint64_t address, uint64_t size) const {
  for (const auto segments : {data, code})
    for (const FileSegment& one : segments)
      if (one.has_address(address))
        return file.subspan(one.offset + (address - one.address), std::min(size, one.size - (address - one.address)));
  return {};
}

void NamingFile::each_pointer(const TakePointer& take) const {
  const PointerReader reader(*this, take);
  reader.read_relocations();
  reader.read_packed();
}

}  // namespace dvm::runtime
