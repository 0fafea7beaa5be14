#pragma once
// Room for more open files. The limit is raised only when it is nearly reached: programs that dvm starts inherit it.

namespace dvm {

// Raises the limit of this process if few descriptors are left. False: so few may be open that what is to follow can fail.
bool make_descriptor_room();

}  // namespace dvm
