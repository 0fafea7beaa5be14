// Covered by tests/runtime/scenarios/test_recording.py.

#include "cmd/recording_info.h"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cmd/command.h"
#include "common/printable.h"
#include "runtime/instrument/replay/recording.h"
#include "runtime/session/demangled_probes.h"

namespace dvm::cmd {
namespace {

struct Contents {
  std::map<uint32_t, uint64_t> by_probe;
  std::map<int32_t, uint64_t> by_process;
  std::set<int32_t> threads;
  uint64_t begin = 0, end = 0;      // timestamps of the first and the last event
  uint64_t wall = 0;                // walltimestamp of the first
  uint64_t captured = 0, late = 0;  // pieces of memory
  uint64_t stacks = 0;              // events with a user stack
};

void add(Contents& all, const vm::Firing& firing) {
  if (all.begin == 0) all.begin = firing.timestamp, all.wall = firing.walltimestamp;
  all.begin = std::min(all.begin, firing.timestamp);
  all.end = std::max(all.end, firing.timestamp);
  all.by_probe[firing.probe_id]++;
  all.by_process[firing.pid]++;
  all.threads.insert(firing.tid);
  all.captured += firing.memory.size();
  all.late += firing.late.size();
  all.stacks += firing.stack.empty() ? 0 : 1;
}

void print_summary(const std::string& path, const runtime::RecordingReader& reader, const Contents& all) {
  constexpr double kSecond = 1e9;
  fmt::print("recording  {}, {} bytes\n", printable(path), reader.size());
  if (reader.events() > 0)
    fmt::print("begun      {:%Y-%m-%d %H:%M:%S}\nduration   {:.3f} s\n",
               fmt::localtime(static_cast<std::time_t>(all.wall / 1'000'000'000)),
               static_cast<double>(all.end - all.begin) / kSecond);
  const size_t threads = all.threads.size();
  fmt::print("events     {} of {} thread{}, {} dropped\n", reader.events(), threads, threads == 1 ? "" : "s", reader.drops());
  fmt::print("memory     {} pieces captured, {} read late\nstacks     {}\n", all.captured, all.late, all.stacks);
  if (reader.target_pid() != 0) fmt::print("$target    {}\n", reader.target_pid());
}

void print_processes(const runtime::RecordingReader& reader, const Contents& all) {
  fmt::print("\n{:>10} {:>8} {:>8}  PROCESS\n", "EVENTS", "PID", "PPID");
  for (const runtime::RecordedProcess& one : reader.processes()) {
    const auto found = all.by_process.find(one.pid);
    fmt::print("{:>10} {:>8} {:>8}  {}\n", found == all.by_process.end() ? 0 : found->second, one.pid, one.ids.ppid,
               printable(one.command_line.empty() ? one.name : one.command_line));
  }
}

void print_probes(const std::vector<const runtime::Probe*>& probes, const Contents& all) {
  fmt::print("\n{:>10} {:>5}  PROBE\n", "EVENTS", "ID");
  for (const runtime::Probe* probe : probes) {
    const auto found = all.by_probe.find(probe->id);
    fmt::print("{:>10} {:>5}  {}:{}:{}:{}\n", found == all.by_probe.end() ? 0 : found->second, probe->id,
               printable(probe->provider), printable(probe->module), printable(probe->function), printable(probe->name));
  }
}

}  // namespace

int print_recording_info(const std::string& path, bool demangles) {
  Result<std::unique_ptr<runtime::RecordingReader>> reader = runtime::RecordingReader::open(path);
  if (!reader) return fail("{}", reader.error().message);
  Contents all;
  vm::Firing firing;
  for (;;) {
    Result<bool> has = (*reader)->next(firing);
    if (!has) return fail("{}", has.error().message);
    if (!*has) break;
    add(all, firing);
  }
  print_summary(path, **reader, all);
  print_processes(**reader, all);
  std::vector<const runtime::Probe*> probes;
  for (const runtime::Probe& probe : (*reader)->probes()) probes.push_back(&probe);
  runtime::DemangledProbes names;
  print_probes(demangles ? names.rename(std::move(probes)) : probes, all);
  return 0;
}

}  // namespace dvm::cmd
