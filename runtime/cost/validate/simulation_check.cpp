// Covered by tests/runtime/scenarios/test_simulate.py.

#include "runtime/cost/validate/simulation_check.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "runtime/cost/firing_model.h"
#include "runtime/cost/site_sources.h"
#include "runtime/cost/total.h"

namespace dvm::runtime {
namespace {

constexpr SimulationPoint kPoints[] = {
#define DVM_SIMULATION_POINT(name, title, rate, threads, keys, program, setting) \
  {#name, title, rate, threads, keys, program, setting},
#include "runtime/cost/validate/simulation_points.def"
};

// What can be seen of a point, and where the simulation has it.
struct Figure {
  std::string_view name, unit;
  double (*simulated)(const SimulationResult& result);
};

constexpr Figure kFigures[] = {
    {"fired", "/s", [](const SimulationResult& result) { return result.fired; }},
    {"handled", "/s", [](const SimulationResult& result) { return result.handled; }},
    {"ring drops", "/s", [](const SimulationResult& result) { return result.ring_drops; }},
    {"other drops", "/s", [](const SimulationResult&) { return 0.0; }},
    {"threads", "% of a CPU", [](const SimulationResult& result) { return 100 * result.thread_share; }},
    {"dvm", "% of a CPU", [](const SimulationResult& result) { return 100 * (result.dvm_share + result.consumer_share); }},
};

double rate_of(const JobTimes& times) { return times.calls / times.wall * 1e9; }

// In the order of kFigures.
std::array<double, std::size(kFigures)> figures_of(const JobTimes& untraced, const TracedJob& traced) {
  const double wall = traced.times.wall, second = wall / 1e9;
  const double threads =
      measured_share(traced.times.cpu / wall, rate_of(traced.times), untraced.cpu / untraced.wall, rate_of(untraced));
  return {traced.times.calls / second, traced.handled / second, traced.lost / second,
          traced.unrecorded / second,  100 * threads,           100 * traced.dvm / wall};
}

}  // namespace

std::span<const SimulationPoint> simulation_points() { return kPoints; }

struct SimulationCheck::Samples {
  std::array<std::vector<double>, std::size(kFigures)> figures;
};

CheckedPoint SimulationCheck::check(const SimulationPoint& point) const {
  CheckedPoint checked;
  checked.point = &point;
  if (Status done = try_check(checked); !done) checked.problem = done.error().message;
  return checked;
}

Status SimulationCheck::try_check(CheckedPoint& checked) const {
  auto child = WorkloadChild::start(workload_);
  if (!child) return child.error();
  Samples samples;
  for (unsigned i = 0; i < settings_.samples; i++)
    if (Status sampled = sample(*checked.point, **child, samples, checked); !sampled) return sampled;
  for (size_t i = 0; i < std::size(kFigures); i++) checked.figures[i].measured = middle(samples.figures[i]);
  return {};
}

Status SimulationCheck::sample(const SimulationPoint& point, WorkloadChild& child, Samples& samples,
                               CheckedPoint& checked) const {
  const Job job{"paced", static_cast<long>(point.rate), static_cast<long>(1000 * settings_.seconds), point.threads, point.keys};
  auto untraced = child.run(job);
  if (!untraced) return untraced.error();
  auto program = open_(std::string(point.program), {std::string(point.setting)}, child.pid());
  if (!program) return program.error();
  std::vector<Refused> refused;
  if (Status went = (*program)->handle().go(refused); !went) return went;
  if (!refused.empty()) return Error{refused.front().reason};
  auto traced = trace_job(**program, job, child);
  if (!traced) return traced.error();
  const auto figures = figures_of(*untraced, *traced);
  for (size_t i = 0; i < figures.size(); i++) samples.figures[i].push_back(figures[i]);
  if (checked.figures.empty()) simulate_point(**program, rate_of(*untraced), checked);
  return {};
}

// At full speed a thread would fire as often as it calls untraced.
void SimulationCheck::simulate_point(TracedProgram& program, double untraced_rate, CheckedPoint& checked) const {
  const SimulationPoint& point = *checked.point;
  const std::vector<const dif::Program*> programs = program.programs();
  PredictOptions how;
  how.sources = find_sources(program.handle(), programs);
  const FiringModel model = model_firing(programs, profile_, how, checked.missing);
  checked.machine.rate = point.rate > 0 ? point.rate : untraced_rate / point.threads;
  checked.machine.threads = point.threads;
  checked.machine.cpus = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  checked.machine.keys = point.keys;
  const SimulationResult result = simulate(model, checked.machine, buffers_of(program.handle().options()), settings_.seconds);
  for (const Figure& figure : kFigures) checked.figures.push_back({figure.name, figure.unit, figure.simulated(result), {}});
}

}  // namespace dvm::runtime
