#pragma once
// Describes a probe, as dtrace -lv does.

#include "compiler/sema/session.h"
#include "dvm/compiler/compile.h"

namespace dvm::compiler {

// The types of args[] come from the declaration of the provider, or else from the traced program.
ProbeDescription describe_probe(const dif::ProbeDesc& probe, Session& s);

}  // namespace dvm::compiler
