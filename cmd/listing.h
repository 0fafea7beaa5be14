#pragma once
// Probes and DIF as text: what dvm list, run -l, compile -S and run -S print.

#include <vector>

#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "runtime/catalog/probe.h"

namespace dvm::cmd {

void print_probe_heading();
void print_probe(const runtime::Probe& probe);
// Below each probe of a process: where it is put, what lies there, and what a firing is expected to cost.
void print_probes_with_sites(const std::vector<const runtime::Probe*>& probes);
// Every object, numbered through all programs.
void print_dif(const dif::Program& program, const dif::Options& options);

}  // namespace dvm::cmd
