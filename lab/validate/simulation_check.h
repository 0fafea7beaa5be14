#pragma once
// dvm simulate --check: points of simulation_points.def, simulated from a profile and measured here on a live process. As in
// live_validation.h what tracing takes of the process is its traced share less its untraced one at the traced rate, and all
// shares are as on cores of one's own. What is simulated is the machine as it was found: its threads took so many times as long
// for a call as in those pieces in which their core was their own (SimulatedMachine::slowdown).

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/noise/middle.h"
#include "lab/validate/traced_job.h"
#include "runtime/cost/simulate.h"

namespace dvm::lab {

struct SimulationPoint {
  std::string_view name;  // what --only asks for
  std::string_view title;
  double rate;  // calls a second of each thread; 0: at full speed; below: those at which drops begin
  unsigned threads, keys;
  std::string_view program;
  std::string_view settings;  // -x, between blanks
};

std::span<const SimulationPoint> simulation_points();

// What can be seen of a point both ways.
struct CheckedFigure {
  std::string_view name, unit;
  double simulated = 0;
  noise::Middle measured;

  // Of the simulation, in per cent of what was measured; of nothing there is none.
  double error() const { return measured.median != 0 ? 100 * (simulated - measured.median) / measured.median : 0; }
};

struct CheckedPoint {
  const SimulationPoint* point = nullptr;
  std::string problem;  // why it was not measured
  SimulatedMachine machine;
  std::vector<CheckedFigure> figures;
  std::set<std::string> missing;  // rows without a price
};

struct CheckSettings {
  unsigned samples = 5;
  double seconds = 0.5;  // of a sample
};

class SimulationCheck {
 public:
  SimulationCheck(const vm::Profile& profile, OpenTraced open, std::string workload, const CheckSettings& settings)
      : profile_(profile), open_(std::move(open)), workload_(std::move(workload)), settings_(settings) {}

  // What cannot be measured says why in `problem`.
  CheckedPoint check(const SimulationPoint& point) const;

 private:
  struct Sample;
  // What is simulated of a program.
  struct Simulated {
    FiringModel model;
    SimulatedBuffers buffers;
  };

  Status try_check(CheckedPoint& checked) const;
  Status check_figures(WorkloadChild& child, CheckedPoint& checked) const;
  Status check_full(WorkloadChild& child, CheckedPoint& checked) const;
  Status check_first_drop(WorkloadChild& child, CheckedPoint& checked) const;
  Result<double> find_first_drop(const SimulationPoint& point, WorkloadChild& child, std::vector<double>& slowdowns) const;
  Result<bool> drops_at(double rate, const SimulationPoint& point, WorkloadChild& child, std::vector<double>& slowdowns) const;
  Result<bool> usually_drops_at(double rate, const SimulationPoint& point, WorkloadChild& child,
                                std::vector<double>& slowdowns) const;
  Result<std::unique_ptr<TracedProgram>> start(const SimulationPoint& point, const WorkloadChild& child) const;
  Result<Simulated> model_of(const SimulationPoint& point, const WorkloadChild& child, CheckedPoint& checked) const;
  Result<Sample> sample(const SimulationPoint& point, WorkloadChild& child) const;

  const vm::Profile& profile_;
  OpenTraced open_;
  std::string workload_;
  CheckSettings settings_;
};

}  // namespace dvm::runtime
