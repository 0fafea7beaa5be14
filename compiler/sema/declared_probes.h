#pragma once
// Probes whose arguments a declaration describes.

#include <vector>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// The probes that the scripts and libraries declare, or else the traced program.
std::vector<const DeclaredProbe*> declared_probes(const dif::ProbeDesc& description, Session& s);

}  // namespace dvm::compiler
