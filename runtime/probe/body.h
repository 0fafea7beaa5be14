#pragma once
// The body of a clause as steps (dvm/vm/body.h), for an engine that makes one function of them. They say what run_parts() and the
// functions record_* do (fire.h, actions.h), and call the same C++. Consumer context.

#include "dvm/vm/cost.h"
#include "runtime/probe/code.h"

namespace dvm::runtime {

// Whether the DIFOs of such an action are part of the body. Otherwise the body calls the action, which runs them.
bool is_in_body(dif::Action kind);

// Of code that is complete but for its body, whose actions stay where they are.
vm::BodyRequest body_of(const EcbCode& code, vm::CostPolicy policy);

}  // namespace dvm::runtime
