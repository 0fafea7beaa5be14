#pragma once
// Looks up rows of vm/dif/*.def by name, and turns prototypes into types.

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

// True for a function that is newer than the version of -x version=. In libraries, no function is hidden.
bool is_hidden(std::string_view name, const Session& session);
// The same as find_by_name(), without hidden functions.
template <class Rows>
const typename Rows::value_type* find_visible(const Rows& rows, std::string_view name, const Session& session) {
  return is_hidden(name, session) ? nullptr : find_by_name(rows, name);
}

// "string int int?": the types in order (null: any) and the number of required arguments.
struct Prototype {
  std::vector<const Type*> types;
  size_t required = 0;
};
Prototype prototype_of(const dif::ArgumentList& arguments, const TypeTable& types);

// The type that a word of a prototype names; null for "any".
const Type* prototype_type(std::string_view word, const TypeTable& types);

// Subroutines, actions and aggregating functions.
std::vector<std::string_view> function_names();

}  // namespace dvm::compiler
