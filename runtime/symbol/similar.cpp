// Near names by Levenshtein's distance. Covered by tests/unit/instrument/elf_test.cpp.

#include "runtime/symbol/similar.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace dvm::runtime {
namespace {

// Row by row over `b`; gives up with limit + 1 as soon as a whole row is above the limit.
size_t distance(std::string_view a, std::string_view b, size_t limit, std::vector<size_t>& row) {
  row.resize(a.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t j = 1; j <= b.size(); j++) {
    size_t diagonal = row[0], least = row[0] = j;
    for (size_t i = 1; i <= a.size(); i++) {
      size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({changed, row[i] + 1, row[i - 1] + 1});
      least = std::min(least, row[i]);
    }
    if (least > limit) return limit + 1;
  }
  return row[a.size()];
}

}  // namespace

std::vector<std::string> similar_names(std::string_view name, const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongest = 128, kMost = 3;
  if (name.empty() || name.size() > kLongest) return {};
  size_t limit = std::max<size_t>(1, name.size() / 3);
  std::set<std::pair<size_t, std::string_view>> near;
  std::vector<size_t> row;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > name.size() + limit || candidate.size() + limit < name.size()) continue;
    size_t steps = distance(name, candidate, limit, row);
    if (steps > limit) continue;
    near.emplace(steps, candidate);
    if (near.size() > kMost) near.erase(std::prev(near.end()));
  }
  std::vector<std::string> names;
  for (const auto& [steps, candidate] : near) names.emplace_back(candidate);
  return names;
}

}  // namespace dvm::runtime
