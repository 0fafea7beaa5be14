#pragma once
// A decoded instruction of the interpreter. It has the size of an OpCost, 32 bytes, so that the distance between an instruction
// and its OpCost is the same for the whole object.
//
//   | handler | operand: integer, address, target, getter or subroutine | r1 r2 rd - | id | unused |

#include <cstdint>

#include "dvm/vm/cost.h"
#include "vm/subr/subr.h"
#include "vm/variable/getter.h"

namespace dvm::vm::interp {

struct alignas(32) DecodedOp {
  const void* handler = nullptr;
  union {
    uint64_t value = 0;       // setx, sets
    const DecodedOp* target;  // branches
    Getter getter;            // ldgs and ldga; null for a script's own variable
    Subr subr;                // call
  };
  uint8_t r1 = 0, r2 = 0, rd = 0;
  uint32_t id = 0;  // variable
};
static_assert(sizeof(DecodedOp) == 32 && sizeof(OpCost) == sizeof(DecodedOp));

}  // namespace dvm::vm::interp
