// What a delivery says of its firings. Covered by tests/runtime/scenarios/test_stacks.py.

#include "runtime/instrument/uprobe/delivery.h"

#include <fmt/format.h>

namespace dvm::runtime {

void Delivery::note_cut_stacks(std::vector<std::string>& notes, std::string_view more) {
  const uint64_t cut = unwinder_.take_cut();
  if (cut == 0) return;
  notes.push_back(fmt::format("{} stack{} where the captured part of {} does; -x ustackunwind={} captures more, 64k the most",
                              cut, cut == 1 ? " ends" : "s end", cut == 1 ? "it" : "them", more));
}

}  // namespace dvm::runtime
