// Covered by tests/unit/code/named_code_test.cpp and module_code_test.cpp.

#include "runtime/code/named_code.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "runtime/code/landing_pads.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostNames = size_t{1} << 22;
constexpr size_t kMostSequences = 2048;
constexpr uint64_t kSignatureBytes = sizeof kRestartSignature;

// What the dynamic section says, by tag. Only the last of each counts.
using DynamicTags = std::map<int64_t, uint64_t>;

class NameFinder {
 public:
  explicit NameFinder(const NamingFile& from) : from_(from) {}

  NamedCode find() {
    const DynamicTags tags = read_tags();
    read_relocations(tags);
    read_packed(tags);
    for (const FileSegment& code : from_.code) read_code(code);
    if (from_.is_fixed) {
      for (const FileSegment& code : from_.code) read_words(code);
      for (const FileSegment& data : from_.data) read_words(data);
    }
    read_landing_pads();
    compact(found_.addresses);
    compact(found_.taken);
    compact(found_.pointers);
    read_sequences();
    return std::move(found_);
  }

 private:
  // The bytes from the address on in one segment, at most `size`.
  CodeBytes at(uint64_t address, uint64_t size) const {
    for (const auto segments : {from_.data, from_.code})
      for (const FileSegment& one : segments)
        if (one.has_address(address))
          return from_.file.subspan(one.offset + (address - one.address), std::min(size, one.size - (address - one.address)));
    return {};
  }

  template <class T>
  static bool load(CodeBytes bytes, uint64_t offset, T& value) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return true;
  }

  static bool lies_in(std::span<const FileSegment> segments, uint64_t address) {
    return std::any_of(segments.begin(), segments.end(), [&](const FileSegment& one) { return one.has_address(address); });
  }

  void name(uint64_t address) {
    if (lies_in(from_.code, address)) add(address, found_.addresses);
  }
  // By a word there.
  void name(uint64_t address, uint64_t place) {
    const bool is_code = lies_in(from_.code, address);
    if (is_code) add(address, found_.addresses);
    if (is_code && follows_signature(address)) add_abort(place);
  }
  void add_abort(uint64_t place) {
    found_.has_all_sequences = aborts_.size() < kMostSequences;
    if (found_.has_all_sequences) aborts_.push_back(place);
  }
  void name_pointer(uint64_t address, uint64_t place) {
    name(address, place);
    if (found_.pointers.size() < kMostNames)
      found_.pointers.emplace_back(place, address);
    else
      found_.is_complete = false;
  }

  void read_landing_pads() {
    const LandingPads pads = find_landing_pads(from_.frame_index, [this](uint64_t address) { return at(address, UINT64_MAX); });
    for (const uint64_t address : pads.addresses) name(address);
    found_.is_complete = found_.is_complete && pads.is_complete;
  }

  // The kernel continues a restartable sequence only behind these bytes.
  bool follows_signature(uint64_t address) const {
    uint32_t before = 0;
    return load(at(address - kSignatureBytes, kSignatureBytes), 0, before) && before == kRestartSignature;
  }
  // struct rseq_cs: two numbers, the first address, the size, and where to continue. The kernel refuses one that continues in
  // the sequence itself.
  void read_sequences() {
    constexpr uint64_t kFirst = 16, kSize = 8;
    compact(aborts_);
    for (const uint64_t place : aborts_) {
      uint64_t first = 0, size = 0, aborted = 0;
      load(at(place - kFirst, sizeof first), 0, first);
      load(at(place - kSize, sizeof size), 0, size);
      load(at(place, sizeof aborted), 0, aborted);
      first = found_.pointer_at(place - kFirst).value_or(first);
      aborted = found_.pointer_at(place).value_or(aborted);
      found_.sequences.emplace_back(aborted - kSignatureBytes, aborted - 1);
      const bool is_sequence = lies_in(from_.code, first) && size > 0 && size <= UINT64_MAX - first && aborted - first >= size;
      if (is_sequence) found_.sequences.emplace_back(first, first + size - 1);
    }
    compact(found_.sequences);
  }
  void take(uint64_t address) {
    const bool is_code = lies_in(from_.code, address);
    if (is_code) add(address, found_.addresses);
    if (is_code || lies_in(from_.data, address)) add(address, found_.taken);
  }

  void add(uint64_t address, std::vector<uint64_t>& to) {
    if (!found_.is_complete) return;
    to.push_back(address);
    if (to.size() < kMostNames) return;
    compact(to);
    found_.is_complete = to.size() < kMostNames / 2;
  }
  template <class T>
  static void compact(std::vector<T>& all) {
    std::ranges::sort(all);
    const auto same = std::ranges::unique(all);
    all.erase(same.begin(), same.end());
  }

  DynamicTags read_tags() const {
    DynamicTags tags;
    const CodeBytes bytes = at(from_.dynamic.address, from_.dynamic.size);
    Elf64_Dyn one;
    for (uint64_t offset = 0; load(bytes, offset, one) && one.d_tag != DT_NULL; offset += sizeof one)
      if (one.d_tag > 0 && one.d_tag <= DT_RELR) tags[one.d_tag] = one.d_un.d_val;
    return tags;
  }

  CodeBytes table(const DynamicTags& tags, int64_t address, int64_t size) const {
    const auto begin = tags.find(address), bytes = tags.find(size);
    return begin == tags.end() || bytes == tags.end() ? CodeBytes() : at(begin->second, bytes->second);
  }

  void read_relocations(const DynamicTags& tags) {
    const CodeBytes bytes = table(tags, DT_RELA, DT_RELASZ);
    const auto symbols = tags.find(DT_SYMTAB);
    Elf64_Rela one;
    for (uint64_t offset = 0; load(bytes, offset, one); offset += sizeof one) {
      const auto addend = static_cast<uint64_t>(one.r_addend);
      const uint32_t type = ELF64_R_TYPE(one.r_info);
      if (type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE) name_pointer(addend, one.r_offset);
      if ((type != R_X86_64_64 && type != R_X86_64_GLOB_DAT) || symbols == tags.end()) continue;
      Elf64_Sym symbol;
      const uint64_t number = ELF64_R_SYM(one.r_info);
      if (load(at(symbols->second + number * sizeof symbol, sizeof symbol), 0, symbol) && symbol.st_shndx != SHN_UNDEF)
        name_pointer(symbol.st_value + addend, one.r_offset);
    }
  }

  // DT_RELR: an address, then words of bits for the 63 words behind it.
  void read_packed(const DynamicTags& tags) {
    constexpr uint64_t kWord = 8, kBits = 63;
    const CodeBytes bytes = table(tags, DT_RELR, DT_RELRSZ);
    uint64_t entry = 0, place = 0;
    for (uint64_t offset = 0; load(bytes, offset, entry); offset += kWord) {
      if ((entry & 1) == 0) {
        name_at(entry);
        place = entry + kWord;
        continue;
      }
      for (uint64_t bit = 0; bit < kBits; bit++)
        if ((entry >> (bit + 1) & 1) != 0) name_at(place + bit * kWord);
      place += kBits * kWord;
    }
  }
  void name_at(uint64_t place) {
    uint64_t address = 0;
    if (load(at(place, sizeof address), 0, address)) name_pointer(address, place);
  }

  void read_words(const FileSegment& segment) {
    const CodeBytes bytes = from_.file.subspan(segment.offset, segment.size);
    uint64_t address = 0;
    for (uint64_t offset = 0; load(bytes, offset, address); offset++)
      if (address != 0) name(address, segment.address + offset);
  }

  void read_code(const FileSegment& segment) {
    constexpr uint64_t kShortest = 6;  // lea x(%rip), %r without its first prefix
    const CodeBytes bytes = from_.file.subspan(segment.offset, segment.size);
    for (uint64_t offset = 0; offset + kShortest <= bytes.size(); offset++) {
      const bool is_lea = bytes[offset] == 0x8d && (bytes[offset + 1] & 0xc7) == 0x05;
      int32_t value = 0;
      if (is_lea && (from_.is_fixed || (offset > 0 && (bytes[offset - 1] & 0xf8) == 0x48))) {
        load(bytes, offset + 2, value);
        take(segment.address + offset + kShortest + static_cast<uint64_t>(int64_t{value}));
      }
      if (!from_.is_fixed) continue;
      const CodeBytes rest = bytes.subspan(offset);
      for (const unsigned at : {immediate_at(rest), displacement_at(rest)})
        if (at != 0 && load(rest, at, value) && value > 0) take(static_cast<uint64_t>(value));
    }
  }

  // Where an operand of four bytes stands that may be an address: of push, mov or add. 0: nowhere.
  static unsigned immediate_at(CodeBytes code) {
    if (code[0] == 0x68 || code[0] == 0x05 || (code[0] & 0xf8) == 0xb8) return 1;
    const bool is_add = code[0] == 0x81 && (code[1] & 0x38) == 0;
    return code[0] == 0xc7 || is_add ? 2 + displacement_bytes(code) : 0;
  }
  // Likewise of an operand in memory without a base, of mov, movslq, add, jmp or lea.
  static unsigned displacement_at(CodeBytes code) {
    constexpr std::array<unsigned char, 5> kUsed = {0x8b, 0x63, 0x03, 0xff, 0x8d};
    const bool is_absolute = (code[1] & 0xc7) == 0x04 && (code[2] & 0x07) == 0x05;
    return is_absolute && std::ranges::find(kUsed, code[0]) != kUsed.end() ? 3 : 0;
  }
  static unsigned displacement_bytes(CodeBytes code) {
    const unsigned mode = code[1] >> 6, low = code[1] & 7U;
    if (mode == 3) return 0;
    const unsigned index = low == 4 ? 1 : 0;
    const bool is_far = mode == 2 || (mode == 0 && (low == 5 || (low == 4 && (code[2] & 7U) == 5)));
    return index + (is_far ? 4 : mode);
  }

  const NamingFile& from_;
  std::vector<uint64_t> aborts_;  // words with the address where a restartable sequence continues
  NamedCode found_;
};

}  // namespace

bool NamedCode::is_restarted(uint64_t begin, uint64_t last) const {
  const auto overlaps = [&](const auto& one) { return one.first <= last && one.second >= begin; };
  return !has_all_sequences || std::ranges::any_of(sequences, overlaps);
}

bool NamedCode::has_inside(uint64_t begin, uint64_t last) const {
  const auto next = std::ranges::upper_bound(addresses, begin);
  return !is_complete || is_restarted(begin, last) || (next != addresses.end() && *next <= last);
}

std::optional<uint64_t> NamedCode::pointer_at(uint64_t address) const {
  const auto found = std::ranges::lower_bound(pointers, std::pair<uint64_t, uint64_t>(address, 0));
  return found != pointers.end() && found->first == address ? std::optional(found->second) : std::nullopt;
}

NamedCode find_named_code(const NamingFile& file) { return NameFinder(file).find(); }

}  // namespace dvm::runtime
