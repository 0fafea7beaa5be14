// Covered by tests/runtime/scenarios/test_simulate.py.

#include "lab/validate/simulation_check.h"

#include <algorithm>

#include "lab/calibrate/live_run.h"
#include "lab/noise/quiet_time.h"
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

double rate_of(const JobTimes& times) { return times.calls / times.wall * 1e9; }

struct Sample {
  JobTimes untraced;
  TracedJob traced;
  double quiet = 0;  // share of dvm's polls, or of the calls

  double each_second(double number) const { return number / traced.times.wall * 1e9; }
  double thread_share() const {
    const JobTimes& times = traced.times;
    return measured_share(times.cpu / times.wall, rate_of(times), untraced.cpu / untraced.wall, rate_of(untraced));
  }
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
    machine.cpus = static_cast<unsigned>(cpus());
    if (point_.rate > 0) machine.wakes = 1e9 / paced_mean_nap(point_.rate);
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
    Sample one{or_throw(child_.ask(job_of(point_, point_.rate, settings_.seconds))), trace(point_.rate, settings_.seconds)};
    one.quiet = std::min(one.traced.quiet, one.traced.times.quiet);
    return one;
  }

  // At full speed a thread would fire as often as it calls untraced.
  void check_figures() {
    const auto samples = noise::quietest<Sample>(settings_.samples, [&] { return sample(); });
    const double untraced = middle_of(samples, [](const Sample& one) { return rate_of(one.untraced); }).median;
    checked_.machine.rate = point_.rate > 0 ? point_.rate : untraced / point_.threads;
    checked_.machine.slowdown = middle_of(samples, [](const Sample& one) { return one.traced.times.slowdown; }).median;
    const SimulationResult result = simulate(model_, checked_.machine, buffers_, settings_.seconds);
    const auto add = [&](std::string_view name, std::string_view unit, double simulated, const auto& measured) {
      checked_.figures.push_back({name, unit, simulated, middle_of(samples, measured)});
    };
    add("fired", "/s", result.fired, [](const Sample& one) { return one.each_second(one.traced.times.calls); });
    add("handled", "/s", result.handled, [](const Sample& one) { return one.each_second(one.traced.handled); });
    add("ring drops", "/s", result.ring_drops, [](const Sample& one) { return one.each_second(one.traced.lost); });
    add("other drops", "/s", result.dynamic_drops, [](const Sample& one) { return one.each_second(one.traced.unrecorded); });
    const double percent = 100 / checked_.machine.slowdown;  // of a CPU at the speed of the profile
    add("threads", "% of a CPU", percent * result.thread_share, [](const Sample& one) { return 100 * one.thread_share(); });
    add("dvm", "% of a CPU", percent * (result.dvm_share + result.consumer_share),
        [](const Sample& one) { return 100 * one.traced.dvm / one.traced.times.wall; });
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
  const Status done = caught([&] {
    WorkloadChild child = start_workload(workload);
    PointCheck(profile, open, settings, checked, child).check();
  });
  if (!done) checked.problem = done.error().message;
  return checked;
}

}  // namespace dvm::lab
