#pragma once
// The state that the passes of sema share: everything that lives longer than one item.
//
// The passes take one item at a time, in the order of the source. D declares a name by its first assignment, which gives it its
// type. So one walk over an expression resolves its names, types and constants.
//
// - declare         declarations, inlines and pragmas to types, symbols and options
// - expand_probes   probe descriptions: macros, missing fields, whether any probe matches
// - check_clause    a clause to a CheckedClause, by
//     check_expr      expressions: names, types, implicit declarations   (expr_context.h lists the files)
//     fold_constants  constant expressions
//     check_action    statements to actions                              (check_printf, check_aggregation)

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/diagnostic/diagnostics.h"
#include "compiler/sema/pending_pragmas.h"
#include "compiler/sema/program_providers.h"
#include "compiler/sema/providers.h"
#include "compiler/sema/translators.h"
#include "compiler/types/import_types.h"
#include "compiler/types/symbols.h"
#include "compiler/types/type_table.h"

namespace dvm::compiler {

// What inlines and translators have put in the place of names. It grows without a bound that the source would show: an inline
// that uses another twice, used twice by a third.
struct Expansion {
  static constexpr size_t kMaxNodes = 1 << 16;  // in one item
  static constexpr unsigned kMaxDepth = 4500;   // nodes within nodes, those of the source among them

  unsigned level = 0;  // inlines within inlines that are being checked
  Location where;      // the outermost of them
  unsigned depth = 0;
  size_t nodes = 0;
  bool is_told = false;
};

struct Session {
  Session(const CompileOptions& o, Diagnostics& d) : options(o), diagnostics(d), target(types, o.types) {
    types.set_string_size(o.string_size);
  }

  void error(Tag tag, Location where, std::string message, std::vector<std::string> hints = {}) {
    diagnostics.error(tag, where, std::move(message), std::move(hints));
  }

  // True if a type has a definition, in the script or in the traced program.
  bool is_defined(const Type* type) { return resolve(*type).is_complete || target.define(type); }
  // Why a structure that the script only names was not found in the traced program, as a hint.
  void set_missing(const Type* type, const std::string& reason) { missing_[type] = reason; }
  std::vector<std::string> why_missing(const Type* type) const {
    const auto it = missing_.find(&resolve(*type));
    return it == missing_.end() ? std::vector<std::string>{} : std::vector<std::string>{it->second};
  }
  // Defined types whose names are like that of one that is not.
  std::vector<std::string> type_hints(const Type& type) const;
  // Both, of a type that is not defined.
  std::vector<std::string> missing_hints(const Type* type) const;

  // An unknown name is reported at its first use only.
  bool is_new_unknown(dif::Scope scope, const std::string& name) { return unknown_.emplace(scope, name).second; }

  CompileOptions options;  // #pragma D option changes them on the way
  Diagnostics& diagnostics;
  TypeTable types;
  TypeImporter target;  // types of the traced program
  Symbols symbols;
  Translators translators;
  Expansion expansion;  // of the item being checked
  Providers providers;
  ProgramProviders program_providers;
  PendingPragmas pragmas;
  std::vector<dif::ProbeDesc> probes;  // of the clause being checked
  bool has_probes = true;              // false: none match, which was reported once
  bool in_library = false;             // checks a D library
  std::vector<bool> used_arguments;    // $0, $1, ... that some script names
  // Stability of the least stable probe in descriptions, and of the least stable name in statements.
  dif::Attributes descriptions, statements;

 private:
  std::set<std::pair<dif::Scope, std::string>> unknown_;
  std::map<const Type*, std::string> missing_;
};

// An action as lower/ takes it: expressions are checked, and belong to the AST or to `made`.
struct CheckedAction {
  dif::Action kind = dif::Action::expression;
  Location where;
  std::vector<ExprPtr> args;  // records, keys and values, in the order of dif::ActDesc
  std::string format;
  bool has_format = false;
  std::vector<uint32_t> aggregations;
  unsigned key_count = 0;
  std::vector<int64_t> parameters;
  dif::ValueLayout layout;  // of what print() shows
};

struct CheckedClause {
  Location where;
  std::vector<dif::ProbeDesc> probes;
  ExprPtr predicate;
  std::vector<CheckedAction> actions;
  size_t matched = 0;
};

// The clause as text, each expression with its type.
std::string print_checked(const CheckedClause& clause);

}  // namespace dvm::compiler
