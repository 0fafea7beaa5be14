#pragma once
// Which actions leave the values of their arguments in the record.

#include "dvm/dif/action.h"

namespace dvm::dif {

// Those of the others are of use at the firing only.
inline bool keeps_values(Action kind) {
  return kind != Action::exit && kind != Action::expression && kind != Action::speculate && kind != Action::commit &&
         kind != Action::discard;
}

}  // namespace dvm::dif
