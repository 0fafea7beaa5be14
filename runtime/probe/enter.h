#pragma once
// The fast path of a firing to native code, without accounting, for a probe with one ECB:
//
//   gate ── the predicate is false: the firing ends
//   prepare the machine state, unless the body is plain or light
//   body

#include "runtime/probe/ecb.h"

namespace dvm::runtime {

// Chooses the path by the current code of the probe's ECBs. Between two firings.
void choose_way(ProbeEcbs& probe);

}  // namespace dvm::runtime
