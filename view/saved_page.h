#pragma once
// Results that were saved, as what a page shows: tables and flame graphs. They have no history and no account.

#include <cstddef>
#include <vector>

#include "runtime/consumer/metrics.h"
#include "view/flame_graph.h"
#include "view/page.h"
#include "view/results.h"

namespace dvm::view {

// Of each aggregation the largest rows, `most` at most, and how many others there are; and what was lost.
runtime::Snapshot snapshot_of(const Results& results, size_t most);

// A drawing for each aggregation that is keyed by a stack.
std::vector<PageFlame> flames_of(const Results& results, const FlameStyle& style);

}  // namespace dvm::view
