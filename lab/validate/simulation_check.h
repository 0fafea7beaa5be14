#pragma once
// dvm simulate --check: points of simulation_points.def, simulated from a profile and measured on a live process. Shares are as
// with an idle SMT sibling (live_validation.h). The simulated machine has the measured slow-down (SimulatedMachine::slowdown):
// the time of a call relative to that with an idle sibling.

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

// A figure of a point, simulated and measured.
struct CheckedFigure {
  std::string_view name, unit;
  double simulated = 0;
  noise::Middle measured;

  // The error of the simulation, in per cent of the measured figure; 0 if that is 0.
  double error() const { return measured.median != 0 ? 100 * (simulated - measured.median) / measured.median : 0; }
};

struct CheckedPoint {
  const SimulationPoint* point = nullptr;
  std::string problem;  // why it was not measured
  runtime::SimulatedMachine machine;
  std::vector<CheckedFigure> figures;
  std::set<std::string> missing;  // rows without a price
};

struct CheckSettings {
  unsigned samples = 5;
  double seconds = 0.5;  // of a sample
};

// Simulates and measures a point. If it cannot be measured, `problem` says why.
CheckedPoint check_point(const SimulationPoint& point, const vm::Profile& profile, const OpenTraced& open,
                         const std::string& workload, const CheckSettings& settings);

}  // namespace dvm::lab
