#pragma once
// The rows that a profile may price: an enumeration of all rows of all tables. A row's name is its path in a profile, such as
// opcode/add or source/pid/trigger; docs/cost-model.md lists the tables.
//
// In code a row is "consumer/poll"_row, which does not compile if there is no such row, or is made from a row of its table. The
// engine and backend that do the work are not part of a row; Execution has them.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/action.h"
#include "dvm/dif/opcode.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/profile.h"
#include "runtime/cost/step_counts.h"

namespace dvm::runtime {

// How often a thread wakes from idle before it fires, per second, if nothing is known.
inline constexpr double kUsualWakes = 1000;

enum class PricedSource : uint8_t {
#define DVM_SOURCE(name, text) name,
#include "runtime/cost/sources.def"
};
inline constexpr std::array kSources = {
#define DVM_SOURCE(name, text) std::string_view(#name),
#include "runtime/cost/sources.def"
};
// Nothing: no source has the name.
std::optional<PricedSource> find_source(std::string_view name);

enum class FlowStage : uint8_t {
#define DVM_FLOW_STAGE(name, text) name,
#include "runtime/cost/flow_stages.def"
};
inline constexpr std::array kFlowStages = {
#define DVM_FLOW_STAGE(name, text) std::string_view(#name),
#include "runtime/cost/flow_stages.def"
};

inline constexpr std::array kCaptures = {
#define DVM_CAPTURE(name, text) std::string_view(#name),
#include "runtime/cost/captures.def"
};

enum class EngineId : uint8_t { interp, llvm };           // in the order of vm::kEngines
enum class BackendId : uint8_t { local, agent, kernel };  // dvm's own thread, the traced thread, the kernel as in DTrace

// The engine and the backend of a clause.
struct Execution {
  EngineId engine = EngineId::interp;
  BackendId backend = BackendId::local;

  bool is_in_thread() const { return backend != BackendId::local; }
  friend bool operator==(const Execution&, const Execution&) = default;
};
inline constexpr Execution kInAgent = {EngineId::interp, BackendId::agent};

// The folder of an engine's prices; empty: the default engine.
std::string_view engine_folder(EngineId engine);

struct RowText {
  std::string_view folder, name;
  std::string_view end = {};  // the suffix of a variant, or the stage of a source

  constexpr bool is(std::string_view path) const {
    const size_t slash = folder.size(), behind = slash + 1 + name.size();
    const size_t stage = folder == "source" ? 1 : 0;
    return slash > 0 && path.size() == behind + stage + end.size() && path.substr(0, slash) == folder && path[slash] == '/' &&
           path.substr(slash + 1, name.size()) == name && (stage == 0 || path[behind] == '/') &&
           path.substr(behind + stage) == end;
  }
};

namespace rows {

inline constexpr std::array kLoose = {
#define DVM_ROW(folder, name, text) RowText{#folder, #name},
#include "runtime/cost/rows.def"
};

// The first row of each table.
inline constexpr size_t kOpcode = 0, kVariant = kOpcode + dif::kOpcodes.size(), kVariable = kVariant + dif::kOpcodes.size(),
                        kSubroutine = kVariable + dif::kBuiltIns.size(), kString = kSubroutine + dif::kSubroutines.size(),
                        kTuple = kString + vm::kPlaces.size(), kAction = kTuple + 2,
                        kAggregation = kAction + dif::kActions.size(), kLooseRow = kAggregation + dif::kAggregations.size(),
                        kSource = kLooseRow + kLoose.size(), kCapture = kSource + kSources.size() * kFlowStages.size(),
                        kConsumer = kCapture + kCaptures.size(), kCount = kConsumer + kConsumerSteps;

constexpr std::string_view variant_end(dif::Format format) {
  return format == dif::Format::stv ? "_ref" : format == dif::Format::ret ? "_alone" : "";
}

constexpr std::array<RowText, kCount> all_texts() {
  std::array<RowText, kCount> texts;
  const auto add = [&texts](size_t first, std::string_view folder, const auto& table) {
    for (size_t i = 0; i < table.size(); i++) texts[first + i] = {folder, table[i].name};
  };
  for (size_t i = 0; i < dif::kOpcodes.size(); i++) {
    texts[kOpcode + i] = {"opcode", dif::kOpcodes[i].mnemonic};
    if (const auto end = variant_end(dif::kOpcodes[i].format); !end.empty())
      texts[kVariant + i] = {"opcode", dif::kOpcodes[i].mnemonic, end};
  }
  add(kVariable, "variable", dif::kBuiltIns);
  add(kSubroutine, "subroutine", dif::kSubroutines);
  for (size_t i = 0; i < vm::kPlaces.size(); i++) texts[kString + i] = {"string", vm::kPlaces[i]};
  texts[kTuple] = {"tuple", "integer"}, texts[kTuple + 1] = {"tuple", "string"};
  add(kAction, "action", dif::kActions);
  add(kAggregation, "aggregation", dif::kAggregations);
  for (size_t i = 0; i < kLoose.size(); i++) texts[kLooseRow + i] = kLoose[i];
  for (size_t i = 0; i < kSources.size() * kFlowStages.size(); i++)
    texts[kSource + i] = {"source", kSources[i / kFlowStages.size()], kFlowStages[i % kFlowStages.size()]};
  for (size_t i = 0; i < kCaptures.size(); i++) texts[kCapture + i] = {"capture", kCaptures[i]};
  for (size_t i = 0; i < kConsumerSteps; i++) texts[kConsumer + i] = {"consumer", kConsumerStepNames[i]};
  return texts;
}
inline constexpr std::array<RowText, kCount> kTexts = all_texts();

}  // namespace rows

class Row {
 public:
  constexpr explicit Row(size_t number) : number_(static_cast<uint16_t>(number)) {}

  constexpr const RowText& text() const { return rows::kTexts[number_]; }
  constexpr std::string_view folder() const { return text().folder; }
  std::string name() const;
  operator vm::RowName() const { return vm::RowName::of_table(name()); }
  // The name, with the folder of the engine or of the backend if the price of the row differs there.
  vm::RowName in(const Execution& execution) const;

  friend constexpr auto operator<=>(const Row&, const Row&) = default;

 private:
  uint16_t number_;
};

// Nothing: there is no such row.
constexpr std::optional<Row> find_row(std::string_view name) {
  for (size_t i = 0; i < rows::kCount; i++)
    if (rows::kTexts[i].is(name)) return Row(i);
  return std::nullopt;
}
consteval Row operator""_row(const char* text, size_t size) {
  const std::optional<Row> row = find_row({text, size});
  return row ? *row : throw "there is no such row";
}

constexpr Row row_of(dif::Opcode opcode) { return Row(rows::kOpcode + static_cast<size_t>(opcode) - 1); }
constexpr Row variant_of(dif::Opcode opcode) { return Row(rows::kVariant + static_cast<size_t>(opcode) - 1); }
constexpr Row row_of(const dif::BuiltInInfo& variable) {
  return Row(rows::kVariable + static_cast<size_t>(&variable - dif::kBuiltIns.data()));
}
constexpr Row row_of(dif::Subroutine subroutine) { return Row(rows::kSubroutine + static_cast<size_t>(subroutine)); }
constexpr Row row_of(vm::StringPlace place) { return Row(rows::kString + static_cast<size_t>(place)); }
constexpr Row row_of(const dif::ActionInfo& action) {
  return Row(rows::kAction + static_cast<size_t>(&action - dif::kActions.data()));
}
constexpr Row row_of(const dif::AggregationInfo& function) {
  return Row(rows::kAggregation + static_cast<size_t>(&function - dif::kAggregations.data()));
}
// The row of an action or an aggregating function.
Row row_of(dif::Action action);
constexpr Row row_of(PricedSource source, FlowStage stage) {
  return Row(rows::kSource + static_cast<size_t>(source) * kFlowStages.size() + static_cast<size_t>(stage));
}
constexpr Row row_of(ConsumerStep step) { return Row(rows::kConsumer + static_cast<size_t>(step)); }
Row row_of(const vm::DifRow& row);

// The step of the consumer for such an action, other than printing its values. Nothing: there is none.
std::optional<Row> consumer_step_of(const dif::ActionInfo& action);

// All rows that can be priced, in the order of a profile.
const std::vector<Row>& price_rows();

// All names that a profile may price: each row, and its names in the folders of the engines and backends where it differs.
std::vector<std::string> price_names();

// The default execution of a profile: in the kernel, if it has prices of firings there.
Execution execution_of(const vm::Profile& profile);

}  // namespace dvm::runtime
