#include "runtime/agent/frame_rows.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace dvm::runtime {
namespace {

// Instructions of DWARF, and its numbers of registers.
constexpr unsigned char kAdvance = 0x04, kSameValue = 0x08, kDefineFrame = 0x0c, kFrameOffset = 0x0e, kSavedAt = 0x11,
                        kValueAt = 0x15, kValueIs = 0x16, kSavedNear = 0x80, kConstant = 0x03;
constexpr unsigned char kStackPointer = 7, kReturnAddress = 16;
constexpr int64_t kFrameAbove = 1;  // the stack pointer of the probed function

// By the words of struct pt_regs: those that a function keeps for its caller, and %r10, which may lead to its frame.
constexpr std::array<unsigned char, 8> kRegisters = {15, 14, 13, 12, 6, 3, 0xff, 10};

class Writer {
 public:
  void add(std::initializer_list<unsigned char> bytes) { bytes_.insert(bytes_.end(), bytes); }
  template <class T>
  void raw(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void unsigned_leb(uint64_t value) {
    for (; value > 0x7f; value >>= 7) add({static_cast<unsigned char>(value | 0x80)});
    add({static_cast<unsigned char>(value)});
  }
  void signed_leb(int64_t value) {
    for (; value < -64 || value > 63; value >>= 7) add({static_cast<unsigned char>(value | 0x80)});
    add({static_cast<unsigned char>(value & 0x7f)});
  }
  // The length of all comes first.
  std::vector<unsigned char> finish() {
    while (bytes_.size() % 8 != 4) add({0});
    const auto length = static_cast<uint32_t>(bytes_.size());
    std::vector<unsigned char> made(sizeof length);
    std::memcpy(made.data(), &length, sizeof length);
    made.insert(made.end(), bytes_.begin(), bytes_.end());
    return made;
  }

 private:
  std::vector<unsigned char> bytes_;
};

void add_registers(Writer& to, uint32_t before, const FrameRow& row) {
  for (uint32_t word = 0; word < kRegisters.size(); word++) {
    const uint32_t bit = 1U << word;
    if (kRegisters[word] == 0xff || ((before ^ row.kept) & bit) == 0) continue;
    to.add({(row.kept & bit) != 0 ? kSavedAt : kSameValue, kRegisters[word]});
    if ((row.kept & bit) != 0) to.signed_leb(int64_t{8} * word - row.depth - kFrameAbove);
  }
}

void add_row(Writer& to, const FrameRow& before, const FrameRow& row) {
  if (row.at != before.at) to.add({kAdvance}), to.raw(row.at - before.at);
  to.add({kFrameOffset}), to.unsigned_leb(uint64_t{row.depth} + kFrameAbove);
  to.add({kValueIs, kReturnAddress, 1 + sizeof row.counter, kConstant}), to.raw(row.counter);
  add_registers(to, before.kept, row);
}

template <class T>
T value_at(std::span<const std::byte> bytes, uint64_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::vector<unsigned char> frame_cie() {
  Writer to;
  to.raw(uint32_t{0});
  to.add({1, 'z', 'R', 'S', 0, 1, 1, kReturnAddress, 1, 0});  // version 1; factors 1; addresses are absolute
  to.add({kDefineFrame, kStackPointer, kFrameAbove});
  to.add({kValueAt, kStackPointer}), to.signed_leb(-kFrameAbove);
  return to.finish();
}

std::vector<unsigned char> plain_cie() {
  Writer to;
  to.raw(uint32_t{0});
  to.add({1, 'z', 'R', 0, 1, 0x78, kReturnAddress, 1, 0});  // the second factor is -8
  to.add({kDefineFrame, kStackPointer, 8, kSavedNear | kReturnAddress, 1});
  return to.finish();
}

std::vector<unsigned char> frame_fde(uint64_t at, uint64_t cie, uint64_t stub, uint64_t bytes, std::span<const FrameRow> rows) {
  Writer to;
  to.raw(static_cast<uint32_t>(at + sizeof(uint32_t) - cie));
  to.raw(stub);
  to.raw(bytes);
  to.add({0});
  FrameRow before;
  for (const FrameRow& row : rows) {
    add_row(to, before, row);
    before = row;
  }
  return to.finish();
}

// All FDEs of the section have the same form: distances of four bytes.
std::vector<inside::FrameEntry> frame_entries(std::span<const std::byte> code, uint64_t begin, uint64_t end, uint64_t base) {
  std::vector<inside::FrameEntry> found;
  constexpr uint64_t kWord = sizeof(uint32_t);
  for (uint64_t at = begin; at + kWord < end;) {
    const auto length = value_at<uint32_t>(code, at);
    if (length == 0) break;
    const uint64_t from = at + 2 * kWord;
    const uint64_t function = base + from + static_cast<uint64_t>(int64_t{value_at<int32_t>(code, from)});
    if (value_at<uint32_t>(code, at + kWord) != 0)
      found.push_back({static_cast<uint32_t>(function), static_cast<uint32_t>(function + value_at<uint32_t>(code, from + kWord)),
                       static_cast<uint32_t>(base + at)});
    at += kWord + length;
  }
  return found;
}

}  // namespace dvm::runtime
