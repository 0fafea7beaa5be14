#pragma once
// Clauses whose cost is predicted: their DIF is a listing, and so can be priced by hand.

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cost/predict.h"
#include "runtime/cost/profile_file.h"
#include "tests/unit/runtime/programs.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::runtime::test {

// The prices of the paper.
inline vm::Profile pentium() {
  std::ifstream file(DVM_SOURCE_DIR "/runtime/cost/profiles/pentium4-1700.json");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<std::string> warnings;
  auto profile = parse_profile(text.str(), "pentium4-1700.json", warnings);
  EXPECT_TRUE(profile);
  return profile ? *std::move(profile) : vm::Profile{};
}

inline constexpr const char* kArgument = "ldgs arg0, %r1\nret %r1\n";

// An action on what the DIF returns.
inline dif::ActDesc doing(dif::Action kind, std::string_view listing, const dif::DataType& type = kInt) {
  dif::ActDesc desc = action(kind, {dif::test::assembled(listing)});
  desc.args[0].difo.result = type;
  return desc;
}
inline dif::ActDesc counting() { return action(dif::Action::agg_count); }
inline dif::ActDesc tracing() { return doing(dif::Action::trace, kArgument, kLong); }
inline dif::ActDesc counting_by_stack() {
  dif::ActDesc count = doing(dif::Action::agg_count, "ret %r0\n");
  count.args[0].made_by = dif::Action::ustack;
  count.key_count = 1;
  return count;
}

// At a place of its own in the script.
inline dif::EcbDesc on(dif::ProbeDesc probe, std::vector<dif::ActDesc> actions, bool has_predicate = false) {
  static unsigned line = 0;
  dif::EcbDesc desc;
  desc.position = {"x.d", ++line, 1};
  desc.probes = {std::move(probe)};
  desc.actions = std::move(actions);
  if (has_predicate) desc.predicate = dif::PredDesc{dif::test::assembled(kArgument)};
  return desc;
}
inline dif::ProbeDesc system_call(const char* name) { return {"syscall", "", name, "entry"}; }
inline dif::ProbeDesc own_probe(const char* name) { return {"dtrace", "", "", name}; }

// What f says of a program of these clauses: f(programs).
template <class F>
auto of_program(std::vector<dif::EcbDesc> clauses, F f) {
  const dif::Program program{std::move(clauses), {}, {}};
  return f(std::array{&program});
}

inline Prediction predicted(std::vector<dif::EcbDesc> clauses, const vm::Profile& profile, const PredictOptions& options) {
  return of_program(std::move(clauses), [&](const auto& programs) { return predict(programs, profile, options); });
}

}  // namespace dvm::runtime::test
