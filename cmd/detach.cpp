// dvm detach: removes what a killed dvm has left in a process.

#include "runtime/agent/detach.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <sstream>

#include "cmd/command.h"
#include "runtime/process/proc_files.h"
#include "runtime/process/process.h"
#include "runtime/process/thread_status.h"

namespace dvm::cmd {
namespace {

// In the PID namespace of the dvm that traces it.
bool has_number(int32_t pid, int32_t number) {
  std::istringstream numbers(runtime::status_field(pid, "NSpid:"));
  return std::find(std::istream_iterator<int32_t>(numbers), {}, number) != std::istream_iterator<int32_t>();
}

int detach(int32_t pid) {
  if (Status there = runtime::check_proc(); !there) return fail("{}", there.error().message);
  if (runtime::is_gone(pid)) return fail("no process {}", pid);
  const auto memory = runtime::AgentMemory::open(pid);
  if (!memory) return fail("{}", memory.error().message);
  for (const runtime::FoundAgent& agent : runtime::find_agents(pid, *memory)) {
    if (agent.header.patches == 0 || !runtime::is_traced(agent)) continue;
    if (runtime::may_be_hidden(agent.header.tracer_space))
      return fail("process {} is traced by a dvm outside this PID namespace, which must end first", pid);
    if (has_number(pid, agent.header.pid))
      return fail("process {} is traced by process {}{}, which must end first", pid, agent.header.tracer,
                  agent.header.pid == pid ? "" : " of its PID namespace");
  }
  const auto detached = runtime::detach_agents(pid, *memory, runtime::WhichAgents::all);
  if (!detached) return fail("{}", detached.error().message);
  fmt::print("process {}: {} probe{} removed\n", pid, detached->restored, detached->restored == 1 ? "" : "s");
  return 0;
}

}  // namespace

void add_detach(CLI::App& app, CommandAction& chosen) {
  auto pid = std::make_shared<int32_t>(0);
  CLI::App* command =
      add_command(app, "detach", "Remove the probes that a killed dvm has left in a process", {"dvm detach -p 1234"},
                  "Needed only if dvm and its guard were both killed while an agent traced (-x backend=agent).");
  command->add_option("-p", *pid, "Process to clean up")->required()->type_name("PID")->check(CLI::PositiveNumber);
  command->callback([pid, &chosen] { chosen = [pid] { return detach(*pid); }; });
}

}  // namespace dvm::cmd
