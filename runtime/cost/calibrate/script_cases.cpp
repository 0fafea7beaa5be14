// Covered by tests/runtime/scenarios/test_cost.py, whose quick calibration runs all of them.

#include "runtime/cost/calibrate/script_cases.h"

#include <fmt/format.h>

#include "dvm/dif/action.h"

namespace dvm::runtime {
namespace {

constexpr unsigned kFewLetters = kExecnameBytes - 1, kManyLetters = 199;
constexpr std::string_view kNothing = "P{ arg0; }";  // one ECB that evaluates a little

// The call of an aggregating function, by its prototype.
std::string call_of(const dif::AggregationInfo& function) {
  if (function.id == dif::Action::agg_count) return "count()";
  if (function.id == dif::Action::agg_lquantize) return "lquantize(arg1, 0, 100, 10)";
  if (function.id == dif::Action::agg_llquantize) return "llquantize(arg1, 10, 0, 6, 10)";
  return fmt::format("{}(arg1)", function.name);
}

std::string literal(unsigned letters) { return "\"" + std::string(letters, 'x') + "\""; }

// What values cost that are kept, by scripts that keep one more, or a longer one.
std::vector<ScriptCase> kept_values() {
  const std::string few = literal(kFewLetters), many = literal(kManyLetters);
  const double longer = kManyLetters - kFewLetters;
  const auto printed = [](const std::string& format, const std::string& values) {
    return fmt::format("P{{ arg0; printf(\"{}\", {}); }}", format, values);
  };
  const auto counted = [](const std::string& keys) { return fmt::format("P{{ arg0; @[{}] = count(); }}", keys); };
  return {
      {"record/integer", printed("%d %d", "arg1, arg2"), printed("%d", "arg1")},
      {"record/string", printed("%d %s", "arg1, " + many), printed("%d %s", "arg1, " + few), longer},
      {"record/string", printed("%d %s", "arg1, execname"), printed("%d", "arg1")},
      {"key/integer", counted("arg1, arg2"), counted("arg1")},
      {"key/string", counted("arg1, " + many), counted("arg1, " + few), longer},
      {"key/string", counted("arg1, execname"), counted("arg1")},
      {"key/any", counted("arg1"), "P{ arg0; @ = count(); }"},
  };
}

}  // namespace

std::vector<ScriptCase> script_cases() {
  const std::string nothing(kNothing);
  std::vector<ScriptCase> cases = {
      {"action/expression", "P{ arg0; arg1; }", nothing},
      {"prepare/ecb", "P{ arg0; } P/arg0 == 99/{ arg0; }", nothing},
  };
  for (ScriptCase& one : kept_values()) cases.push_back(std::move(one));
  const auto add = [&](std::string row, const std::string& action) {
    cases.push_back({std::move(row), fmt::format("P{{ arg0; {}; }}", action), nothing});
  };
  cases.push_back({"action/trace", "P{ arg0; trace(arg1); trace(arg2); }", "P{ arg0; trace(arg1); }"});
  add("record/any", "trace(arg1)");
  add("action/printf", "printf(\"%d\\n\", arg1)");
  add("action/print", "print(arg1)");
  for (const char* symbol : {"uaddr", "usym", "umod", "ufunc"})
    add(fmt::format("action/{}", symbol), fmt::format("{}(arg1)", symbol));
  for (const char* stack : {"ustack", "stack"}) add(fmt::format("action/{}", stack), fmt::format("{}()", stack));
  for (const char* consumed : {"printa(@)", "clear(@)", "trunc(@)", "normalize(@, 2)", "denormalize(@)"}) {
    const std::string_view call = consumed;
    cases.push_back({fmt::format("action/{}", call.substr(0, call.find('('))), fmt::format("P{{ arg0; @ = count(); {}; }}", call),
                     "P{ arg0; @ = count(); }"});
  }
  cases.push_back(
      {"action/tracemem", "P{ arg0; this->s = alloca(16); tracemem(this->s, 16); }", "P{ arg0; this->s = alloca(16); }"});
  for (const dif::AggregationInfo& function : dif::kAggregations)
    add(fmt::format("aggregation/{}", function.name), fmt::format("@ = {}", call_of(function)));
  const std::string few = literal(kFewLetters), many = literal(kManyLetters);
  cases.push_back({"consumer/print", fmt::format("P{{ arg0; printf(\"%s\", {}); }}", many),
                   fmt::format("P{{ arg0; printf(\"%s\", {}); }}", few), kManyLetters - kFewLetters, true});
  cases.push_back({"consumer/print", "P{ arg0; trace(arg1); }", nothing, 0, true});
  cases.push_back({"prepare/dif", "P{ arg0; @ = count(); }", "P{ @ = count(); }"});
  return cases;
}

}  // namespace dvm::runtime
