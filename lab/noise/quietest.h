#pragma once
// Repeats samples that were taken while a neighbour used the core.

#include <algorithm>
#include <vector>

namespace dvm::lab::noise {

// Takes samples until `wanted` of them were quiet enough, or three times as many were taken; returns the quietest. `quiet` is the
// quiet share of a sample, 0 to 1.
template <class Sample, class Take>
std::vector<Sample> quietest(size_t wanted, const Take& take) {
  constexpr size_t kMostTimes = 3;
  constexpr double kQuiet = 0.2;
  std::vector<Sample> samples;
  for (size_t quiet = 0; quiet < wanted && samples.size() < kMostTimes * wanted;) {
    samples.push_back(take());
    quiet += samples.back().quiet >= kQuiet ? 1 : 0;
  }
  std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.quiet > b.quiet; });
  samples.erase(samples.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, samples.size())), samples.end());
  return samples;
}

}  // namespace dvm::lab::noise
