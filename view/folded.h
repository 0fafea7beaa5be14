#pragma once
// Stacks of an aggregation as flame graphs take them: each as a list of frames from the outermost on, with a weight.

#include <cstdint>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "view/results.h"

namespace dvm::view {

struct FoldedStack {
  std::vector<std::string> frames;  // outermost first
  int64_t weight = 0;
};

// Names of the aggregations that are keyed by a stack, in the order of the results.
std::vector<std::string> names_with_stacks(const Results& results);

// The aggregation `name`, or the only one that is keyed by a stack if `name` is empty. An error if there is none, or if several
// come in question.
Result<std::string> choose_stacks(const Results& results, const std::string& name);

// The stacks of an aggregation. Other keys become outer frames; a kernel stack lies above the user stack of its row. The weight
// is the value, or the number of values of a distribution. Stacks of the same names are added up, and ordered by names.
std::vector<FoldedStack> fold(const Results& results, const std::string& name);

// One line a stack: frames separated by semicolons, a space, the weight. Semicolons and control characters in names become
// underscores.
std::string folded_lines(const std::vector<FoldedStack>& stacks);

}  // namespace dvm::view
