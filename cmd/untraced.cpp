// Covered by tests/runtime/scenarios/test_program_file.py.

#include "cmd/untraced.h"

#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "cmd/firing_source.h"
#include "cmd/target_catalog.h"
#include "runtime/catalog/catalog.h"
#include "runtime/cost/runs/agent_ways.h"
#include "runtime/cost/runs/sample.h"
#include "runtime/process/process.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd {
namespace {

constexpr pid_t kNotRunning = INT32_MAX;  // the kernel's numbers end far below

// Source of types: the process of -p, or the program of -c, which is not started.
struct Target {
  pid_t pid = 0;
  runtime::ObjectsOf objects_of = runtime::mapped_objects;
  bool is_running() const { return pid != kNotRunning; }
};

Result<Target> find_target(const ScriptOptions& script) {
  // One that may not be looked at has no types; nothing else is asked of it.
  for (const pid_t pid : script.pids)
    if (kill(pid, 0) != 0 && errno == ESRCH)
      return Error{fmt::format("failed to grab process {}: {}", pid, std::strerror(ESRCH))};
  if (!script.pids.empty()) return Target{script.pids[0]};
  if (script.commands.empty()) return Target{};
  auto words = runtime::split_command(script.commands[0]);
  if (!words) return Error{fmt::format("failed to execute '{}': {}", script.commands[0], words.error().message)};
  auto path = runtime::find_program(words->front());
  if (!path) return path.error();
  const auto objects_of = [program = runtime::unmapped_program(*path)](int32_t pid) {
    return pid == kNotRunning ? std::vector{program} : runtime::mapped_objects(pid);
  };
  return Target{kNotRunning, objects_of};
}

// Descriptions are matched when the program is enabled; numbers are those of the probes of this machine.
class NumberedProbes final : public compiler::ProbeCatalog {
 public:
  compiler::ProbeMatches match(const dif::ProbeDesc&) override { return {1, "", "", {}}; }

  std::optional<dif::ProbeDesc> find(uint64_t id) override {
    runtime::Handle handle({});
    for (auto& provider : runtime::make_providers()) handle.add_provider(std::move(provider));
    number_probes(handle);
    return find_probe(handle, id);
  }
};

}  // namespace

Result<Programs> compile_untraced(const std::vector<compiler::Source>& sources, const ScriptOptions& script, bool keep_target,
                                  dif::Options& options) {
  Result<Target> target = find_target(script);
  if (!target) return target.error();
  runtime::Handle handle({});
  handle.add_provider(runtime::make_pid_provider(target->objects_of));
  handle.add_provider(runtime::make_usdt_provider(target->objects_of));
  handle.add_provider(runtime::make_syscall_provider());  // the kernel describes its arguments
  handle.add_provider(runtime::make_absent_provider());
  TargetCatalog types(handle, target->pid, target->objects_of);
  const bool is_running = target->is_running();
  NumberedProbes numbers;
  return compile_sources(
      sources, script,
      {nullptr, &types, is_running ? target->pid : 0, keep_target || !is_running, keep_target, nullptr, &numbers}, options);
}

Status find_sources(const Programs& programs, const ScriptOptions& script, const dif::Options& options, bool by_agent,
                    runtime::PredictOptions& how) {
  Result<Target> target = find_target(script);
  if (!target) return target.error();
  runtime::Handle handle({});
  handle.add_provider(runtime::make_pid_provider(target->objects_of));
  runtime::MatchedProbes matched;
  const auto look_at = [&](dif::ProbeDesc description) {
    const std::string text = runtime::text_of(description);
    if (runtime::source_of(description) != "pid" || !set_target(description, target->pid)) return;
    handle.discover(description);
    const auto probes = handle.catalog().match(description);
    matched[text].assign(probes.begin(), probes.end());
  };
  std::vector<const dif::Program*> compiled;
  for (const compiler::CompiledSource& program : programs) compiled.push_back(&program.program);
  for (const dif::ProbeDesc* description : runtime::descriptions_of(compiled)) look_at(*description);
  how.sources = runtime::sources_of(matched, runtime::take_stacks(compiled));
  if (!by_agent) return {};
  Result<runtime::AgentWays> ways = runtime::find_agent_ways(compiled, options, matched, how);
  if (!ways) return ways.error();
  how.agent = *std::move(ways);
  return {};
}

}  // namespace dvm::cmd
