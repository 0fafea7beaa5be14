#pragma once
// A plan as bytes, for whoever runs it elsewhere:
//
//   magic    "dvm plan\n"
//   u32      version
//   u32      number of the clause
//   u64      strsize
//   program  a program file (dvm/dif/program_file.h) of this clause alone, with the aggregations that it names
//
// A plan follows from these and nothing else, so reading makes it again: the DIF is verified, the record laid out anew. Bytes may
// come from anywhere. Consumer context.

#include <string>
#include <string_view>

#include "dvm/common/result.h"
#include "runtime/plan/plan.h"

namespace dvm::runtime {

std::string to_bytes(const EcbPlan& plan);
// The error says what is wrong with the bytes.
Result<EcbPlan> plan_from_bytes(std::string_view bytes);

}  // namespace dvm::runtime
