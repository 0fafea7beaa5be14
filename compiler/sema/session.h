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

// Limits the expansion of inlines and translators. Its size can grow exponentially with that of the source: an inline that uses
// another one twice, itself used twice by a third.
struct Expansion {
  static constexpr size_t kMaxNodes = 1 << 16;  // in one item
  static constexpr unsigned kMaxDepth = 4500;   // of nested nodes, those of the source included

  unsigned level = 0;  // of nested inlines that are being checked
  Location where;      // of the outermost one
  unsigned depth = 0;
  size_t nodes = 0;
  bool is_told = false;  // the limit was reported
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
  // Defined types with names similar to that of an undefined type.
  std::vector<std::string> type_hints(const Type& type) const;
  // why_missing() and type_hints() of an undefined type.
  std::vector<std::string> missing_hints(const Type* type) const;

  // An unknown name is reported at its first use only.
  bool is_new_unknown(dif::Scope scope, const std::string& name) { return unknown_.emplace(scope, name).second; }
  // So is a variable that cuts what is assigned to it.
  bool is_new_cut(dif::Scope scope, const std::string& name) { return cut_.emplace(scope, name).second; }
  // An argument or a member that the probes of a clause lack is reported once in each clause.
  bool is_new_lack(const std::string& what) { return lacks_.insert(what).second; }
  void begin_item() { expansion = {}, lacks_.clear(); }

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
  bool has_probes = true;              // false: none match, which was reported
  bool in_library = false;             // a D library is being checked
  // By number: some script names that argument ($0, $1, ...).
  std::vector<bool> used_arguments;
  // Stability of the least stable probe in descriptions, and of the least stable name in statements.
  dif::Attributes descriptions, statements;

 private:
  std::set<std::pair<dif::Scope, std::string>> unknown_;
  std::set<std::pair<dif::Scope, std::string>> cut_;
  std::set<std::string> lacks_;  // of the item being checked
  std::map<const Type*, std::string> missing_;
};

// A checked action, the input of lower/.
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
