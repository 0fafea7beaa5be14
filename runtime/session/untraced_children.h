#pragma once
// Servers often fork workers that do all the work. A script on the first process then shows nothing.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace dvm::runtime {

// A note for each of these traced processes whose children run the same program and are not traced themselves.
std::vector<std::string> notes_of_untraced_children(const std::set<int32_t>& traced);

}  // namespace dvm::runtime
