// Tests: tests/unit/compiler/run_test.cpp (Run.PredicatesSeeTheirClause).
#include "compiler/sema/clause_order.h"

#include <algorithm>
#include <utility>

#include "compiler/ast/visitor.h"
#include "compiler/sema/check_name.h"

namespace dvm::compiler {

namespace {

using Name = std::pair<dif::Scope, std::string>;

// The variables that expressions mention, in the order in which they are checked, and whether the first mention declares them.
class Mentions {
 public:
  explicit Mentions(const Session& session) : session_(session) {}

  struct Mention {
    Name name;
    bool declares = false;
  };

  void add(const Expr& e) {
    const auto* assign = as<Assign>(&e);
    const auto* unary = as<Unary>(&e);
    const auto* postfix = as<Postfix>(&e);
    if (assign) {
      add(*assign->value);
      add_target(*assign->target);
    } else if (postfix || (unary && (unary->op == Op::increment || unary->op == Op::decrement))) {
      add_target(postfix ? *postfix->operand : *unary->operand);
    } else {
      add_name(e, false);
      add_children(e);
    }
  }

  void add(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) {
      if (s.condition) add(*s.condition);
      if (s.expr) add(*s.expr);
      add(s.then);
      add(s.otherwise);
    }
  }

  const Mention* find(const Name& name) const {
    const auto it = std::find_if(list_.begin(), list_.end(), [&](const Mention& m) { return m.name == name; });
    return it == list_.end() ? nullptr : &*it;
  }
  const std::vector<Mention>& all() const { return list_; }

 private:
  void add_name(const Expr& e, bool declares) {
    Name name;
    if (names_variable(e, session_, name.first, name.second) && !find(name)) list_.push_back({std::move(name), declares});
  }

  void add_target(const Expr& target) {
    const auto* element = as<Index>(&target);
    if (element)
      for (const ExprPtr& key : element->arguments) add(*key);
    const Expr& variable = element ? *element->base : target;
    add_name(variable, true);
    add_children(variable);
  }

  void add_children(const Expr& e) {
    for_each_child(const_cast<Expr&>(e), [this](ExprPtr& child) { add(*child); });
  }

  const Session& session_;
  std::vector<Mention> list_;
};

}  // namespace

bool has_actions_first(const Clause& clause, Session& session) {
  if (!clause.predicate) return true;
  Mentions predicate(session), actions(session);
  predicate.add(*clause.predicate);
  actions.add(clause.statements);
  return std::none_of(predicate.all().begin(), predicate.all().end(), [&](const Mentions::Mention& m) {
    const Mentions::Mention* used = actions.find(m.name);
    return m.declares && used && !used->declares && !session.symbols.find(m.name.first, m.name.second);
  });
}

}  // namespace dvm::compiler
