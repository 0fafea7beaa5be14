// Clauses with if to clauses without. Tests: tests/golden/lower (tst.if.d).
#include "compiler/sema/split_conditions.h"

#include <algorithm>

namespace dvm::compiler {

namespace {

// Names that no script can spell, unique in the clause by number and over clauses by the place of the clause: the variables keep
// their values for the clauses of one firing only.
class ConditionSplitter {
 public:
  explicit ConditionSplitter(Clause& clause) : clause_(clause) {}

  std::vector<PlainClause> run() {
    start("");
    if (clause_.predicate) {
      const std::string always = fresh();
      begin_with(always, nullptr, clause_.where);
      start("");
      parts_.back().predicate = std::move(clause_.predicate);
      parts_.back().is_own_predicate = true;
      begin_with(always, one(clause_.where), clause_.where);
      start(always);
      statements(clause_.statements, always);
    } else {
      statements(clause_.statements, "");
    }
    return std::move(parts_);
  }

 private:
  std::string fresh() { return "%" + std::to_string(clause_.where.begin) + "." + std::to_string(count_++); }

  ExprPtr variable(const std::string& name, Location where) {
    auto e = std::make_unique<Scoped>(where);
    e->scope = dif::Scope::clause, e->name = name;
    return e;
  }
  static ExprPtr one(Location where) {
    auto e = std::make_unique<Integer>(where);
    e->value = 1;
    return e;
  }

  void start(const std::string& condition) {
    parts_.emplace_back();
    if (!condition.empty()) parts_.back().predicate = variable(condition, clause_.where);
  }

  // name = value, or 0 where there is none.
  void begin_with(const std::string& name, ExprPtr value, Location where) {
    auto assign = std::make_unique<Assign>(where);
    assign->target = variable(name, where);
    assign->value = value ? std::move(value) : std::make_unique<Integer>(where);
    Statement s;
    s.where = where;
    s.expr = std::move(assign);
    parts_.back().statements.push_back(std::move(s));
  }

  static ExprPtr negate(ExprPtr e) {
    auto n = std::make_unique<Unary>(e->where);
    n->op = Op::logical_not, n->operand = std::move(e);
    return n;
  }

  void statements(std::vector<Statement>& list, const std::string& under) {
    for (Statement& s : list) {
      if (s.condition)
        conditional(s, under);
      else
        parts_.back().statements.push_back(std::move(s));
    }
  }

  // Both branches' conditions begin as 0 in a part that always runs, are set where the surrounding condition holds, and guard a
  // part each.
  void conditional(Statement& s, const std::string& under) {
    const std::string then = fresh(), otherwise = fresh();
    const Location where = s.condition->where;
    start("");
    begin_with(then, nullptr, where);
    begin_with(otherwise, nullptr, where);
    start(under);
    begin_with(then, negate(negate(std::move(s.condition))), where);
    begin_with(otherwise, negate(variable(then, where)), where);
    start(then);
    statements(s.then, then);
    if (s.has_else) {
      start(otherwise);
      statements(s.otherwise, otherwise);
    }
    start(under);
  }

  Clause& clause_;
  std::vector<PlainClause> parts_;
  unsigned count_ = 0;
};

}  // namespace

std::vector<PlainClause> split_conditions(Clause& clause) {
  const bool has_condition =
      std::any_of(clause.statements.begin(), clause.statements.end(), [](const Statement& s) { return s.condition != nullptr; });
  if (has_condition) {
    std::vector<PlainClause> parts = ConditionSplitter(clause).run();
    std::erase_if(parts, [](const PlainClause& p) { return p.statements.empty(); });
    return parts;
  }
  std::vector<PlainClause> same(1);
  same[0].predicate = std::move(clause.predicate);
  same[0].is_own_predicate = same[0].predicate != nullptr;
  same[0].statements = std::move(clause.statements);
  return same;
}

}  // namespace dvm::compiler
