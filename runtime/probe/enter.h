#pragma once
// The shorter way of a firing to native code, without accounting, where its probe has one ECB:
//
//   gate ── the predicate does not hold: nothing else happens
//   prepare the machine state, unless the body is plain or light
//   body

#include "runtime/probe/ecb.h"

namespace dvm::runtime {

// Sets the way by the code of the probe's ECBs, which may have changed. Between two firings.
void choose_way(ProbeEcbs& probe);

}  // namespace dvm::runtime
