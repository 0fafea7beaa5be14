#pragma once
// Makes the AST from the parse tree: declarations in build_decl, expressions in build_expr, clauses in build_clause.

#include "DParser.h"
#include "compiler/ast/ast.h"
#include "compiler/diagnostic/diagnostics.h"
#include "compiler/parse/token.h"

namespace dvm::compiler {

using Tree = grammar::DParser;

Pragma build_directive(const Token& token);

// "module`name" in its two parts; a ` in front is no part of either.
struct ScopedName {
  explicit ScopedName(std::string_view text);
  std::string module, name;
};

class AstBuilder {
 public:
  AstBuilder(const SourceFile& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  void item(Tree::ItemContext& tree, TranslationUnit& unit);

 private:
  static Location where(const antlr4::ParserRuleContext& tree);
  static Location where(const antlr4::Token& token) { return ours(token).where(); }
  static std::string text(const antlr4::Token& token) { return std::string(ours(token).text()); }

  // build_clause.cpp
  Clause clause(Tree::ClauseContext& tree);
  std::vector<Statement> statements(Tree::StatementsContext& tree);
  std::vector<Statement> branch(Tree::BranchContext& tree);
  Statement if_statement(Tree::IfStatementContext& tree);
  Statement expression_statement(Tree::ExpressionContext& tree);

  // build_decl.cpp
  Declaration declaration(Tree::DeclarationContext& tree);
  InlineDecl inline_definition(Tree::InlineDefinitionContext& tree);
  TranslatorDecl translator(Tree::TranslatorDefinitionContext& tree);
  ProviderDecl provider(Tree::ProviderDefinitionContext& tree);
  ProbeDecl probe(Tree::ProviderProbeContext& tree);
  std::vector<Parameter> signature(Tree::SignatureContext& tree);
  Specifiers specifiers(const std::vector<Tree::SpecifierContext*>& trees);
  Specifiers type_specifiers(const std::vector<Tree::TypeSpecifierContext*>& trees);
  void add(Specifiers& to, Tree::SpecifierContext& tree);
  void add(Specifiers& to, Tree::TypeSpecifierContext& tree);
  void add_scoped(Specifiers& to, const antlr4::Token& name);
  void structure(Specifiers& to, Tree::StructSpecifierContext& tree);
  void enumeration(Specifiers& to, Tree::EnumSpecifierContext& tree);
  void members(Tree::MemberContext& tree, std::vector<MemberDecl>& to);
  Derivation pointer(Tree::PointerContext& tree);
  Declarator declarator(Tree::DeclaratorContext& tree);
  void add_pointers(const std::vector<Tree::PointerContext*>& trees, Declarator& to);
  void derive(Tree::DeclaratorContext& tree, Declarator& to);
  void derive(Tree::AbstractDeclaratorContext& tree, Declarator& to);
  Derivation suffix(Tree::DeclaratorSuffixContext& tree);
  std::vector<Parameter> parameters(Tree::ParametersContext& tree);
  Parameter parameter(Tree::ParameterContext& tree);
  std::shared_ptr<TypeName> type_name(Tree::TypeNameContext& tree);
  std::shared_ptr<TypeName> type_name(Tree::KnownTypeContext& tree);

  // build_expr.cpp
  ExprPtr expression(Tree::ExpressionContext& tree);
  ExprPtr expr(Tree::ExprContext& tree);
  std::vector<ExprPtr> list(const std::vector<Tree::ExprContext*>& trees);
  ExprPtr build(Tree::IntegerContext& tree);
  ExprPtr build(Tree::FloatingContext& tree);
  ExprPtr build(Tree::CharacterContext& tree);
  ExprPtr build(Tree::StringContext& tree);
  ExprPtr build(Tree::MacroContext& tree);
  ExprPtr build(Tree::AggregationContext& tree);
  ExprPtr build(Tree::ScopedContext& tree);
  ExprPtr build(Tree::CallContext& tree);
  ExprPtr build(Tree::IdentifierContext& tree);
  ExprPtr build(Tree::ExternalContext& tree);
  ExprPtr build(Tree::ParenthesizedContext& tree);
  ExprPtr build(Tree::OffsetOfContext& tree);
  ExprPtr build(Tree::SizeofTypeContext& tree);
  ExprPtr build(Tree::TranslateContext& tree);
  ExprPtr build(Tree::IndexContext& tree);
  ExprPtr build(Tree::SelectContext& tree);
  ExprPtr build(Tree::PostfixContext& tree);
  ExprPtr build(Tree::UnaryContext& tree);
  ExprPtr build(Tree::SizeofValueContext& tree);
  ExprPtr build(Tree::StringOfContext& tree);
  ExprPtr build(Tree::CastContext& tree);
  ExprPtr build(Tree::BinaryContext& tree);
  ExprPtr build(Tree::ConditionalContext& tree);
  ExprPtr build(Tree::AssignmentContext& tree);

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  unsigned depth_ = 0;
};

}  // namespace dvm::compiler
