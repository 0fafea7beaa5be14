#pragma once
// Guard regions (MADV_GUARD_INSTALL, Linux 6.13): pages inside a mapping that fault like unmapped ones. /proc/PID/maps does not
// show them.

#include <string>
#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// How the kernel shows guard regions.
enum class GuardsShown {
  none,     // the kernel has no guard regions
  hidden,   // not at all
  pagemap,  // by a bit in /proc/PID/pagemap
  scan,     // by the ioctl PAGEMAP_SCAN, which skips what is not populated
};

// What this kernel does, found by an attempt.
GuardsShown guards_shown();

// Takes guard regions of a process out of the ranges, which are whole pages; a range may become several. folder: of the process
// in /proc. False: they cannot be found.
bool leave_out_guards(const std::string& folder, GuardsShown shown, std::vector<AddressRange>& ranges);

}  // namespace dvm::runtime
