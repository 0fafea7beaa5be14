// Near names by the distance of Damerau and Levenshtein. Covered by tests/unit/common/similar_test.cpp.

#include "common/similar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <tuple>

namespace dvm {
namespace {

// Rows of the table of distances between the beginnings of two names.
using Distances = std::vector<size_t>;

// Row by row over `b`, with the two rows before for exchanged neighbours; gives up with limit + 1 as soon as two rows in a row
// are above the limit.
size_t distance(std::string_view a, std::string_view b, size_t limit, std::array<Distances, 3>& rows) {
  auto& [row, before, older] = rows;
  for (Distances& each : rows) each.resize(a.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  size_t least = 0;
  for (size_t j = 1; j <= b.size(); j++) {
    std::swap(older, before);
    std::swap(before, row);
    size_t least_before = least;
    least = row[0] = j;
    for (size_t i = 1; i <= a.size(); i++) {
      row[i] = std::min({before[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1), row[i - 1] + 1, before[i] + 1});
      bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[i] = std::min(row[i], older[i - 2] + 1);
      least = std::min(least, row[i]);
    }
    if (std::min(least, least_before) > limit) return limit + 1;
  }
  return row[a.size()];
}

}  // namespace

std::vector<std::string> similar_names(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr size_t kLongest = 128, kMost = 3;
  if (name.size() < 2 || name.size() > kLongest) return {};  // everything is near to one letter
  size_t limit = std::max<size_t>(1, name.size() / 3);
  std::set<std::tuple<size_t, size_t, std::string_view>> near;  // steps, difference in length, name
  std::array<Distances, 3> rows;
  for (std::string_view candidate : candidates) {
    if (candidate.size() > name.size() + limit || candidate.size() + limit < name.size()) continue;
    size_t steps = distance(name, candidate, limit, rows);
    if (steps > limit) continue;
    size_t longer = std::max(candidate.size(), name.size()), shorter = std::min(candidate.size(), name.size());
    near.emplace(steps, longer - shorter, candidate);
    if (near.size() > kMost) near.erase(std::prev(near.end()));
  }
  std::vector<std::string> names;
  for (const auto& [steps, difference, candidate] : near) names.emplace_back(candidate);
  return names;
}

std::vector<std::string> near_hints(std::string_view name, std::span<const std::string_view> candidates, std::string_view prefix,
                                    std::string_view suffix) {
  std::vector<std::string> hints = similar_names(name, candidates);
  for (std::string& hint : hints) hint = fmt::format("did you mean '{}{}{}'?", prefix, hint, suffix);
  return hints;
}

}  // namespace dvm
