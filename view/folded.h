#pragma once
// Stacks of an aggregation as flame graphs take them: each as a list of frames from the outermost on, with a weight.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "view/results.h"

namespace dvm::view {

enum class FrameKind : uint8_t { user, kernel, inlined, key };  // key: one of the aggregation that is no stack

struct Frame {
  std::string name;
  FrameKind kind = FrameKind::user;
  std::string place = {};  // "FILE:LINE"; empty: unknown
  auto operator<=>(const Frame&) const = default;
};

struct FoldedStack {
  std::vector<Frame> frames;  // outermost first
  int64_t weight = 0;
};

// A key in one line; a stack innermost frame first, with ";" between them.
std::string key_line(const Json& key);

// Names of the aggregations that are keyed by a stack, in the order of the results.
std::vector<std::string> names_with_stacks(const Results& results);

// The aggregation `name`, or, if `name` is empty, the only one that is keyed by a stack. Fails if there is none, or if there are
// several.
Result<std::string> choose_stacks(const Results& results, const std::string& name);

// A note for the user: how many stacks are left out because their weight is below 0. Empty: there are none.
std::string left_out_text(const std::vector<FoldedStack>& stacks, const std::string& name);

// The stacks of an aggregation. Other keys become outer frames; a kernel stack lies above the user stack of its row. The weight
// is the value, or the number of values of a distribution. Stacks of the same frames are added up, and ordered by names.
std::vector<FoldedStack> fold(const Results& results, const std::string& name);

// One line for stacks of the same names: frames separated by semicolons, a space, the weight. Semicolons and control characters
// in names become underscores. Weights not above 0, which no flame graph has, are left out.
std::string folded_lines(const std::vector<FoldedStack>& stacks);

}  // namespace dvm::view
