// Items and clauses. Tests: tests/golden/parse.
#include "compiler/parse/builder.h"

namespace dvm::compiler {

Location Builder::where(const antlr4::Token& token) const {
  return {static_cast<uint32_t>(token.getStartIndex()), static_cast<uint32_t>(token.getStopIndex() + 1)};
}

Location Builder::where(const antlr4::ParserRuleContext& tree) const {
  const antlr4::Token* first = tree.start;
  const antlr4::Token* last = tree.stop;
  if (!first) return {};
  if (!last || last->getStopIndex() < first->getStartIndex()) last = first;
  return {where(*first).begin, where(*last).end};
}

std::string Builder::text(const antlr4::Token& token) const { return std::string(file_.text(where(token))); }

Pragma build_directive(const antlr4::Token& token, const SourceFile& file) {
  const Location where{static_cast<uint32_t>(token.getStartIndex()), static_cast<uint32_t>(token.getStopIndex() + 1)};
  return {where, std::string(file.text(where).substr(1))};
}

void Builder::item(Tree::ItemContext& tree, Unit& unit) {
  if (auto* t = tree.clause()) unit.items.emplace_back(clause(*t));
  if (auto* t = tree.declaration()) unit.items.emplace_back(declaration(*t));
  if (auto* t = tree.inlineDefinition()) unit.items.emplace_back(inline_definition(*t));
  if (auto* t = tree.translatorDefinition()) unit.items.emplace_back(translator(*t));
  if (auto* t = tree.providerDefinition()) unit.items.emplace_back(provider(*t));
}

Clause Builder::clause(Tree::ClauseContext& tree) {
  Clause c;
  for (auto* probe : tree.probe()) c.probes.push_back({text(*probe->start), probe->INTEGER() != nullptr, where(*probe)});
  c.where = {c.probes.front().where.begin, c.probes.back().where.end};
  if (tree.predicate()) c.predicate = expression(*tree.predicate()->expression());
  c.has_body = tree.body() != nullptr;
  if (c.has_body) c.statements = statements(*tree.body()->statements());
  if (!c.has_body && c.predicate)
    diagnostics_.error(Tag::D_SYNTAX, where(*tree.predicate()), "expected actions { } following probe description and predicate");
  else if (!c.has_body && !file_.source().is_description)
    diagnostics_.error(Tag::D_SYNTAX, c.where, "expected predicate and/or actions following probe description");
  return c;
}

std::vector<Statement> Builder::statements(Tree::StatementsContext& tree) {
  std::vector<Statement> list;
  for (auto* statement : tree.statement()) {
    for (auto* t : statement->ifStatement()) list.push_back(if_statement(*t));
    if (auto* t = statement->expression()) list.push_back(expression_statement(*t));
  }
  return list;
}

std::vector<Statement> Builder::branch(Tree::BranchContext& tree) {
  if (tree.body()) return statements(*tree.body()->statements());
  std::vector<Statement> list;
  if (tree.ifStatement()) list.push_back(if_statement(*tree.ifStatement()));
  if (tree.expression()) list.push_back(expression_statement(*tree.expression()));
  return list;
}

Statement Builder::if_statement(Tree::IfStatementContext& tree) {
  Statement s;
  s.where = where(tree);
  s.condition = expression(*tree.expression());
  s.then = branch(*tree.branch(0));
  s.has_else = tree.ELSE() != nullptr;
  if (s.has_else) s.otherwise = branch(*tree.branch(1));
  return s;
}

Statement Builder::expression_statement(Tree::ExpressionContext& tree) {
  Statement s;
  s.where = where(tree);
  s.expr = expression(tree);
  return s;
}

}  // namespace dvm::compiler
