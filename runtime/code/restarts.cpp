// Covered by tests/unit/code/named_code_test.cpp.

#include "runtime/code/restarts.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace dvm::runtime {
namespace {

constexpr size_t kMostSequences = 2048, kMostSignatures = size_t{1} << 16;
constexpr uint64_t kSignatureBytes = sizeof kRestartSignature;

class SequenceFinder {
 public:
  explicit SequenceFinder(const NamingFile& from) : from_(from) {}

  RestartableSequences find() {
    for (const FileSegment& code : from_.code) find_signatures(code);
    std::ranges::sort(behind_);
    if (behind_.empty() || !found_.is_complete) return found_;
    const auto add = [this](uint64_t address, uint64_t place) { add_place(address, place); };
    from_.each_pointer(add);
    if (from_.is_fixed) from_.each_word(behind_.front(), behind_.back(), add);
    if (places_.empty()) return found_;
    read_pointers();
    for (const uint64_t place : places_) read_sequence(place);
    return found_;
  }

 private:
  void find_signatures(const FileSegment& code) {
    const CodeBytes bytes = from_.bytes_of(code);
    uint32_t before = 0;
    if (load_value(from_.at(code.address - kSignatureBytes, kSignatureBytes), 0, before) && before == kRestartSignature)
      add_signature(code.address);  // at the end of another segment
    for (uint64_t at = 0; found_.is_complete && at < bytes.size(); at++) {
      const void* next = memmem(bytes.data() + at, bytes.size() - at, &kRestartSignature, kSignatureBytes);
      if (next == nullptr) return;
      at = static_cast<uint64_t>(static_cast<const unsigned char*>(next) - bytes.data());
      add_signature(code.address + at + kSignatureBytes);
    }
  }
  void add_signature(uint64_t behind) {
    const auto is_there = [&](const FileSegment& one) { return one.has_address(behind); };
    if (std::ranges::any_of(from_.code, is_there)) behind_.push_back(behind);
    found_.is_complete = behind_.size() <= kMostSignatures;
  }

  void add_place(uint64_t address, uint64_t place) {
    if (address < behind_.front() || address > behind_.back() || !std::ranges::binary_search(behind_, address)) return;
    found_.is_complete = places_.size() < kMostSequences;
    if (found_.is_complete) places_.push_back(place);
  }

  // What the dynamic linker stores in the descriptors.
  void read_pointers() {
    for (const uint64_t place : places_) pointers_[place], pointers_[place - kFirst];
    from_.each_pointer([this](uint64_t address, uint64_t place) {
      const auto found = pointers_.find(place);
      if (found != pointers_.end()) found->second = std::min(found->second.value_or(UINT64_MAX), address);
    });
  }
  uint64_t load(uint64_t place) const {
    uint64_t value = 0;
    load_value(from_.at(place, sizeof value), 0, value);
    const auto stored = pointers_.find(place);
    return stored == pointers_.end() ? value : stored->second.value_or(value);
  }

  // The kernel refuses a sequence that continues in itself.
  void read_sequence(uint64_t place) {
    const uint64_t first = load(place - kFirst), size = load(place - kSize), aborted = load(place);
    found_.ranges.emplace_back(aborted - kSignatureBytes, aborted - 1);
    const auto is_there = [&](const FileSegment& one) { return one.has_address(first); };
    const bool is_sequence = size > 0 && size <= UINT64_MAX - first && aborted - first >= size;
    if (is_sequence && std::ranges::any_of(from_.code, is_there)) found_.ranges.emplace_back(first, first + size - 1);
  }

  static constexpr uint64_t kFirst = 16, kSize = 8;  // bytes before the address where it is aborted

  const NamingFile& from_;
  std::vector<uint64_t> behind_;  // addresses behind a signature, ascending
  std::vector<uint64_t> places_;  // words with such an address
  std::map<uint64_t, std::optional<uint64_t>> pointers_;
  RestartableSequences found_;
};

}  // namespace

bool RestartableSequences::overlap(uint64_t begin, uint64_t last) const {
  return !is_complete || std::ranges::any_of(ranges, [&](const auto& one) { return one.first <= last && one.second >= begin; });
}

RestartableSequences find_restartable_sequences(const NamingFile& file) { return SequenceFinder(file).find(); }

}  // namespace dvm::runtime
