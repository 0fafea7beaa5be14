#pragma once
// Probes and DIF as text: what dvm list, run -l, compile -S and run -S print.

#include <string>
#include <vector>

#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"

namespace dvm::cmd {

void print_probe_heading();
void print_probe(const runtime::Probe& probe);
// "backend local (uprobe), engine interp; not timer: it fires tick probes only"
std::string placement_text(const runtime::Placement& placement);
// Below each probe: where clauses on it run. Of a process also where it is put, what lies there, and the expected cost of a
// firing.
void print_probes_with_sites(const runtime::Handle& handle, const std::vector<const runtime::Probe*>& probes);
// Every object, numbered through all programs.
void print_dif(const dif::Program& program, const dif::Options& options);

}  // namespace dvm::cmd
