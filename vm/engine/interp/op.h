#pragma once
// An instruction as the interpreter runs it: decoded once, when the ECB is made. 32 bytes.
//
//   | handler | operand: integer, address, target, getter or subroutine | r1 r2 rd - | id | cost |

#include <cstdint>

#include "vm/cost/policy.h"
#include "vm/subr/subr.h"
#include "vm/variable/getter.h"

namespace dvm::vm::interp {

struct Op {
  const void* handler = nullptr;
  union {
    uint64_t value = 0;  // setx, sets
    const Op* target;    // branches
    Getter getter;       // ldgs and ldga; null for a script's own variable
    Subr subr;           // call
  };
  uint8_t r1 = 0, r2 = 0, rd = 0;
  uint32_t id = 0;         // variable
  OpCost* cost = nullptr;  // null under NoCost
};
static_assert(sizeof(Op) == 32);

}  // namespace dvm::vm::interp
