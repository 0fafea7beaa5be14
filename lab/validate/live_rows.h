#pragma once
// The experiments of dvm cost validate: jobs of the workload (workload.c), the program that traces them, and the figure of the
// document that the experiment is taken from. A row each, in live_rows.def.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

// How a row is measured, and in what.
enum class Measure : uint8_t {
  share,   // % of a CPU, at 50,000 rounds a second
  timer,   // % of a CPU: timers, which interrupt a busy process
  call,    // ns a round, at full speed
  plain,   // clocks a round, without tracing: beside the loop of another job
  peer,    // ns a round, traced by bpftrace
  absent,  // not here: `program` says why
};

struct LiveRow {
  std::string_view group;  // a: Tao and Yang, c: Gregg, d: GitLab, e: LTTng (b is --paper)
  std::string_view name;   // what --only asks for
  std::string_view title;
  std::string_view reference;  // the document's figure
  Measure measure;
  std::string_view job;
  long rounds;                // at full speed, of one sample
  std::string_view baseline;  // of plain: the other job; empty: none
  double probability;         // that a predicate holds
  double frames;              // of the stack where it fires
  double returns;             // functions that return behind it before others are called
  std::string_view program;
  std::string_view setting;
};

std::span<const LiveRow> live_rows();

// Those whose name or group is asked for, all if nothing is. An error names what there is not.
std::vector<const LiveRow*> find_live_rows(std::span<const std::string> names, std::string& unknown);

}  // namespace dvm::runtime
