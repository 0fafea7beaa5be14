// Any bytes as a profile. What can be read holds numbers that a price can have, is written and read again as the same, and prices
// a program.

#include <cmath>

#include "runtime/cost/predict.h"
#include "runtime/cost/profile_file.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/support/sample_program.h"

using dvm::fuzz::require;

static bool is_number(double value) { return std::isfinite(value) && value >= 0; }

static void check_profile(const dvm::vm::Profile& profile) {
  require(is_number(profile.clock_hz) && profile.clock_hz > 0, "a profile has a clock");
  for (const auto& [row, price] : profile.prices())
    require(is_number(price.m) && is_number(price.n) && is_number(price.spread), "a price is a number");
  std::vector<std::string> warnings;
  const auto again = dvm::runtime::parse_profile(dvm::runtime::profile_text(profile), "again", warnings);
  require(again && warnings.empty(), "what is written can be read");
  require(again->prices() == profile.prices() && again->name == profile.name && again->clock_hz == profile.clock_hz,
          "what is read is what was written");
}

static void price_program(const dvm::vm::Profile& profile) {
  static const dvm::dif::ProgramFile file = dvm::dif::sample_program();
  const dvm::dif::Program* const programs[] = {&file.programs[0].program};
  const auto prediction = dvm::runtime::predict(programs, profile, {});
  require(prediction.probes.size() == 1, "a probe in a process has its price");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> warnings;
  const auto profile = dvm::runtime::parse_profile(text, "fuzz.json", warnings);
  if (!profile) {
    require(profile.error().message.starts_with("fuzz.json:"), "an error names the file");
    return 0;
  }
  check_profile(*profile);
  price_program(*profile);
  return 0;
}
