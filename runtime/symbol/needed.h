#pragma once
// Which objects of a process its program needs, directly or by what it needs (DT_NEEDED). Consumer context.

#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// The program first. None if it is not among the objects.
std::vector<MappedObject> needed_objects(const std::vector<MappedObject>& objects);

}  // namespace dvm::runtime
