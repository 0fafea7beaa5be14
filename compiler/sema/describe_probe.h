#pragma once
// What dtrace -lv says of a probe.

#include "compiler/sema/session.h"
#include "dvm/compiler/compile.h"

namespace dvm::compiler {

// The types are those of args[]: as a provider declares them, else as the traced program does.
ProbeDescription describe_probe(const dif::ProbeDesc& probe, Session& s);

}  // namespace dvm::compiler
