#pragma once
// Counts the steps of the consumer, and their units (keys, frames, bytes or digits), for the ledger.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "dvm/vm/cost.h"

namespace dvm::runtime {

enum class ConsumerStep : uint8_t {
#define DVM_CONSUMER_STEP(name, text) name,
#include "runtime/cost/consumer_steps.def"
};

inline constexpr std::string_view kConsumerStepNames[] = {
#define DVM_CONSUMER_STEP(name, text) #name,
#include "runtime/cost/consumer_steps.def"
};
inline constexpr size_t kConsumerSteps = std::size(kConsumerStepNames);

class StepCounts {
 public:
  // Counts one step.
  void add(ConsumerStep step, uint64_t units = 0) { of_[static_cast<size_t>(step)] += {1, 0, 0, units}; }
  const vm::Tally& of(ConsumerStep step) const { return of_[static_cast<size_t>(step)]; }

 private:
  std::array<vm::Tally, kConsumerSteps> of_{};
};

}  // namespace dvm::runtime
