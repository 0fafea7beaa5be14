// Symbols by scope and name. Tests: tests/golden/sema.
#include "compiler/types/symbols.h"

#include "dvm/dif/variable.h"

namespace dvm::compiler {

static_assert(dif::kFirstUserVariable == 0x500 && dif::kLastVariable == 0xffff);

Symbol* Symbols::find(dif::Scope scope, std::string_view name) {
  const auto& names = by_name_[static_cast<unsigned>(scope)];
  const auto it = names.find(name);
  return it == names.end() || it->second->version > version_ ? nullptr : it->second;
}

Symbol& Symbols::add(Symbol symbol) {
  Symbol& added = symbols_.emplace_back(std::move(symbol));
  added.file = file_;
  by_name_[static_cast<unsigned>(added.scope)][added.name] = &added;
  return added;
}

Symbol& Symbols::add_variable(dif::Scope scope, const std::string& name, const Type* type) {
  Symbol s;
  s.name = name, s.type = type, s.scope = scope;
  s.id = static_cast<uint16_t>(next_id_[static_cast<unsigned>(scope)]++);
  return add(std::move(s));
}

std::vector<std::string_view> Symbols::names(dif::Scope scope) const {
  std::vector<std::string_view> list;
  for (const auto& [name, symbol] : by_name_[static_cast<unsigned>(scope)])
    if (symbol->version <= version_) list.push_back(name);
  return list;
}

AggregationSymbol* Symbols::find_aggregation(std::string_view name) {
  for (AggregationSymbol& a : aggregations_)
    if (a.desc.name == name) return &a;
  return nullptr;
}

AggregationSymbol& Symbols::add_aggregation(AggregationSymbol aggregation) {
  aggregation.desc.id = static_cast<uint32_t>(aggregations_.size() + 1);
  return aggregations_.emplace_back(std::move(aggregation));
}

dif::Variable describe(const Symbol& s) {
  dif::Variable v;
  v.name = s.name, v.id = s.id, v.scope = s.scope;
  v.kind = s.is_array ? dif::VariableKind::array : dif::VariableKind::scalar;
  v.type = data_type(s.type);
  return v;
}

std::vector<dif::Variable> Symbols::variables() const {
  std::vector<dif::Variable> list;
  for (const Symbol& s : symbols_) {
    if (s.kind != SymbolKind::variable) continue;
    dif::Variable v = describe(s);
    v.is_read = v.is_written = true;
    list.push_back(std::move(v));
  }
  return list;
}

std::vector<dif::AggregationDesc> Symbols::aggregations() const {
  std::vector<dif::AggregationDesc> list;
  for (const AggregationSymbol& a : aggregations_) list.push_back(a.desc);
  return list;
}

std::string_view prefix(dif::Scope scope) {
  return scope == dif::Scope::thread ? "self->" : scope == dif::Scope::clause ? "this->" : "";
}

}  // namespace dvm::compiler
