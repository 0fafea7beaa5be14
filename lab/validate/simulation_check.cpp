// Covered by tests/runtime/scenarios/test_simulate.py.

#include "lab/validate/simulation_check.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "lab/noise/quiet_time.h"
#include "lab/validate/workload_naps.h"
#include "runtime/cost/model.h"
#include "runtime/cost/runs/firing_model.h"
#include "runtime/cost/runs/sample.h"
#include "runtime/instrument/instrument.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr SimulationPoint kPoints[] = {
#define DVM_SIMULATION_POINT(name, title, rate, threads, keys, program, settings) \
  {#name, title, rate, threads, keys, program, settings},
#include "lab/validate/simulation_points.def"
};

// In % of a CPU at the speed of the profile.
double of_own_core(const SimulationResult& result, double share) { return 100 * share / result.machine.slowdown; }

struct Figure {
  std::string_view name, unit;
  double (*simulated)(const SimulationResult& result);
};

constexpr Figure kFigures[] = {
    {"fired", "/s", [](const SimulationResult& result) { return result.fired; }},
    {"handled", "/s", [](const SimulationResult& result) { return result.handled; }},
    {"ring drops", "/s", [](const SimulationResult& result) { return result.ring_drops; }},
    {"other drops", "/s", [](const SimulationResult& result) { return result.dynamic_drops; }},
    {"threads", "% of a CPU", [](const SimulationResult& result) { return of_own_core(result, result.thread_share); }},
    {"dvm", "% of a CPU",
     [](const SimulationResult& result) { return of_own_core(result, result.dvm_share + result.consumer_share); }},
};

// The search for the rate at which drops begin.
constexpr double kLeastRate = 5e4;
constexpr double kMostRate = 4e6;        // firings a second, more than a thread can make
constexpr double kSearched = 0.2;        // seconds at each rate
constexpr double kSearchedShare = 0.03;  // relative precision of the rate
constexpr double kNoticed = 0.1;         // share of the firings; a few late polls drop fewer
constexpr unsigned kVotes = 2;           // equal results that decide whether a rate drops

// It measures when tracing ends, since a buffer is full.
bool is_filled(const SimulationPoint& point) { return point.settings.find("bufpolicy=fill") != std::string_view::npos; }

Job job_of(const SimulationPoint& point, double rate, double seconds) {
  return {"paced", static_cast<long>(rate), 0, static_cast<long>(1000 * seconds), point.threads, point.keys};
}

double rate_of(const JobTimes& times) { return times.calls / times.wall * 1e9; }

// A sample of a point at its rate: figures in the order of kFigures.
struct Sample {
  std::array<double, std::size(kFigures)> figures;
  double untraced_rate = 0;  // calls a second
  double slowdown = 1;       // of the threads
  double quiet = 0;          // share of dvm's polls, or of the calls
};

Sample sample_of(const JobTimes& untraced, const TracedJob& traced) {
  const double wall = traced.times.wall, second = wall / 1e9;
  const double threads =
      measured_share(traced.times.cpu / wall, rate_of(traced.times), untraced.cpu / untraced.wall, rate_of(untraced));
  return {{traced.times.calls / second, traced.handled / second, traced.lost / second, traced.unrecorded / second, 100 * threads,
           100 * traced.dvm / wall},
          rate_of(untraced),
          traced.times.slowdown,
          std::min(traced.quiet, traced.times.quiet)};
}

template <class Of>
noise::Middle middle_of(const std::vector<Sample>& samples, Of of) {
  std::vector<double> all;
  for (const Sample& one : samples) all.push_back(of(one));
  return noise::middle(std::move(all));
}

class PointCheck {
 public:
  PointCheck(const vm::Profile& profile, const OpenTraced& open, const CheckSettings& settings, CheckedPoint& checked,
             WorkloadChild& child)
      : profile_(profile), open_(open), settings_(settings), checked_(checked), point_(*checked.point), child_(child) {}

  void check() {
    SimulatedMachine& machine = checked_.machine;
    machine.threads = point_.threads, machine.keys = point_.keys;
    machine.cpus = static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    if (point_.rate > 0) machine.rests = 1e9 / paced_mean_nap(point_.rate);
    make_model();
    point_.rate < 0 ? check_first_drop() : is_filled(point_) ? check_full() : check_figures();
  }

 private:
  void make_model() {
    const auto program = start();
    const std::vector<const dif::Program*> programs = program->programs();
    const dif::Options& options = program->handle().options();
    PredictOptions how;
    how.sources = find_sources(program->handle(), programs);
    take_options(how, options);
    model_ = or_throw(model_firing(programs, profile_, how, options, checked_.missing));
    buffers_ = buffers_of(options);
  }

  // A program whose probes are on.
  std::unique_ptr<TracedProgram> start() const {
    auto program = or_throw(open_(point_.program, point_.settings, child_.pid()));
    std::vector<Refused> refused;
    or_throw(program->handle().go(refused));
    if (!refused.empty()) throw Error{refused.front().reason};
    return program;
  }

  TracedJob trace(double rate, double seconds) const { return trace_job(*start(), job_of(point_, rate, seconds), child_); }

  Sample sample() const {
    const JobTimes untraced = child_.run(job_of(point_, point_.rate, settings_.seconds));
    return sample_of(untraced, trace(point_.rate, settings_.seconds));
  }

  // At full speed a thread would fire as often as it calls untraced.
  void check_figures() {
    const auto samples = noise::quietest<Sample>(settings_.samples, [&] { return sample(); });
    const double untraced = middle_of(samples, [](const Sample& one) { return one.untraced_rate; }).median;
    checked_.machine.rate = point_.rate > 0 ? point_.rate : untraced / point_.threads;
    checked_.machine.slowdown = middle_of(samples, [](const Sample& one) { return one.slowdown; }).median;
    const SimulationResult result = simulate(model_, checked_.machine, buffers_, settings_.seconds);
    for (size_t i = 0; i < std::size(kFigures); i++)
      checked_.figures.push_back({kFigures[i].name, kFigures[i].unit, kFigures[i].simulated(result),
                                  middle_of(samples, [&](const Sample& one) { return one.figures[i]; })});
  }

  void check_full() {
    checked_.machine.rate = point_.rate;
    const double end = simulate(model_, checked_.machine, buffers_, settings_.seconds).seconds;
    std::vector<double> found;
    for (unsigned i = 0; i < settings_.samples; i++) found.push_back(trace(point_.rate, settings_.seconds).worked / 1e6);
    checked_.figures.push_back({"ends after", "ms", 1000 * end, noise::middle(found)});
  }

  void check_first_drop() {
    std::vector<double> found;
    for (unsigned i = 0; i < settings_.samples; i++) found.push_back(find_first_drop());
    checked_.machine.slowdown = noise::middle(slowdowns_).median;
    const double begin = rate_of_first_drop(model_, checked_.machine, buffers_, kSearched, kMostRate, kNoticed);
    checked_.figures.push_back({"drops begin", "/s of each thread", begin, noise::middle(found)});
  }

  // Doubles the rate until something is dropped, and halves the range; kMostRate if nothing is dropped at any rate.
  double find_first_drop() {
    double without = 0, with = 0;
    while (with == 0 || with - without > kSearchedShare * with) {
      const double rate = with > 0 ? (without + with) / 2 : std::max(2 * without, kLeastRate);
      if (rate > kMostRate) return kMostRate;
      (usually_drops_at(rate) ? with : without) = rate;
    }
    return (with + without) / 2;
  }

  // A single drop may be due to a host that took dvm's CPU away.
  bool usually_drops_at(double rate) {
    unsigned votes[2] = {0, 0};
    while (votes[false] < kVotes && votes[true] < kVotes) {
      const auto traced = trace(rate, kSearched);
      slowdowns_.push_back(traced.times.slowdown);
      votes[traced.lost > kNoticed * traced.times.calls]++;
    }
    return votes[true] >= kVotes;
  }

  const vm::Profile& profile_;
  const OpenTraced& open_;
  const CheckSettings& settings_;
  CheckedPoint& checked_;
  const SimulationPoint& point_;
  WorkloadChild& child_;
  FiringModel model_;
  SimulatedBuffers buffers_;
  std::vector<double> slowdowns_;
};

}  // namespace

std::span<const SimulationPoint> simulation_points() { return kPoints; }

CheckedPoint check_point(const SimulationPoint& point, const vm::Profile& profile, const OpenTraced& open,
                         const std::string& workload, const CheckSettings& settings) {
  CheckedPoint checked;
  checked.point = &point;
  const Status done = caught([&] { PointCheck(profile, open, settings, checked, *WorkloadChild::start(workload)).check(); });
  if (!done) checked.problem = done.error().message;
  return checked;
}

}  // namespace dvm::lab
