// Items and clauses. Tests: tests/golden/parse.
#include "compiler/parse/builder.h"

namespace dvm::compiler {

Location AstBuilder::where(const antlr4::ParserRuleContext& tree) {
  const antlr4::Token* first = tree.start;
  const antlr4::Token* last = tree.stop;
  if (!first) return {};
  if (!last || last->getStopIndex() < first->getStartIndex()) last = first;
  return {where(*first).begin, where(*last).end};
}

Pragma build_directive(const Token& token) { return {token.where(), std::string(token.text().substr(1))}; }

void AstBuilder::item(Tree::ItemContext& tree, TranslationUnit& unit) {
  if (tree.c) unit.items.emplace_back(clause(*tree.c));
  if (tree.d) unit.items.emplace_back(declaration(*tree.d));
  if (tree.i) unit.items.emplace_back(inline_definition(*tree.i));
  if (tree.t) unit.items.emplace_back(translator(*tree.t));
  if (tree.p) unit.items.emplace_back(provider(*tree.p));
}

Clause AstBuilder::clause(Tree::ClauseContext& tree) {
  Clause c;
  for (auto* probe : tree.probes) c.probes.push_back({text(*probe), probe->getType() == Tree::INTEGER, where(*probe)});
  c.where = {c.probes.front().where.begin, c.probes.back().where.end};
  if (tree.predicate) c.predicate = expression(*tree.predicate);
  c.has_body = tree.body != nullptr;
  if (c.has_body) c.statements = statements(*tree.actions);
  if (!c.has_body && c.predicate)
    diagnostics_.error(Tag::D_SYNTAX, {where(*tree.open).begin, where(*tree.close).end},
                       "expected actions { } following probe description and predicate");
  else if (!c.has_body && !file_.source().is_description)
    diagnostics_.error(Tag::D_SYNTAX, c.where, "expected predicate and/or actions following probe description");
  return c;
}

std::vector<Statement> AstBuilder::statements(Tree::StatementsContext& tree) {
  std::vector<Statement> list;
  for (auto* statement : tree.list) {
    for (auto* t : statement->conditions) list.push_back(if_statement(*t));
    if (statement->value) list.push_back(expression_statement(*statement->value));
  }
  return list;
}

std::vector<Statement> AstBuilder::branch(Tree::BranchContext& tree) {
  if (tree.block) return statements(*tree.block);
  std::vector<Statement> list;
  if (tree.nested) list.push_back(if_statement(*tree.nested));
  if (tree.value) list.push_back(expression_statement(*tree.value));
  return list;
}

Statement AstBuilder::if_statement(Tree::IfStatementContext& tree) {
  Statement s;
  s.where = where(tree);
  s.condition = expression(*tree.condition);
  s.then = branch(*tree.then);
  s.has_else = tree.otherwise != nullptr;
  if (s.has_else) s.otherwise = branch(*tree.otherwise);
  return s;
}

Statement AstBuilder::expression_statement(Tree::ExpressionContext& tree) {
  Statement s;
  s.where = where(tree);
  s.expr = expression(tree);
  return s;
}

}  // namespace dvm::compiler
