#pragma once
// The bytes of a plan. A plan that is read from bytes equals the one that was written, so it depends on nothing else. No part of
// dvm passes plans to another process so far; scripts are passed on as program files.
//
//   magic    "dvm plan\n"
//   u32      version
//   u32      number of the clause
//   u64      strsize
//   program  a program file (dvm/dif/program_file.h) of this clause alone, with the aggregations that it names
//
// Reading makes the plan again from these data: it verifies the DIF and lays out the record. The bytes are untrusted. Consumer
// context.

#include <string>
#include <string_view>

#include "dvm/common/result.h"
#include "runtime/plan/plan.h"

namespace dvm::runtime {

std::string to_bytes(const EcbPlan& plan);
// The error says why the bytes are not a plan.
Result<EcbPlan> plan_from_bytes(std::string_view bytes);

}  // namespace dvm::runtime
