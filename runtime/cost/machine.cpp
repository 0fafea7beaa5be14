// What machine this is. Covered by tests/unit/runtime/profile_file_test.cpp.

#include "runtime/cost/machine.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cmath>
#include <fstream>

#include "common/clock.h"
#include "dvm/vm/cost.h"

namespace dvm::runtime {
namespace {

constexpr double kSameClock = 0.01;  // cycle counters of one machine differ by less, from one measurement to the next

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  return "unknown CPU";
}

}  // namespace

vm::Machine this_machine(std::string version) {
  utsname system{};
  uname(&system);
  return {cpu_name(), fmt::format("{} {}", system.sysname, system.release), std::move(version)};
}

std::string text_of(const vm::Machine& machine) {
  return fmt::format("{}, {}, dvm {}", machine.cpu, machine.kernel, machine.version);
}

double tick_rate(uint64_t interval) {
  const uint64_t begin = read_clock(CLOCK_MONOTONIC_RAW), first = vm::read_ticks();
  uint64_t now = begin;
  while (now - begin < interval) now = read_clock(CLOCK_MONOTONIC_RAW);
  return static_cast<double>(vm::read_ticks() - first) / static_cast<double>(now - begin) * 1e9;
}

std::vector<std::string> machine_differences(const vm::Profile& profile, const vm::Machine& here, double clock_hz) {
  std::vector<std::string> differences;
  const auto compare = [&](const char* what, const std::string& there, const std::string& now) {
    if (!there.empty() && there != now) differences.push_back(fmt::format("its {} is {}, here {}", what, there, now));
  };
  compare("CPU", profile.made_on.cpu, here.cpu);
  compare("kernel", profile.made_on.kernel, here.kernel);
  compare("dvm", profile.made_on.version, here.version);
  if (!profile.made_on.cpu.empty() && std::abs(profile.clock_hz - clock_hz) > kSameClock * clock_hz)
    differences.push_back(
        fmt::format("its clock runs at {:.3f} GHz, here at {:.3f} GHz", profile.clock_hz / 1e9, clock_hz / 1e9));
  return differences;
}

}  // namespace dvm::runtime
