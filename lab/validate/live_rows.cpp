// Covered by tests/runtime/scenarios/test_validate.py.

#include "lab/validate/live_rows.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

constexpr LiveRow kRows[] = {
#define DVM_LIVE_ROW(group, name, title, reference, measure, job, rounds, baseline, probability, frames, returns, program, \
                     setting)                                                                                              \
  {#group, #name, title, reference, Measure::measure, job, rounds, baseline, probability, frames, returns, program, setting},
#include "lab/validate/live_rows.def"
};

}  // namespace

std::span<const LiveRow> live_rows() { return kRows; }

std::vector<const LiveRow*> find_live_rows(std::span<const std::string> names, std::string& unknown) {
  const auto is_asked_for = [](const LiveRow& row, const std::string& name) { return row.name == name || row.group == name; };
  for (const std::string& name : names)
    if (std::none_of(std::begin(kRows), std::end(kRows), [&](const LiveRow& row) { return is_asked_for(row, name); }))
      unknown = name;
  std::vector<const LiveRow*> found;
  for (const LiveRow& row : kRows)
    if (names.empty() || std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_asked_for(row, name); }))
      found.push_back(&row);
  return found;
}

}  // namespace dvm::runtime
