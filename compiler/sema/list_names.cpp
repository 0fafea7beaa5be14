// Covered by tests/runtime/scenarios/test_lsp.py.

#include "compiler/sema/list_names.h"

#include <fmt/format.h>

#include "dvm/dif/action.h"

namespace dvm::compiler {
namespace {

using Kind = NameDesc::Kind;

bool is_internal(std::string_view name) {
  return name.starts_with("dvm_") || name.find(" dvm_") != name.npos || name.find_first_of("%#") != name.npos;
}

std::string list(const std::vector<const Type*>& types) {
  std::string text;
  for (const Type* type : types) text += fmt::format("{}{}", text.empty() ? "" : ", ", type->name);
  return text;
}

std::string parameters(const Symbol& symbol) {
  std::string text;
  for (const InlineParameter& one : symbol.parameters)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.type->name, one.name);
  return symbol.is_array ? fmt::format("[{}]", text) : symbol.has_parameters ? fmt::format("({})", text) : "";
}

NameDesc describe_name(const Symbol& symbol) {
  const std::string name = fmt::format("{}{}", prefix(symbol.scope), symbol.name);
  if (symbol.kind == SymbolKind::constant) return {Kind::constant, name, fmt::format("{} = {}", name, symbol.value)};
  if (symbol.kind == SymbolKind::inline_)
    return {Kind::constant, name, fmt::format("inline {} {}{}", symbol.type->name, name, parameters(symbol))};
  return {Kind::variable, name,
          fmt::format("{} {}{}", symbol.type->name, name, symbol.is_array ? fmt::format("[{}]", list(symbol.keys)) : "")};
}

NameDesc describe_name(const AggregationSymbol& symbol) {
  const dif::AggregationInfo* function = dif::find_aggregation(symbol.desc.function);
  const std::string keys = symbol.keys.empty() ? "" : fmt::format("[{}]", list(symbol.keys));
  return {Kind::aggregation, "@" + symbol.desc.name,
          fmt::format("@{}{} = {}()", symbol.desc.name, keys, function != nullptr ? function->name : "")};
}

std::string members(const Type& record) {
  std::string text = " {\n";
  for (const Field& field : record.fields) text += fmt::format("  {} {};\n", field.type->name, field.name);
  for (const auto& [name, value] : record.enumerators) text += fmt::format("  {} = {},\n", name, value);
  return text + "}";
}

std::string translators_to(const Type& type, Session& s) {
  std::string text;
  for (const Translator& one : s.translators.all())
    if (&resolve(*one.to) == &type && !is_internal(one.from->name))
      text += fmt::format("\ntranslator {} < {} {} >", one.to->name, one.from->name, one.parameter);
  return text;
}

NameDesc describe_type(const Type& type, Session& s) {
  const Type& own = resolve(type);
  std::string text = type.alias != nullptr && type.name != type.alias->name
                         ? fmt::format("typedef {} {}", type.alias->name, type.name)
                         : type.name;
  if (!own.fields.empty() || !own.enumerators.empty()) text += members(own);
  return {Kind::type, type.name, text + translators_to(own, s)};
}

void add_types(std::vector<NameDesc>& names, Session& s) {
  std::vector<std::string_view> all;
  s.types.add_names(all);
  for (const std::string_view name : all)
    if (const Type* type = is_internal(name) ? nullptr : s.types.find(name)) names.push_back(describe_type(*type, s));
  for (const std::string_view tag : s.types.complete_tags()) {
    const size_t blank = tag.find(' ');
    if (is_internal(tag) || blank == tag.npos) continue;
    if (const Type* type = s.types.find_tag(tag.substr(0, blank), std::string(tag.substr(blank + 1))))
      names.push_back(describe_type(*type, s));
  }
}

}  // namespace

std::vector<NameDesc> list_names(Session& s) {
  std::vector<NameDesc> names;
  for (const dif::Scope scope : {dif::Scope::global, dif::Scope::thread, dif::Scope::clause})
    for (const std::string_view name : s.symbols.names(scope)) {
      const Symbol& symbol = *s.symbols.find(scope, name);
      if (symbol.kind != SymbolKind::built_in && !is_internal(name) && symbol.type != nullptr)
        names.push_back(describe_name(symbol));
    }
  for (const AggregationSymbol& one : s.symbols.all_aggregations()) names.push_back(describe_name(one));
  add_types(names, s);
  return names;
}

}  // namespace dvm::compiler
