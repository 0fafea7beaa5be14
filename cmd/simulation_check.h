#pragma once
// dvm simulate --check: what a simulation says of some workloads beside what they do here.

#include <string>
#include <vector>

namespace dvm::cmd {

struct SimulationCheckOptions {
  std::string profile;
  std::vector<std::string> only;  // points; empty: all
  bool quick = false, as_json = false;
};

int check_simulation(const SimulationCheckOptions& given);

}  // namespace dvm::cmd
