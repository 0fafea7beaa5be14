// Covered by tests/unit/code/named_code_test.cpp and module_code_test.cpp.

#include "runtime/code/named_code.h"

#include <algorithm>
#include <array>

#include "runtime/code/landing_pads.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostNames = size_t{1} << 22;

class NameFinder {
 public:
  explicit NameFinder(const NamingFile& from) : from_(from), code_(from.code), data_(from.data) {}

  NamedCode find() {
    from_.each_pointer([this](uint64_t address, uint64_t place) { name_pointer(address, place); });
    for (const FileSegment& code : from_.code) read_code(code);
    const auto name_word = [this](uint64_t word, uint64_t) { name(word); };
    if (from_.is_fixed) from_.each_word(std::max<uint64_t>(code_.first(), 1), code_.last(), name_word);
    read_landing_pads();
    compact(found_.addresses);
    compact(found_.taken);
    compact(found_.pointers);
    return std::move(found_);
  }

 private:
  void name(uint64_t address) {
    if (code_.has(address)) add(address, found_.addresses);
  }
  void name_pointer(uint64_t address, uint64_t place) {
    name(address);
    if (found_.pointers.size() < kMostNames)
      found_.pointers.emplace_back(place, address);
    else
      found_.is_complete = false;
  }

  void read_landing_pads() {
    const LandingPads pads =
        find_landing_pads(from_.frame_index, [this](uint64_t address) { return from_.at(address, UINT64_MAX); });
    for (const uint64_t address : pads.addresses) name(address);
    found_.is_complete = found_.is_complete && pads.is_complete;
  }

  void take(uint64_t address) {
    const bool is_code = code_.has(address);
    if (is_code) add(address, found_.addresses);
    if (is_code || data_.has(address)) add(address, found_.taken);
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

  void read_code(const FileSegment& segment) {
    constexpr uint64_t kShortest = 6;  // lea x(%rip), %r without its first prefix
    const CodeBytes bytes = from_.bytes_of(segment);
    const std::array<bool, 256> may_take = taking_bytes();
    for (uint64_t offset = 0; offset + kShortest <= bytes.size(); offset++) {
      if (!may_take[bytes[offset]]) continue;
      const bool is_lea = bytes[offset] == 0x8d && (bytes[offset + 1] & 0xc7) == 0x05;
      int32_t value = 0;
      if (is_lea && (from_.is_fixed || (offset > 0 && (bytes[offset - 1] & 0xf8) == 0x48))) {
        load_value(bytes, offset + 2, value);
        take(segment.address + offset + kShortest + static_cast<uint64_t>(int64_t{value}));
      }
      if (!from_.is_fixed) continue;
      const CodeBytes rest = bytes.subspan(offset);
      for (const unsigned at : {immediate_at(rest), displacement_at(rest)})
        if (at != 0 && load_value(rest, at, value) && value > 0) take(static_cast<uint64_t>(value));
    }
  }

  // The first bytes of what read_code() looks for: all code of a large file is read so.
  std::array<bool, 256> taking_bytes() const {
    std::array<bool, 256> bytes{};
    bytes[0x8d] = true;
    for (unsigned one = 0; one < bytes.size() && from_.is_fixed; one++)
      bytes[one] |= takes_next(one) || one == kAdd || one == kMove || may_take_memory(one);
    return bytes;
  }

  static constexpr unsigned kAdd = 0x81, kMove = 0xc7;  // and the operands are encoded behind it
  // By push, add or mov, with the operand behind the first byte.
  static bool takes_next(unsigned first) { return first == 0x68 || first == 0x05 || (first & 0xf8) == 0xb8; }
  // By mov, movslq, add, jmp or lea.
  static bool may_take_memory(unsigned first) {
    constexpr std::array<unsigned, 5> kUsed = {0x8b, 0x63, 0x03, 0xff, 0x8d};
    return std::ranges::find(kUsed, first) != kUsed.end();
  }

  // Where an operand of four bytes stands that may be an address: of push, mov or add. 0: nowhere.
  static unsigned immediate_at(CodeBytes code) {
    if (takes_next(code[0])) return 1;
    const bool is_add = code[0] == kAdd && (code[1] & 0x38) == 0;
    return code[0] == kMove || is_add ? 2 + displacement_bytes(code) : 0;
  }
  // Likewise of an operand in memory without a base.
  static unsigned displacement_at(CodeBytes code) {
    const bool is_absolute = (code[1] & 0xc7) == 0x04 && (code[2] & 0x07) == 0x05;
    return is_absolute && may_take_memory(code[0]) ? 3 : 0;
  }
  static unsigned displacement_bytes(CodeBytes code) {
    const unsigned mode = code[1] >> 6, low = code[1] & 7U;
    if (mode == 3) return 0;
    const unsigned index = low == 4 ? 1 : 0;
    const bool is_far = mode == 2 || (mode == 0 && (low == 5 || (low == 4 && (code[2] & 7U) == 5)));
    return index + (is_far ? 4 : mode);
  }

  const NamingFile& from_;
  const LoadedAddresses code_, data_;
  NamedCode found_;
};

}  // namespace

bool NamedCode::has_inside(uint64_t begin, uint64_t last) const {
  const auto next = std::ranges::upper_bound(addresses, begin);
  return !is_complete || (next != addresses.end() && *next <= last);
}

std::optional<uint64_t> NamedCode::pointer_at(uint64_t address) const {
  const auto found = std::ranges::lower_bound(pointers, std::pair<uint64_t, uint64_t>(address, 0));
  return found != pointers.end() && found->first == address ? std::optional(found->second) : std::nullopt;
}

NamedCode find_named_code(const NamingFile& file) { return NameFinder(file).find(); }

}  // namespace dvm::runtime
