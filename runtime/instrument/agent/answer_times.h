#pragma once
// Decides when dvm answers a process that asks again and again. Each answer waits longer, so that the process cannot keep dvm
// busy.

#include <algorithm>
#include <cstdint>

namespace dvm::runtime {

class AnswerTimes {
 public:
  // All times are in ns.
  bool is_due(uint64_t now) const { return now >= next_; }
  void note_answer(uint64_t now) {
    next_ = now + pause_;
    pause_ = std::min(2 * pause_, kLongest);
    is_first_ = false;
  }
  bool is_first() const { return is_first_; }
  // If it has not asked for a second since it could be answered, the next answer is a first one.
  void forget_old(uint64_t now) {
    if (now >= next_ + kLongest) *this = {};
  }

 private:
  static constexpr uint64_t kShortest = 20'000'000, kLongest = 1'000'000'000;

  uint64_t next_ = 0, pause_ = kShortest;
  bool is_first_ = true;
};

}  // namespace dvm::runtime
