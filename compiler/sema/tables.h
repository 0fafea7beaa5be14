#pragma once
// The rows of vm/dif/*.def as sema asks for them: by name, and prototypes as types.

#include <string_view>
#include <vector>

#include "compiler/sema/session.h"
#include "compiler/types/type_table.h"
#include "dvm/dif/action.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

template <class Rows>
const typename Rows::value_type* find_by_name(const Rows& rows, std::string_view name) {
  for (const auto& row : rows)
    if (row.name == name && name != "expression") return &row;
  return nullptr;
}

// True of a function that later versions than that of -x version= brought. Libraries have them all.
bool is_hidden(std::string_view name, const Session& session);
// The same as find_by_name(), without hidden functions.
template <class Rows>
const typename Rows::value_type* find_visible(const Rows& rows, std::string_view name, const Session& session) {
  return is_hidden(name, session) ? nullptr : find_by_name(rows, name);
}

// "string int int?": the types in order (null: any) and how many of them must be there.
struct Prototype {
  std::vector<const Type*> types;
  size_t required = 0;
};
Prototype prototype_of(const dif::ArgumentList& arguments, const TypeTable& types);

// The type that a word of a prototype means; null for "any".
const Type* prototype_type(std::string_view word, const TypeTable& types);

// Subroutines, actions and aggregating functions.
std::vector<std::string_view> function_names();

}  // namespace dvm::compiler
