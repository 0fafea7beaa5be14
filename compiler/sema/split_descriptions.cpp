// Clauses of several descriptions to clauses of one. Tests: tests/golden/sema (tst.args_of_descriptions.d), tests/runtime/types.
#include "compiler/sema/split_descriptions.h"

#include <algorithm>

#include "compiler/ast/visitor.h"

namespace dvm::compiler {

namespace {

bool names_args(Expr& e) {
  if (const auto* name = as<Identifier>(&e)) return name->name == "args";
  bool found = false;
  for_each_child(e, [&](ExprPtr& child) { found = found || (child && names_args(*child)); });
  return found;
}

bool names_args(const std::vector<Statement>& statements) {
  return std::any_of(statements.begin(), statements.end(), [](const Statement& s) {
    return (s.expr && names_args(*s.expr)) || (s.condition && names_args(*s.condition)) || names_args(s.then) ||
           names_args(s.otherwise);
  });
}

std::vector<Statement> copy(const std::vector<Statement>& statements) {
  std::vector<Statement> copies;
  for (const Statement& s : statements)
    copies.push_back({s.where, copy(s.expr), copy(s.condition), copy(s.then), copy(s.otherwise), s.has_else});
  return copies;
}

}  // namespace

std::vector<Clause> split_descriptions(Clause&& clause) {
  std::vector<Clause> clauses;
  if (clause.probes.size() > 1 && ((clause.predicate && names_args(*clause.predicate)) || names_args(clause.statements)))
    for (const ProbeName& probe : clause.probes)
      clauses.push_back({clause.where, {probe}, copy(clause.predicate), clause.has_body, copy(clause.statements)});
  else
    clauses.push_back(std::move(clause));
  return clauses;
}

}  // namespace dvm::compiler
