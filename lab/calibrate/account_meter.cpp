// What counting itself takes: the same scripts on made-up firings, counted and not, in turn. A firing with more of a thing is
// more counting:
//
//   account/action      five actions in a clause, less one           account/ecb       five clauses, less one
//   account/evaluation  one that evaluates, less one that counts     account/firing    what is left of one that counts
//   account/step        a seventh of a printf of two numbers and a string, in the consumer
//
// Covered by tests/runtime/scenarios/test_cost.py.

#include <algorithm>

#include "lab/calibrate/meter.h"
#include "lab/calibrate/script_meter.h"
#include "lab/price_of.h"

namespace dvm::runtime {
namespace {

constexpr double kMore = 4;       // of what a script has once more often
constexpr double kSteps = 4 + 3;  // of a printf of two numbers: the action, the format, the values; of a string that is traced

class AccountMeter {
 public:
  AccountMeter(const CompileScript& compile, const ScriptMeterOptions& options, const vm::Profile& profile)
      : compile_(compile), options_(options), profile_(profile) {}

  // Clocks a firing that counting takes more, on the probe side.
  Result<vm::Price> of(const char* script) const { return of(script, {.firings = options_.firings}, &ScriptSample::probe); }
  // In the consumer.
  Result<vm::Price> of_consumer(const char* script) const {
    return of(script, {.firings = std::min(options_.firings, kMostRecords)}, &ScriptSample::consumer);
  }

 private:
  Result<vm::Price> of(const char* script, RunSettings settings, noise::QuietTime ScriptSample::*side) const {
    Result<dif::Program> program = compile_(with_probe(script));
    if (!program) return program.error();
    const std::string of_plain = std::string("account ") + script, of_counted = of_plain + " counted";
    noise::QuietSamples counted = noise::samples_of(options_.book, of_counted, options_.samples),
                        plain = noise::samples_of(options_.book, of_plain, options_.samples);
    while (counted.wants_more() || plain.wants_more())
      for (const auto& [cost, samples] : {std::pair(vm::CostPolicy::blocks, &counted), {vm::CostPolicy::none, &plain}}) {
        settings.cost = cost;
        Result<ScriptSample> sample = time_program(*program, settings);
        if (!sample) return sample.error();
        samples->add((*sample).*side);
      }
    return times(difference(noise::settle(options_.book, of_counted, counted), noise::settle(options_.book, of_plain, plain)),
                 profile_.clock_hz / 1e9);
  }

  const CompileScript& compile_;
  const ScriptMeterOptions& options_;
  const vm::Profile& profile_;
};

// What one of so many things more takes besides other rows.
vm::Price each(const vm::Price& with, const vm::Price& without, double more, double others = 0) {
  return {std::max((with.m - without.m) / more - others, 0.0), 0, (with.spread + without.spread) / more};
}

std::vector<Row> account_rows() {
  return {"account/action"_row, "account/ecb"_row, "account/evaluation"_row, "account/step"_row, "account/firing"_row};
}

Status measure_accounting(const Bench& bench, std::optional<Row>, vm::Profile& profile) {
  const AccountMeter meter(bench.compile, bench.scripts, profile);
  const auto one = meter.of("P{ @a = count(); }");
  const auto actions = meter.of("P{ @a = count(); @b = count(); @c = count(); @d = count(); @e = count(); }");
  const auto clauses = meter.of("P{ @a = count(); } P{ @b = count(); } P{ @c = count(); } P{ @d = count(); } P{ @e = count(); }");
  const auto sum = meter.of("P{ @a = sum(arg1); }");
  const auto printed = meter.of_consumer("P{ arg0; printf(\"%d %d\\n\", 77777, 77777); } P{ trace(execname); }");
  for (const auto* found : {&one, &actions, &clauses, &sum, &printed})
    if (!*found) return found->error();
  const vm::Price action = each(*actions, *one, kMore), ecb = each(*clauses, *one, kMore, action.m);
  profile.set("account/action"_row, action);
  profile.set("account/ecb"_row, ecb);
  profile.set("account/evaluation"_row, each(*sum, *one, 1));
  profile.set("account/step"_row, times(*printed, 1 / kSteps));
  profile.set("account/firing"_row, {std::max(one->m - action.m - ecb.m, 0.0), 0, one->spread});
  return {};
}

}  // namespace

const Meter kAccountMeter = {"accounting", "", account_rows, measure_accounting};

}  // namespace dvm::runtime
