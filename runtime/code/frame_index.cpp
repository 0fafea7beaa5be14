// Searches .eh_frame_hdr. Covered by tests/unit/code/module_code_test.cpp.

#include "runtime/code/frame_index.h"

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace dvm::runtime {
namespace {

class ElfView {
 public:
  explicit ElfView(CodeBytes file) : file_(file) {
    Elf64_Ehdr header;
    if (!read(0, header)) return;
    for (unsigned i = 0; i < header.e_phnum; i++) {
      Elf64_Phdr segment;
      if (!read(header.e_phoff + i * sizeof segment, segment)) return;
      if (segment.p_type == PT_LOAD) segments_.push_back(segment);
      if (segment.p_type == PT_GNU_EH_FRAME) table_ = segment;
    }
  }

  const std::optional<Elf64_Phdr>& table() const { return table_; }

  template <class T>
  bool load(uint64_t address, T& value) const {
    for (const Elf64_Phdr& segment : segments_)
      if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
        return read(address - segment.p_vaddr + segment.p_offset, value);
    return false;
  }

 private:
  template <class T>
  bool read(uint64_t at, T& value) const {
    if (at > file_.size() || file_.size() - at < sizeof value) return false;
    std::memcpy(&value, file_.data() + at, sizeof value);
    return true;
  }

  CodeBytes file_;
  std::vector<Elf64_Phdr> segments_;
  std::optional<Elf64_Phdr> table_;
};

struct IndexHeader {
  unsigned char version, frame_encoding, count_encoding, table_encoding;
  int32_t frames;
  uint32_t count;
};
struct SearchEntry {
  int32_t begin, description;
};
struct Description {
  uint32_t length, cie;
  int32_t begin;
  uint32_t size;
};

uint64_t moved(uint64_t address, int32_t by) { return address + static_cast<uint64_t>(static_cast<int64_t>(by)); }

// Relative to the table, which is what all linkers write.
bool is_usual(const IndexHeader& header) {
  constexpr unsigned char kPcRelative4 = 0x1b, kUnsigned4 = 0x03, kTableRelative4 = 0x3b;
  return header.version == 1 && header.frame_encoding == kPcRelative4 && header.count_encoding == kUnsigned4 &&
         header.table_encoding == kTableRelative4;
}

// The last row that begins at or before the address.
std::optional<SearchEntry> find_entry(const ElfView& elf, uint64_t table, uint32_t count, uint64_t address) {
  SearchEntry row{}, found{};
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (!elf.load(table + sizeof(IndexHeader) + uint64_t{middle} * sizeof row, row)) return std::nullopt;
    if (moved(table, row.begin) <= address)
      low = middle + 1, found = row;
    else
      high = middle;
  }
  return low == 0 ? std::nullopt : std::optional(found);
}

// The table's address and header.
std::optional<std::pair<uint64_t, IndexHeader>> find_index(const ElfView& elf) {
  IndexHeader header;
  if (!elf.table() || !elf.load(elf.table()->p_vaddr, header) || !is_usual(header)) return std::nullopt;
  return std::pair(elf.table()->p_vaddr, header);
}

std::optional<FramedFunction> described_function(const ElfView& elf, uint64_t table, const SearchEntry& row) {
  Description description;
  const uint64_t described = moved(table, row.description);
  if (!elf.load(described, description)) return std::nullopt;
  const uint64_t begin = moved(table, row.begin);
  // The description has its begin relative to where that stands; if it is not that, it is of another form.
  if (moved(described + offsetof(Description, begin), description.begin) != begin) return std::nullopt;
  return FramedFunction{begin, description.size};
}

}  // namespace

std::optional<FramedFunction> framed_before(CodeBytes file, uint64_t address) {
  const ElfView elf(file);
  const auto index = find_index(elf);
  const auto row = index ? find_entry(elf, index->first, index->second.count, address) : std::nullopt;
  return row ? described_function(elf, index->first, *row) : std::nullopt;
}

std::vector<FramedFunction> framed_functions(CodeBytes file) {
  const ElfView elf(file);
  std::vector<FramedFunction> found;
  const auto index = find_index(elf);
  SearchEntry row{};
  for (uint32_t i = 0; index && i < index->second.count; i++) {
    if (!elf.load(index->first + sizeof(IndexHeader) + uint64_t{i} * sizeof row, row)) break;
    if (const auto function = described_function(elf, index->first, row)) found.push_back(*function);
  }
  return found;
}

std::optional<FramedFunction> framed_function(CodeBytes file, uint64_t address) {
  const auto found = framed_before(file, address);
  return found && address - found->address < found->size ? found : std::nullopt;
}

}  // namespace dvm::runtime
