#pragma once
// What clauses ask of the process that fired, after it has gone on: raise(), stop(), progenyof(), copyout() and copyoutstr(). One
// script asks for each of them in turn, by the number of the firing, and once for none: dvm's CPU time of the firings of a turn
// less that of those that ask for nothing, less what the profile says of the rest of the clause.
//
// Nobody else is touched: the signal is one that the looping child ignores, a stop is followed by the signal that ends it, and
// what is written is what stood there.

#include <string>
#include <vector>

#include "lab/calibrate/live_run.h"

namespace dvm::runtime {

// The rows that it sets, in the order in which they need each other.
std::vector<std::string> process_rows();

Status measure_processes(const CompileScript& compile, const LiveMeterOptions& options, vm::Profile& profile);

}  // namespace dvm::runtime
