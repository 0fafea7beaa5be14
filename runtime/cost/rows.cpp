// The rows of a profile. Covered by tests/unit/runtime/profile_file_test.cpp.

#include "runtime/cost/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "dvm/vm/engine.h"

namespace dvm::runtime {
namespace {

static_assert(std::size(vm::kEngines) == 2 && vm::kEngines[static_cast<size_t>(EngineId::llvm)].name == "llvm");

// The folders of the backends' prices, in the order of BackendId. Those of the first one have no folder.
constexpr std::string_view kBackends[] = {"", "agent", "kernel"};

// Nothing: none has the name.
template <class Id, class Names>
std::optional<Id> find(const Names& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  return found == std::end(names) ? std::nullopt : std::optional(static_cast<Id>(found - std::begin(names)));
}

// By what the price of a row differs. clause: by the backend, and where dvm runs clauses by the engine.
enum class RowAxis { none, engine, backend, clause };

bool is_one_of(std::string_view folder, std::initializer_list<std::string_view> all) {
  return std::ranges::find(all, folder) != all.end();
}

// "tuple/few" and so on are of the tables that DIF uses.
RowAxis axis_of(std::string_view folder) {
  if (is_one_of(folder, {"opcode", "variable", "subroutine", "string", "tuple"})) return RowAxis::engine;
  if (is_one_of(folder, {"action", "aggregation", "record", "key", "prepare"})) return RowAxis::clause;
  return is_one_of(folder, {"consumer", "account"}) || folder.starts_with("agent/") ? RowAxis::none : RowAxis::backend;
}

// The folders in which a file may have the row, besides the default.
std::vector<std::string_view> folders_of(RowAxis axis) {
  std::vector<std::string_view> folders;
  if (axis == RowAxis::engine || axis == RowAxis::clause) folders.push_back(engine_folder(EngineId::llvm));
  if (axis == RowAxis::backend || axis == RowAxis::clause)
    folders.insert(folders.end(), std::begin(kBackends) + 1, std::end(kBackends));
  return folders;
}

}  // namespace

std::optional<PricedSource> find_source(std::string_view name) { return find<PricedSource>(kSources, name); }

std::string_view engine_folder(EngineId engine) {
  return engine == EngineId{} ? std::string_view() : vm::kEngines[static_cast<size_t>(engine)].name;
}

std::string Row::name() const {
  const RowText& row = text();
  return fmt::format("{}/{}{}{}", row.folder, row.name, row.folder == "source" ? "/" : "", row.end);
}

vm::RowName Row::in(const Execution& execution) const {
  const vm::RowName usual = *this;
  const RowAxis axis = axis_of(folder());
  const bool is_by_engine = axis == RowAxis::engine || (axis == RowAxis::clause && execution.backend == BackendId{});
  if (axis == RowAxis::none) return usual;
  if (is_by_engine) return usual.in(engine_folder(execution.engine));
  return execution.backend == BackendId{} ? usual : usual.in(kBackends[static_cast<size_t>(execution.backend)]);
}

Row row_of(dif::Action action) {
  const dif::AggregationInfo* function = dif::find_aggregation(action);
  return function ? row_of(*function) : row_of(*dif::find_action(action));
}

Row row_of(const vm::DifRow& row) {
  // By the table; the first opcode has the number 1.
  static constexpr size_t kFirst[] = {rows::kOpcode - 1, rows::kVariant - 1, rows::kVariable, rows::kSubroutine};
  return Row(kFirst[static_cast<size_t>(row.table)] + row.at);
}

std::optional<Row> consumer_step_of(const dif::ActionInfo& action) {
  const auto step = find<ConsumerStep>(kConsumerStepNames, action.name);
  return step ? std::optional(row_of(*step)) : std::nullopt;
}

const std::vector<Row>& price_rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> rows;
    for (const std::string& name : vm::dif_rows()) rows.push_back(*find_row(name));
    for (const dif::ActionInfo& action : dif::kActions)
      if (action.unsupported.empty()) rows.push_back(row_of(action));
    for (size_t i = rows::kAggregation; i < rows::kCount; i++) rows.emplace_back(i);
    return rows;
  }();
  return all;
}

std::vector<std::string> price_names() {
  std::vector<std::string> names;
  for (const Row row : price_rows()) names.push_back(row.name());
  for (const Row row : price_rows())
    for (const std::string_view folder : folders_of(axis_of(row.folder()))) names.push_back(vm::RowName(row).in(folder).text());
  return names;
}

Execution execution_of(const vm::Profile& profile) {
  const auto& prices = profile.prices();
  const auto kernel = prices.lower_bound("kernel/");
  const bool is_kernel = kernel != prices.end() && kernel->first.starts_with("kernel/");
  return {EngineId::interp, is_kernel ? BackendId::kernel : BackendId::local};
}

}  // namespace dvm::runtime
