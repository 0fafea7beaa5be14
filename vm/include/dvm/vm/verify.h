#pragma once
// The verifier turns a Difo into a VerifiedDifo. A DIFO that it accepts cannot crash, loop, or access memory outside of the
// regions of D, whatever bytes it was made of:
//   - every opcode is known, and is not xlate or xlarg; registers are below 8; %r0 is never written;
//   - branches go forward to an instruction of the object; the last instruction is a ret;
//   - table indices are inside their tables; strings end with a NUL inside the table;
//   - built-in variables exist and have a getter; user variables are in the variable table, with the right scope and kind;
//   - the tuple stack never overflows or underflows, and has the same depth on every path;
//   - at a call, the tuple stack holds the arguments of the subroutine;
//   - a register is never read on a path that has not written it.
// Addresses and the use of scratch are checked at run time (vm/state). A violation is a fault, never a crash.

#include <variant>
#include <vector>

#include "dvm/vm/verified_difo.h"

namespace dvm::vm {

// Returns all errors, in the order of their pc.
std::variant<VerifiedDifo, std::vector<VerifyError>> verify(dif::Difo difo);

}  // namespace dvm::vm
