#pragma once
// The context in which an expression is checked, and what all checks share: diagnostics, and the questions they ask of a checked
// node.
//
// check_expr.h declares the walk itself. One file for each subject checks the kinds of nodes that belong to it: check_name,
// check_types, check_member, check_operators, check_assign, check_index, check_call, check_target, translate.

#include <string>
#include <string_view>
#include <vector>

#include "compiler/sema/session.h"

namespace dvm::compiler {

struct ExprContext {
  explicit ExprContext(Session& s) : session(s), symbols(s.symbols), types(s.types) {}

  Session& session;  // the diagnostics, the options and the probes of the clause
  Symbols& symbols;  // the scope
  TypeTable& types;
  std::string_view assigned;            // the plain global name that the assignment around the expression writes
  bool is_unevaluated = false;          // in the operand of sizeof, which needs no address
  const Call* nested_action = nullptr;  // the last action or aggregating function inside the expression, where none belongs
};

// Gives a node the error type, so that the nodes above it report no further errors.
inline void fail(ExprContext& c, Expr& e) { e.type = c.types.error(); }
void fail(ExprContext& c, Expr& e, Tag tag, std::string message, std::vector<std::string> hints = {});
// The same for what the probes of a clause lack: further uses of it in the clause are not reported.
void fail_once(ExprContext& c, Expr& e, Tag tag, std::string message, std::vector<std::string> hints = {});
// Reports that an operator needs the definition of a type.
void incomplete(ExprContext& c, Expr& e, std::string_view op, const Type* type);
// Records the stability of a name. False after a diagnostic: it is lower than option amin allows.
bool is_stable_enough(ExprContext& c, Expr& e, const std::string& what, const dif::Attributes& attributes);

bool has_error(const std::vector<ExprPtr>& list);
// The value of a constant expression; false, with no diagnostic, when it is none.
bool constant(const Expr& e, int64_t& value);
// Members whose names are similar to one that does not exist.
std::vector<std::string> member_hints(const Type& record, std::string_view name);

}  // namespace dvm::compiler
