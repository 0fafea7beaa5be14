// Clauses. Tests: tests/golden/sema, tests/unit/compiler/compile_test.cpp.
#include "compiler/sema/check_clause.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/clause_order.h"
#include "compiler/sema/expand_probes.h"
#include "compiler/sema/split_conditions.h"
#include "compiler/sema/split_descriptions.h"
#include "compiler/sema/translate.h"

namespace dvm::compiler {

namespace {

void check_predicate(ExprPtr& predicate, Session& s) {
  if (!predicate) return;
  s.diagnostics.set_region("predicate");
  ExprContext context(s);
  if (!check_value(context, predicate)) return;
  if (!is_scalar(predicate->type)) {
    s.error(Tag::D_PRED_SCALAR, predicate->where, "predicate result must be of scalar type");
  }
}

void expand_translations(CheckedClause& checked, Session& s) {
  if (checked.predicate) expand_translations(checked.predicate, s);
  for (CheckedAction& action : checked.actions)
    for (ExprPtr& e : action.args) expand_translations(e, s);
}

// DTrace's limit for one enabled probe: what a statement evaluates or records counts.
constexpr size_t kMaxActions = 16 * 1024;
constexpr size_t kMaxProbes = 16 * 1024;

void check_size(const CheckedClause& clause, Session& s) {
  size_t count = 0;
  for (const CheckedAction& action : clause.actions) count += std::max<size_t>(action.args.size(), 1);
  if (count > kMaxActions)
    s.error(Tag::D_CLAUSE_SIZE, clause.where, fmt::format("clause has {} actions: at most {} are possible", count, kMaxActions));
  if (clause.probes.size() > kMaxProbes)
    s.error(Tag::D_CLAUSE_SIZE, clause.where,
            fmt::format("clause has {} probe descriptions: at most {} are possible", clause.probes.size(), kMaxProbes));
}

void check_predicates(std::vector<PlainClause>& parts, bool are_own, Session& s) {
  for (PlainClause& part : parts)
    if (part.is_own_predicate == are_own) check_predicate(part.predicate, s);
}

void check_actions(PlainClause& part, const CheckedClause& base, Session& s, std::vector<CheckedClause>& to) {
  CheckedClause checked;
  checked.where = base.where, checked.probes = base.probes;
  s.diagnostics.set_region("action list");
  for (Statement& statement : part.statements) check_statement(statement, checked.actions, s);
  check_order(checked.actions, s);
  check_size(checked, s);
  to.push_back(std::move(checked));
}

void check_one(Clause& clause, Session& s, std::vector<CheckedClause>& to) {
  CheckedClause base;
  base.where = clause.where;
  s.has_probes = expand_probes(clause, base, s);
  s.probes = base.probes;
  const bool actions_first = has_actions_first(clause, s);
  std::vector<PlainClause> parts = split_conditions(clause);
  if (!actions_first) check_predicates(parts, true, s);
  for (PlainClause& part : parts) check_actions(part, base, s, to);
  if (actions_first) check_predicates(parts, true, s);
  check_predicates(parts, false, s);
  for (size_t i = 0; i < parts.size(); i++) {
    CheckedClause& checked = to[to.size() - parts.size() + i];
    checked.predicate = std::move(parts[i].predicate);
    checked.matched = i == 0 ? base.matched : 0;
    expand_translations(checked, s);
  }
  s.diagnostics.set_region("");
}

}  // namespace

void check_clause(Clause& clause, Session& s, std::vector<CheckedClause>& to) {
  const unsigned errors = s.diagnostics.errors();
  for (Clause& one : split_descriptions(std::move(clause))) {
    check_one(one, s, to);
    if (s.diagnostics.errors() != errors) return;  // the next description would have most of them again
  }
}

}  // namespace dvm::compiler
