#pragma once
// Makes the steps of the body of a clause (dvm/vm/body.h), for an engine that turns them into one function. The steps do the same
// as run_parts() and the functions record_* (fire.h, actions.h), and call the same C++. Consumer context.

#include "dvm/vm/cost.h"
#include "runtime/probe/code.h"

namespace dvm::runtime {

// True if the DIFOs of such an action are part of the body. Otherwise the body calls the action, which runs them.
bool is_in_body(dif::Action kind);

// code: complete except for its body. The addresses of its actions must not change.
vm::BodyRequest body_of(const EcbCode& code, vm::CostPolicy policy);

}  // namespace dvm::runtime
