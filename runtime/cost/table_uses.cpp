// Covered by tests/unit/runtime/simulate_test.cpp and tests/unit/runtime/cost_model_test.cpp.

#include "runtime/cost/table_uses.h"

#include <algorithm>
#include <map>

#include "dvm/dif/action.h"
#include "dvm/dif/variable_of.h"
#include "dvm/vm/operands.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostLive = size_t{1} << 30;  // more than any dynvarsize has room for

using Uses = std::map<std::pair<dif::Scope, unsigned>, DynamicUse>;

bool is_dynamic(dif::Opcode opcode) { return dif::info(opcode).scope == dif::Scope::thread || vm::takes_key(opcode); }

// Its bytes with the NUL.
size_t length_of(const vm::StringOperand& text, const vm::Sizes& sizes) {
  return static_cast<size_t>(text.bytes > 0 ? text.bytes : std::max(sizes.expected, 1.0));
}

size_t value_bytes(const dif::DataType& type, const vm::PricedOperands& operands, const vm::Sizes& sizes) {
  if (type.kind == dif::TypeKind::bytes) return type.size;
  if (type.kind != dif::TypeKind::string) return 0;
  return length_of(operands.strings.empty() ? vm::StringOperand{} : operands.strings.front(), sizes);
}

size_t key_bytes(const vm::PricedOperands& operands, const vm::Sizes& sizes) {
  size_t bytes = operands.values * vm::stored_key(8);
  for (const vm::StringOperand& text : operands.references) bytes += vm::stored_key(length_of(text, sizes) - 1);
  return bytes;
}

void add_stores(const dif::Difo& difo, double rate, const vm::Sizes& sizes, Uses& uses) {
  const std::vector<vm::PricedOperands> operands = vm::priced_operands(difo);
  for (size_t i = 0; i < difo.text.size(); i++) {
    const dif::Instruction in = difo.text[i];
    const dif::Variable* variable = is_dynamic(in.opcode()) ? stored_variable(difo, in) : nullptr;
    if (!variable || in.rd() == 0) continue;  // %r0 is 0, which frees it
    DynamicUse& use = uses[{variable->scope, variable->id}];
    use.is_thread = variable->scope == dif::Scope::thread;
    use.has_keys = vm::takes_key(in.opcode());
    use.stores += rate;
    use.entry.value = std::max(use.entry.value, value_bytes(variable->type, operands[i], sizes));
    if (use.has_keys) use.entry.keys = std::max(use.entry.keys, key_bytes(operands[i], sizes));
  }
}

void add_stores(const dif::EcbDesc& clause, const PredictOptions& options, Uses& uses) {
  const double rate = rate_of(clause, options);
  if (rate == 0) return;
  if (clause.predicate) add_stores(clause.predicate->difo, rate, options.sizes, uses);
  for (const dif::ActDesc& action : clause.actions)
    for (const dif::RecDesc& value : action.args)
      add_stores(value.difo, rate * probability_of(clause, options), options.sizes, uses);
}

// Variables without keys come first: threads create them before any key.
bool has_room(std::span<const DynamicUse> uses, double dynvarsize, size_t threads, size_t keys) {
  vm::DynamicRoom room(static_cast<size_t>(dynvarsize));
  for (const bool with_keys : {false, true})
    for (const DynamicUse& use : uses)
      if (use.has_keys == with_keys && !room.add(use.entry, (use.is_thread ? threads : 1) * (with_keys ? keys : 1))) return false;
  return true;
}

}  // namespace

std::vector<DynamicUse> dynamic_uses(std::span<const dif::Program* const> programs, const PredictOptions& options) {
  Uses uses;
  for (const dif::EcbDesc* clause : clauses_of(programs)) add_stores(*clause, options, uses);
  std::vector<DynamicUse> all;
  for (const auto& [variable, use] : uses) all.push_back(use);
  return all;
}

bool have_keys(std::span<const DynamicUse> uses) { return std::ranges::any_of(uses, &DynamicUse::has_keys); }

double most_live(std::span<const DynamicUse> uses, double dynvarsize, double threads) {
  const bool of_keys = have_keys(uses);
  size_t live = 0;
  for (size_t more = kMostLive; more > 0; more /= 2)
    if (has_room(uses, dynvarsize, of_keys ? static_cast<size_t>(threads) : live + more, live + more)) live += more;
  return static_cast<double>(live);
}

double keyed_actions(const dif::EcbDesc& clause) {
  const auto is_keyed = [](const dif::ActDesc& action) { return dif::find_aggregation(action.kind) && action.key_count > 0; };
  return static_cast<double>(std::ranges::count_if(clause.actions, is_keyed));
}

TableUse table_use(Prices& prices, const TableRows& rows, double found) {
  if (found == 0) return {};
  const auto clocks = [&](Row row) { return prices.of(row).clocks; };
  return {rows.most, clocks(rows.few), clocks(rows.some), clocks(rows.many), found};
}

TableUses table_uses(std::span<const dif::Program* const> programs, const PredictOptions& options, Prices& prices) {
  double keys = 0, tuples = 0, firings = 0;
  for (const dif::EcbDesc* clause : clauses_of(programs))
    keys += rate_of(*clause, options) * probability_of(*clause, options) * keyed_actions(*clause);
  // A variable that a firing looks up again is near by then.
  for (const auto& [description, rate] : options.rates) firings += rate;
  for (const DynamicUse& use : dynamic_uses(programs, options))
    if (use.has_keys) tuples += std::min(use.stores, firings);
  return {table_use(prices, kKeyRows, keys), table_use(prices, kTupleRows, tuples)};
}

}  // namespace dvm::runtime
