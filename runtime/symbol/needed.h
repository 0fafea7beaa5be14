#pragma once
// Finds the objects of a process that its program needs, directly or indirectly (DT_NEEDED). Consumer context.

#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// The program comes first. Empty if it is not among the objects.
std::vector<MappedObject> needed_objects(const std::vector<MappedObject>& objects);

}  // namespace dvm::runtime
