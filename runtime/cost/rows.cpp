// The rows of a profile. Covered by tests/unit/runtime/profile_file_test.cpp.

#include "runtime/cost/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "dvm/dif/action.h"
#include "dvm/vm/profile.h"

namespace dvm::runtime {

const std::vector<CostRow>& sources() {
  static const std::vector<CostRow> rows = {
#define DVM_SOURCE(name, text) {#name, text},
#include "runtime/cost/sources.def"
  };
  return rows;
}

const std::vector<CostRow>& flow_stages() {
  static const std::vector<CostRow> rows = {
#define DVM_FLOW_STAGE(name, text) {#name, text},
#include "runtime/cost/flow_stages.def"
  };
  return rows;
}

const std::vector<CostRow>& captures() {
  static const std::vector<CostRow> rows = {
#define DVM_CAPTURE(name, text) {#name, text},
#include "runtime/cost/captures.def"
  };
  return rows;
}

const std::vector<CostRow>& consumer_steps() {
  static const std::vector<CostRow> rows = {
#define DVM_CONSUMER_STEP(name, text) {#name, text},
#include "runtime/cost/consumer_steps.def"
  };
  return rows;
}

const std::vector<CostRow>& kept_values() {
  static const std::vector<CostRow> rows = {
      {"record/any", "a clause that leaves a record"},
      {"record/integer", "an integer that is recorded"},
      {"record/string", "a string or structure that is recorded; n: a byte of it"},
      {"key/any", "an aggregation with keys: finding its place"},
      {"key/once", "what the first of a firing waits more for its place"},
      {"key/integer", "an integer among the keys"},
      {"key/string", "a string or structure among the keys; n: a byte of it"},
      {"record/rested", "n: a byte that is recorded behind a rest, when its buffer is in no cache"},
      {"key/few", "what finding its place takes more among ten keys in no order than where it is the same each time"},
      {"key/some", "the same among a thousand"},
      {"key/many", "the same among thirty thousand"},
      {"key/first", "a key of a thousand that a firing behind a rest is the first to find: what that takes more"},
      {"key/far", "the same of thirty thousand"},
      {"tuple/few", "what looking up a variable with keys takes more among ten in no order than where it is the same each time"},
      {"tuple/some", "the same among a thousand"},
      {"tuple/many", "the same among ten thousand"},
      {"tuple/first", "a key of a thousand that a firing behind a rest is the first to look up: what that takes more"},
      {"tuple/far", "the same of ten thousand"},
  };
  return rows;
}

const std::vector<CostRow>& counted_things() {
  static const std::vector<CostRow> rows = {
      {"account/firing", "a firing"},
      {"account/ecb", "a clause that it meets"},
      {"account/action", "an action"},
      {"account/evaluation", "a run of a DIFO, with its branches"},
      {"account/step", "a step of the consumer"},
  };
  return rows;
}

bool has_consumer_step(const dif::ActionInfo& action) {
  const auto& steps = consumer_steps();
  return std::any_of(steps.begin(), steps.end(), [&](const CostRow& step) { return step.name == action.name; });
}

std::vector<std::string> price_rows() {
  std::vector<std::string> rows = vm::dif_rows();
  for (const dif::ActionInfo& action : dif::kActions)
    if (action.unsupported.empty()) rows.push_back(fmt::format("action/{}", action.name));
  for (const dif::AggregationInfo& function : dif::kAggregations) rows.push_back(fmt::format("aggregation/{}", function.name));
  for (const CostRow& kept : kept_values()) rows.emplace_back(kept.name);
  rows.push_back("prepare/machine");
  rows.push_back("prepare/dif");
  rows.push_back("prepare/ecb");
  rows.push_back("prepare/predicate");
  rows.push_back("ring/shared");
  for (const std::string_view row : {kReturnRow, kRestedInProcess, kRestedInKernel}) rows.emplace_back(row);
  for (const CostRow& source : sources())
    for (const CostRow& stage : flow_stages()) rows.push_back(fmt::format("source/{}/{}", source.name, stage.name));
  for (const CostRow& capture : captures()) rows.push_back(fmt::format("capture/{}", capture.name));
  for (const CostRow& step : consumer_steps()) rows.push_back(fmt::format("consumer/{}", step.name));
  for (const CostRow& counted : counted_things()) rows.emplace_back(counted.name);
  return rows;
}

}  // namespace dvm::runtime
