// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/account_meter.h"

#include <algorithm>

#include "runtime/cost/calibrate/middle.h"

namespace dvm::runtime {
namespace {

constexpr double kMore = 4;  // of what a script has once more often

class AccountMeter {
 public:
  AccountMeter(const CompileScript& compile, const ScriptMeterOptions& options, const vm::Profile& profile)
      : compile_(compile), options_(options), profile_(profile) {}

  // Clocks a firing that counting takes more.
  Result<vm::Price> of(const char* script) const {
    Result<dif::Program> program = compile_(with_probe(script));
    if (!program) return program.error();
    const std::string of_plain = std::string("account ") + script, of_counted = of_plain + " counted";
    QuietSamples counted(wanted(options_.book, of_counted, options_.samples)),
        plain(wanted(options_.book, of_plain, options_.samples));
    while (counted.wants_more() || plain.wants_more())
      for (const auto& [cost, samples] : {std::pair(vm::CostPolicy::blocks, &counted), {vm::CostPolicy::none, &plain}}) {
        Result<ScriptSample> sample = time_program(*program, {.firings = options_.firings, .cost = cost});
        if (!sample) return sample.error();
        samples->add(sample->probe);
      }
    return times(difference(settle(options_.book, of_counted, counted), settle(options_.book, of_plain, plain)),
                 profile_.clock_hz / 1e9);
  }

 private:
  const CompileScript& compile_;
  const ScriptMeterOptions& options_;
  const vm::Profile& profile_;
};

// Of several of a thing and one of it, what one more takes besides other rows.
vm::Price each(const vm::Price& several, const vm::Price& one, double others) {
  return {std::max((several.m - one.m) / kMore - others, 0.0), 0, (several.spread + one.spread) / kMore};
}

}  // namespace

Status measure_accounting(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  const AccountMeter meter(compile, options, profile);
  const auto one = meter.of("P{ @a = count(); }");
  const auto actions = meter.of("P{ @a = count(); @b = count(); @c = count(); @d = count(); @e = count(); }");
  const auto clauses = meter.of("P{ @a = count(); } P{ @b = count(); } P{ @c = count(); } P{ @d = count(); } P{ @e = count(); }");
  const auto sum = meter.of("P{ @a = sum(arg1 + arg2); }");
  const auto sums = meter.of(
      "P{ @a = sum(arg1 + arg2); @b = sum(arg1 + arg2); @c = sum(arg1 + arg2); @d = sum(arg1 + arg2); @e = sum(arg1 + arg2); }");
  for (const auto* found : {&one, &actions, &clauses, &sum, &sums})
    if (!*found) return found->error();
  const vm::Price action = each(*actions, *one, 0), ecb = each(*clauses, *one, action.m),
                  evaluation = each(*sums, *sum, action.m);
  profile.set("account/action", action);
  profile.set("account/ecb", ecb);
  profile.set("account/evaluation", evaluation);
  profile.set("account/firing", {std::max(one->m - action.m - ecb.m, 0.0), 0, one->spread});
  return {};
}

}  // namespace dvm::runtime
