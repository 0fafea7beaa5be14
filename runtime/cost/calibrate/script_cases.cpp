// Covered by tests/runtime/scenarios/test_cost.py, whose quick calibration runs all of them.

#include "runtime/cost/calibrate/script_cases.h"

#include <fmt/format.h>

#include "dvm/dif/action.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kNothing = "P{ arg0; }";  // one ECB that evaluates a little

// The call of an aggregating function, by its prototype.
std::string call_of(const dif::AggregationInfo& function) {
  if (function.id == dif::Action::agg_count) return "count()";
  if (function.id == dif::Action::agg_lquantize) return "lquantize(arg1, 0, 100, 10)";
  if (function.id == dif::Action::agg_llquantize) return "llquantize(arg1, 10, 0, 6, 10)";
  return fmt::format("{}(arg1)", function.name);
}

void add_aggregations(std::vector<ScriptCase>& cases) {
  for (const dif::AggregationInfo& function : dif::kAggregations) {
    const std::string row = fmt::format("aggregation/{}", function.name), call = call_of(function);
    const std::string plain = fmt::format("P{{ arg0; @ = {}; }}", call);
    cases.push_back({row, plain, std::string(kNothing)});
    cases.push_back({row, fmt::format("P{{ arg0; @[execname] = {}; }}", call), plain, kExecnameBytes});
  }
}

}  // namespace

std::vector<ScriptCase> script_cases() {
  const std::string nothing(kNothing);
  std::vector<ScriptCase> cases = {
      {"action/expression", "P{ arg0; arg1; }", nothing},   {"prepare/ecb", "P{ arg0; } P/arg0 == 99/{ arg0; }", nothing},
      {"action/trace", "P{ arg0; trace(arg1); }", nothing}, {"action/printf", "P{ arg0; printf(\"%d\\n\", arg1); }", nothing},
      {"action/print", "P{ arg0; print(arg1); }", nothing}, {"action/uaddr", "P{ arg0; uaddr(arg1); }", nothing},
      {"action/usym", "P{ arg0; usym(arg1); }", nothing},   {"action/umod", "P{ arg0; umod(arg1); }", nothing},
      {"action/ufunc", "P{ arg0; ufunc(arg1); }", nothing}, {"action/ustack", "P{ arg0; ustack(); }", nothing},
      {"action/stack", "P{ arg0; stack(); }", nothing},     {"consumer/print", "P{ arg0; trace(arg1); }", nothing, 0, true},
  };
  add_aggregations(cases);
  cases.push_back({"prepare/dif", "P{ arg0; @ = count(); }", "P{ @ = count(); }"});
  return cases;
}

}  // namespace dvm::runtime
