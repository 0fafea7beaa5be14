#pragma once
// Turns saved results into what a page shows: tables and flame graphs. Saved results have no history and no account.

#include <cstddef>
#include <vector>

#include "runtime/consumer/metrics.h"
#include "view/flame_graph.h"
#include "view/page.h"
#include "view/results.h"

namespace dvm::view {

// The `most` largest rows of each aggregation, the number of other rows, and what was lost.
runtime::Snapshot snapshot_of(const Results& results, size_t most);

// A drawing for each aggregation that is keyed by a stack.
std::vector<PageFlame> flames_of(const Results& results, const FlameStyle& style);

}  // namespace dvm::view
