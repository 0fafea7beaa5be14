// Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/capture_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {
namespace {

constexpr double kRingHead = 8;  // bytes of a BPF ring buffer's record besides dvm's

vm::Cost memory_cost(Prices& prices, const MemoryNeed& need) {
  if (!need.is_string) return prices.of("capture/bytes"_row, need.size);
  return prices.of("capture/string"_row, std::min<double>(prices.sizes().expected, need.size));
}

void add_stack(CaptureCost& cost, Prices& prices, const CaptureNeeds& needs) {
  const double frames = std::min<double>(prices.sizes().frames, needs.frames);
  if (needs.stack_bytes == 0) {
    cost.thread += prices.of("capture/stack"_row, frames);
  } else {
    cost.thread += prices.of("capture/stack_bytes"_row, needs.stack_bytes);
    cost.dvm += prices.of("capture/unwind"_row, frames);
  }
}

}  // namespace

CaptureCost capture_cost(Prices& prices, const CaptureNeeds& needs) {
  CaptureCost cost;
  const auto add_if = [&](bool is_needed, Row row) {
    if (is_needed) cost.thread += prices.of(row);
  };
  add_if(needs.time, "capture/time"_row);
  add_if(needs.vtime, "capture/cpu_time"_row);
  add_if(needs.thread, "capture/thread"_row);
  add_if(needs.comm, "capture/name"_row);
  if (const int words = std::popcount(needs.args) + std::popcount(needs.registers); words != 0)
    cost.thread += prices.of("capture/argument"_row).times(words);
  for (const MemoryNeed& need : needs.memory) cost.thread += memory_cost(prices, need);
  if (needs.frames != 0) add_stack(cost, prices, needs);
  return cost;
}

double ring_bytes(const CaptureNeeds& needs, double string) {
  const RecordLayouts layouts = make_layouts(possible_needs(needs, SiteKind::entry), SiteKind::entry);
  const auto fits = [&](const MemorySlot& slot) { return !slot.is_variable() || string < slot.need.size; };
  const auto& slots = layouts.first.slots;
  const bool is_first = !layouts.larger || std::all_of(slots.begin(), slots.end(), fits);
  const RecordLayout& layout = is_first ? layouts.first : *layouts.larger;
  return kRingHead + 8 * std::ceil((layout.is_cut ? std::min<double>(layout.size, layout.least + string) : layout.size) / 8);
}

}  // namespace dvm::runtime
