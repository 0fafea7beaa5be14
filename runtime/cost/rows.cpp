// The rows of a profile. Covered by tests/unit/runtime/profile_file_test.cpp.

#include "runtime/cost/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace dvm::runtime {
namespace {

constexpr std::string_view kEngineFolders[] = {
#define DVM_ENGINE(name, text) #name,
#define DVM_BACKEND(name, in_thread, text)
#include "runtime/cost/places.def"
};
constexpr std::string_view kBackendFolders[] = {
#define DVM_ENGINE(name, text)
#define DVM_BACKEND(name, in_thread, text) #name,
#include "runtime/cost/places.def"
};
constexpr std::string_view kInThread[] = {
#define DVM_ENGINE(name, text)
#define DVM_BACKEND(name, in_thread, text) #in_thread,
#include "runtime/cost/places.def"
};

// By what the price of a row differs. clause: by the backend, and where dvm runs clauses by the engine.
enum class RowAxis { none, engine, backend, clause };

bool is_one_of(std::string_view folder, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), folder) != all.end();
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
  if (axis == RowAxis::engine || axis == RowAxis::clause)
    folders.assign(std::begin(kEngineFolders) + 1, std::end(kEngineFolders));
  if (axis == RowAxis::backend || axis == RowAxis::clause)
    folders.insert(folders.end(), std::begin(kBackendFolders) + 1, std::end(kBackendFolders));
  return folders;
}

std::string_view backend_folder(BackendId backend) {
  return backend == BackendId{} ? std::string_view() : kBackendFolders[static_cast<size_t>(backend)];
}

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (const std::string& name : vm::dif_rows()) all.push_back(*find_row(name));
  for (const dif::ActionInfo& action : dif::kActions)
    if (action.unsupported.empty()) all.push_back(row_of(action));
  for (size_t i = rows::kAggregation; i < rows::kCount; i++) all.emplace_back(i);
  return all;
}

}  // namespace

std::optional<EngineId> find_engine(std::string_view name) {
  for (size_t i = 0; i < std::size(kEngineFolders); i++)
    if (kEngineFolders[i] == name) return static_cast<EngineId>(i);
  return std::nullopt;
}

std::optional<PricedSource> find_source(std::string_view name) {
  for (size_t i = 0; i < kSources.size(); i++)
    if (kSources[i].name == name) return static_cast<PricedSource>(i);
  return std::nullopt;
}

std::string_view engine_folder(EngineId engine) {
  return engine == EngineId{} ? std::string_view() : kEngineFolders[static_cast<size_t>(engine)];
}

bool Execution::is_in_thread() const { return kInThread[static_cast<size_t>(backend)] == "yes"; }

std::string Row::name() const {
  const RowText& row = text();
  return fmt::format("{}/{}{}{}", row.folder, row.name, row.folder == "source" ? "/" : "", row.end);
}

vm::RowName Row::in(const Execution& execution) const {
  const vm::RowName usual = *this;
  const RowAxis axis = axis_of(folder());
  const bool is_by_engine = axis == RowAxis::engine || (axis == RowAxis::clause && execution.backend == BackendId{});
  if (axis == RowAxis::none) return usual;
  return usual.in(is_by_engine ? engine_folder(execution.engine) : backend_folder(execution.backend));
}

std::optional<Row> find_row(std::string_view name) {
  static const std::map<std::string, Row, std::less<>> all = [] {
    std::map<std::string, Row, std::less<>> found;
    for (size_t i = 0; i < rows::kCount; i++)
      if (const Row row(i); !row.folder().empty()) found.emplace(row.name(), row);
    return found;
  }();
  const auto found = all.find(name);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

Row row_of(dif::Action action) {
  const dif::AggregationInfo* function = dif::find_aggregation(action);
  return function ? row_of(*function) : row_of(*dif::find_action(action));
}

Row row_of(const vm::DifRow& row) {
  switch (row.table) {
    case vm::DifRow::Table::opcode:
      return row_of(static_cast<dif::Opcode>(row.at));
    case vm::DifRow::Table::variant:
      return variant_of(static_cast<dif::Opcode>(row.at));
    case vm::DifRow::Table::variable:
      return row_of(dif::kBuiltIns[row.at]);
    case vm::DifRow::Table::subroutine:
      break;
  }
  return row_of(static_cast<dif::Subroutine>(row.at));
}

std::optional<Row> consumer_step_of(const dif::ActionInfo& action) {
  for (size_t i = 0; i < kConsumerSteps; i++)
    if (kConsumerStepNames[i] == action.name) return row_of(static_cast<ConsumerStep>(i));
  return std::nullopt;
}

const std::vector<Row>& price_rows() {
  static const std::vector<Row> all = all_rows();
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
