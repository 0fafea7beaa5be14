// Groups of a delivery, and what it says of its firings. Tested by tests/unit/instrument/delivery_test.cpp and
// tests/runtime/scenarios/test_stacks.py.

#include "runtime/instrument/uprobe/delivery.h"

#include <fmt/format.h>

namespace dvm::runtime {

Status Delivery::check_room() const {
  if (groups() + 2 <= kMostGroups) return {};
  return Error{fmt::format(
      "there is room for {} kinds of records, and each process and each set of values that clauses read has one of its "
      "own; trace fewer processes at once, or let clauses read the same values",
      kMostGroups)};
}

Result<uint16_t> Delivery::share(const RecordLayouts& layouts, int32_t pid, const FiredAt& place) {
  const RecordLayout& first = layouts.first;
  const uint32_t larger = layouts.larger ? layouts.larger->size : 0;
  const SharedKey key(pid, first.size, larger, first.captured_args, first.shape.stack_moved, place.exit.has_value());
  std::vector<uint16_t>& alike = shared_[key];
  for (const uint16_t group : alike)
    if (groups_[group].layout == first && (!layouts.larger || groups_[group + 1u].layout == *layouts.larger)) return group;
  if (Status room = check_room(); !room) return room.error();
  return alike.emplace_back(static_cast<uint16_t>(add(layouts, pid)));
}

void Delivery::note_cut_stacks(std::vector<std::string>& notes, std::string_view more) {
  const uint64_t cut = unwinder_.take_cut();
  if (cut == 0) return;
  notes.push_back(
      fmt::format("{} stack{} cut, because too little of {} was captured; -x ustackunwind={} captures more (64k at most)", cut,
                  cut == 1 ? " is" : "s are", cut == 1 ? "it" : "them", more));
}

}  // namespace dvm::runtime
