#pragma once
// Probes and DIF as text: what dvm list, run -l, compile -S and run -S print.

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "cmd/firing_source.h"
#include "cmd/script.h"
#include "dvm/dif/option.h"
#include "dvm/dif/program.h"
#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"

namespace dvm::cmd {

// The text below the line of each probe.
using DescribeProbes = std::function<std::vector<std::string>(const std::vector<const runtime::Probe*>&)>;

// Exit status of a listing whose only complaint is that no such probe exists; dtrace -l ends with 0 then.
enum class NoMatch { succeeds = 0, fails = 1 };
// The probes of each description of the programs. One that matches none is reported on standard error. Returns the exit status.
// describe: null for the lines alone.
int list_probes(runtime::Handle& handle, const std::vector<const dif::Program*>& programs, const DescribeProbes& describe,
                NoMatch no_match, std::FILE* out);
// The report of each program, then the description of each clause and what describe says of the first probe that it matches, as
// dtrace -ev prints them.
void print_clauses(runtime::Handle& handle, const std::vector<ReadyProgram>& programs, const DescribeProbes& describe,
                   std::FILE* out);
// The stability and the argument types of each probe, as dtrace -lv prints them; the programs may declare them. target: $target,
// or 0.
DescribeProbes describe_as_dtrace(runtime::Handle& handle, const ScriptOptions& given, const std::vector<ReadyProgram>& programs,
                                  pid_t target);
// The same, then where clauses on the probe run; for a process also where the probe is placed, and the expected cost of a firing.
DescribeProbes describe_with_sites(runtime::Handle& handle, const ScriptOptions& given, const std::vector<ReadyProgram>& programs,
                                   pid_t target);
// "backend local (uprobe), engine interp; not agent: -x backend=uprobe"
std::string placement_text(const runtime::Placement& placement);
// Every object, numbered through all programs.
void print_dif(const dif::Program& program, const dif::Options& options, std::FILE* out);

}  // namespace dvm::cmd
