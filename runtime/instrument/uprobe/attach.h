#pragma once
// Puts uprobes in. The kernel takes all probes of a link or, because of a single one, none: then the batch is halved until the
// ones at fault stand alone. They are refused, the others stay.

#include <cstdint>
#include <vector>

#include "common/result.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

// Adds links for the batch. probes: of the same length as the batch, for the refusals. An error is one that no other batch could
// avoid: missing rights, a missing file, an old kernel.
Status attach_uprobes(const UprobeBatch& batch, std::span<const Probe* const> probes, std::vector<FileDescriptor>& links,
                      std::vector<Refused>& refused);

}  // namespace dvm::runtime
