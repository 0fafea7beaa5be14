// Covered by tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/record_shape.h"

#include <optional>

#include "dvm/dif/action.h"
#include "dvm/dif/leaves_record.h"
#include "runtime/cost/model.h"

namespace dvm::runtime {
namespace {

constexpr double kRecordHead = 16;  // bytes of a record besides its values: EPID and time (runtime/buffer/record.h)

void add_values(RecordShape& record, const dif::ActDesc& action, double string, double digits) {
  for (const dif::RecDesc& value : action.args) {
    const bool is_string = value.difo.result.kind == dif::TypeKind::string;
    const bool is_number = value.difo.result.kind == dif::TypeKind::integer && value.made_by == dif::Action::expression;
    record.bytes += is_string ? string : value.difo.result.size;
    record.optional.push_back({"consumer/value"_row, is_number ? digits : 0});
    if (!is_string) continue;
    record.string_bytes += string;
    record.optional.push_back({"consumer/string"_row});
  }
}

// The keys of an aggregation, the frames of a stack, the bytes of a dump or a structure.
double things_of(dif::Action kind, const dif::ActDesc& action, const dif::RecDesc* value, const PredictOptions& options) {
  if (!action.aggregations.empty()) return options.keys;
  if (value == nullptr) return 0;
  if (kind == dif::Action::ustack) return frames_of(options.sizes, *value);
  return value->difo.result.kind == dif::TypeKind::bytes ? value->difo.result.size : 0;
}

// Adds the steps of the action, and of stacks and symbols among its values.
void add_steps(RecordShape& record, const dif::ActDesc& action, const PredictOptions& options) {
  const auto add = [&](dif::Action kind, const dif::RecDesc* value) {
    const dif::ActionInfo* info = dif::find_action(kind);
    const std::optional<Row> step = info ? consumer_step_of(*info) : std::nullopt;
    if (step) record.steps.push_back({*step, things_of(kind, action, value, options)});
  };
  add(action.kind, action.args.empty() ? nullptr : &action.args.front());
  for (const dif::RecDesc& value : action.args)
    if (value.made_by != dif::Action::expression && value.made_by != action.kind) add(value.made_by, &value);
}

}  // namespace

RecordShape shape_of(const dif::EcbDesc& clause, double string, const PredictOptions& options) {
  RecordShape record;
  if (!leaves_record(clause)) return record;
  record.bytes = kRecordHead;
  for (const dif::ActDesc& action : clause.actions) {
    if (!leaves_record(action)) continue;
    record.optional.push_back({"consumer/action"_row});
    add_steps(record, action, options);
    if (dif::keeps_values(action.kind)) add_values(record, action, string, options.digits);
  }
  return record;
}

}  // namespace dvm::runtime
