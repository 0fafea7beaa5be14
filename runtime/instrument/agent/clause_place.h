#pragma once
// The place where a clause runs, for the makers of its code.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "dvm/dif/variable.h"
#include "runtime/instrument/uprobe/site_shape.h"

namespace dvm::runtime {

struct Probe;

// The clause and probe for which the code is made.
struct ClausePlace {
  const SiteShape& shape;
  std::optional<uint32_t> exit;  // of a return: the value of arg0
  int32_t pid = 0;
  const Probe* probe = nullptr;
  bool follows = false;                 // children fire too: the pid is not constant
  bool by_frame_pointers = false;       // finds stacks by these
  std::span<const uint16_t> globals{};  // variables that dvm keeps for threads
  std::span<const uint16_t> kept{};     // globals that threads change
  // One of these, which several steps use as if at one time: Workspace::seen. It is changed by code of its own.
  std::optional<uint16_t> seen{};
  bool is_earlier = false;  // the clause uses it as before it changes it: Workspace::earlier

  bool keeps(const dif::Variable& one) const {
    return one.scope == dif::Scope::global && std::find(kept.begin(), kept.end(), one.id) != kept.end();
  }
};

}  // namespace dvm::runtime
