// Prototypes of the tables as types. Tests: tests/golden/sema.
#include "compiler/sema/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "compiler/sema/foreign.h"
#include "dvm/dif/versions.h"

namespace dvm::compiler {

const Type* prototype_type(std::string_view word, const TypeTable& types) {
  struct NamedType {
    std::string_view word, type;
  };
  static constexpr NamedType kNamedTypes[] = {{"int", "int"},         {"char", "char"},       {"string", "string"},
                                              {"void", "void"},       {"int32", "int32_t"},   {"int64", "int64_t"},
                                              {"uint16", "uint16_t"}, {"uint32", "uint32_t"}, {"uint64", "uint64_t"},
                                              {"ptr", "uintptr_t"},   {"bytes", "void *"}};
  for (const NamedType& row : kNamedTypes)
    if (row.word == word) return types.basic(row.type);
  return nullptr;
}

Prototype prototype_of(const dif::ArgumentList& arguments, const TypeTable& types) {
  Prototype p;
  for (const dif::Argument& argument : arguments) p.types.push_back(prototype_type(argument.word, types));
  p.required = arguments.required();
  return p;
}

namespace {

struct Foreign {
  std::string_view name, reason;
};

std::string_view reason_of(std::string_view name, std::span<const Foreign> rows) {
  const auto it = std::find_if(rows.begin(), rows.end(), [&](const Foreign& row) { return row.name == name; });
  return it == rows.end() ? std::string_view{} : it->reason;
}

}  // namespace

std::string_view foreign_reason(std::string_view name) {
  static constexpr Foreign kNamedTypes[] = {
#define DVM_FOREIGN(name, reason) {#name, reason},
#include "compiler/sema/foreign.def"
  };
  return reason_of(name, kNamedTypes);
}

std::vector<std::string> bpftrace_hints(std::string_view name) {
  static constexpr Foreign kWords[] = {
#define DVM_BPFTRACE(name, substitute) {#name, substitute},
#include "compiler/sema/foreign.def"
  };
  const std::string_view substitute = reason_of(name, kWords);
  if (substitute.empty()) return {};
  return {fmt::format("'{}' is a word of bpftrace; D has {}", name, substitute)};
}

std::vector<std::string> word_hints(std::string_view name) {
  static constexpr Foreign kWords[] = {
#define DVM_C_WORD(name, substitute) {#name, substitute},
#include "compiler/sema/foreign.def"
  };
  const std::string_view substitute = reason_of(name, kWords);
  if (substitute.empty()) return bpftrace_hints(name);
  return {fmt::format("D has no '{}'; write {}", name, substitute)};
}

std::string_view foreign_data_substitute(std::string_view name) {
  static constexpr Foreign kVariables[] = {
#define DVM_FOREIGN_DATA(name, substitute) {#name, substitute},
#include "compiler/sema/foreign.def"
  };
  return reason_of(name, kVariables);
}

std::string_view foreign_type_reason(std::string_view name) {
  static constexpr Foreign kNamedTypes[] = {
#define DVM_FOREIGN_TYPE(name, reason) {#name, reason},
#include "compiler/sema/foreign.def"
  };
  return reason_of(name, kNamedTypes);
}

bool is_hidden(std::string_view name, const Session& session) {
  return !session.in_library && dif::introduced_in(name) > session.options.version;
}

std::vector<std::string_view> function_names() {
  std::vector<std::string_view> names;
  for (const auto& row : dif::kSubroutines)
    if (!row.name.starts_with("dvm_")) names.push_back(row.name);
  for (const auto& row : dif::kActions)
    if (row.id != dif::Action::expression) names.push_back(row.name);
  for (const auto& row : dif::kAggregations) names.push_back(row.name);
  return names;
}

}  // namespace dvm::compiler
