#pragma once
// Collects the addresses that firings have recorded, each once, with their processes, so that their symbols can be looked up
// while the process exists. Probe context.

#include <cstdint>
#include <utility>
#include <vector>

namespace dvm::runtime {

class SeenAddresses {
 public:
  struct SeenAddress {
    int32_t pid = 0;
    uint64_t address = 0;  // 0: none

    friend bool operator==(const SeenAddress&, const SeenAddress&) = default;
  };

  // Allocates the table. Before this call, note() does nothing. Consumer context.
  void make_room() {
    table_.resize(kMost);
    added_.reserve(kMost);
  }
  // Adds an address. At three quarters of the table, further addresses are ignored, so that searches stay short.
  void note(int32_t pid, uint64_t address) noexcept {
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
    if (table_.empty() || address == 0) return;
    const SeenAddress wanted{pid, address};
    size_t place = (address * kSpread >> 32) % table_.size();
    while (table_[place].address != 0 && table_[place] != wanted) place = (place + 1) % table_.size();
    if (table_[place].address != 0 || count_ > kMost / 4 * 3) return;
    table_[place] = wanted;
    count_++;
    added_.push_back(wanted);
  }
  bool has_added() const { return !added_.empty(); }
  // Calls a function with each entry added since the last call. Consumer context.
  template <class Function>
  void take_added(Function function) {
    for (const SeenAddress& entry : added_) function(entry);
    added_.clear();
  }

 private:
  static constexpr size_t kMost = 1 << 16;

  std::vector<SeenAddress> table_;  // open addressing
  std::vector<SeenAddress> added_;
  size_t count_ = 0;
};

}  // namespace dvm::runtime
