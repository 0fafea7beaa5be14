#pragma once
// Finds declarations that describe the arguments of probes.

#include <vector>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// The declared probes that a description matches: those of the scripts and libraries or, if there are none, of the traced
// program.
std::vector<const DeclaredProbe*> declared_probes(const dif::ProbeDesc& description, Session& s);

}  // namespace dvm::compiler
