#pragma once
// What counting itself takes: the same scripts on made-up firings, counted and not, in turn. A firing with more of a thing is
// more counting:
//
//   account/action      five actions in a clause, less one           account/ecb       five clauses, less one
//   account/evaluation  one that evaluates, less one that counts     account/firing    what is left of one that counts
//   account/step        a seventh of a printf of two numbers and a string, in the consumer

#include "lab/calibrate/script_meter.h"

namespace dvm::runtime {

Status measure_accounting(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
