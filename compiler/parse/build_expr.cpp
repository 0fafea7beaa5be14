// Expressions. Tests: tests/golden/parse (tst.expressions.d).
#include <typeindex>

#include "compiler/parse/builder.h"
#include "compiler/parse/literal.h"

namespace dvm::compiler {

namespace {

// Nodes within nodes; left-recursive chains (1 + 1 + ...) are deep trees without deep rules.
constexpr unsigned kMaxTree = 1000;

Op binary_op(const std::string& text) {
  static const std::map<std::string, Op> kOps = {
      {"+", Op::add},        {"-", Op::subtract},     {"*", Op::multiply},    {"/", Op::divide},         {"%", Op::remainder},
      {"&", Op::bit_and},    {"|", Op::bit_or},       {"^", Op::bit_xor},     {"<<", Op::shift_left},    {">>", Op::shift_right},
      {"<", Op::less},       {"<=", Op::less_equal},  {">", Op::greater},     {">=", Op::greater_equal}, {"==", Op::equal},
      {"!=", Op::not_equal}, {"&&", Op::logical_and}, {"||", Op::logical_or}, {"^^", Op::logical_xor}};
  return kOps.at(text);
}

Op unary_op(const std::string& text) {
  static const std::map<std::string, Op> kOps = {{"+", Op::plus},        {"-", Op::minus},       {"~", Op::complement},
                                                 {"!", Op::logical_not}, {"*", Op::dereference}, {"&", Op::address_of},
                                                 {"++", Op::increment},  {"--", Op::decrement}};
  return kOps.at(text);
}

// The token between the two operands.
const antlr4::Token& middle_token(antlr4::ParserRuleContext& tree) {
  return *static_cast<antlr4::tree::TerminalNode*>(tree.children[1])->getSymbol();
}

}  // namespace

ExprPtr Builder::expression(Tree::ExpressionContext& tree) {
  ExprPtr result;
  const unsigned depth = depth_;
  for (auto* t : tree.expr()) {
    ExprPtr next = expr(*t);
    if (!result) {
      result = std::move(next);
      continue;
    }
    auto comma = std::make_unique<Comma>(Location{result->where.begin, next->where.end});
    comma->first = std::move(result), comma->second = std::move(next);
    result = std::move(comma);
    depth_++;  // the tree leans to the left, one level a comma
    if (depth_ > kMaxTree) break;
  }
  if (depth_ <= kMaxTree) depth_ = depth;
  return result;
}

// One builder a kind of context: the row that matches runs build() with the context as what it is.
ExprPtr Builder::expr(Tree::ExprContext& tree) {
  using Build = ExprPtr (*)(Builder&, Tree::ExprContext&);
  static const std::map<std::type_index, Build> kBuilders = {
#define DVM_BUILD(name)                                                                                                         \
  {                                                                                                                             \
    typeid(Tree::name##Context), [](Builder& b, Tree::ExprContext& t) { return b.build(static_cast<Tree::name##Context&>(t)); } \
  }
      DVM_BUILD(Integer),       DVM_BUILD(Floating), DVM_BUILD(Character),   DVM_BUILD(String),      DVM_BUILD(Macro),
      DVM_BUILD(Aggregation),   DVM_BUILD(Scoped),   DVM_BUILD(Call),        DVM_BUILD(Identifier),  DVM_BUILD(External),
      DVM_BUILD(Parenthesized), DVM_BUILD(OffsetOf), DVM_BUILD(SizeofType),  DVM_BUILD(Translate),   DVM_BUILD(Index),
      DVM_BUILD(Select),        DVM_BUILD(Postfix),  DVM_BUILD(Unary),       DVM_BUILD(SizeofValue), DVM_BUILD(StringOf),
      DVM_BUILD(Cast),          DVM_BUILD(Binary),   DVM_BUILD(Conditional), DVM_BUILD(Assignment),
#undef DVM_BUILD
  };
  if (depth_ >= kMaxTree) {
    if (depth_++ == kMaxTree)
      diagnostics_.error(Tag::D_NESTING, where(*tree.start), "expression or declaration is nested too deeply");
    return std::make_unique<Integer>(where(tree));
  }
  depth_++;
  ExprPtr built = kBuilders.at(typeid(tree))(*this, tree);
  if (depth_ <= kMaxTree) depth_--;
  return built;
}

std::vector<ExprPtr> Builder::arguments(Tree::ArgumentsContext* tree) {
  std::vector<ExprPtr> list;
  if (!tree) return list;
  for (auto* t : tree->expr()) list.push_back(expr(*t));
  return list;
}

ExprPtr Builder::build(Tree::IntegerContext& tree) { return parse_integer(text(*tree.start), where(tree), diagnostics_); }

ExprPtr Builder::build(Tree::FloatingContext& tree) { return std::make_unique<Integer>(where(tree)); }  // diagnosed by the lexer

ExprPtr Builder::build(Tree::CharacterContext& tree) { return parse_character(text(*tree.start), where(tree), diagnostics_); }

ExprPtr Builder::build(Tree::StringContext& tree) {
  auto e = std::make_unique<String>(where(tree));
  e->value = unescape(text(*tree.start));
  return e;
}

ExprPtr Builder::build(Tree::MacroContext& tree) {
  auto e = std::make_unique<Macro>(where(tree));
  const std::string spelled = text(*tree.start);
  e->as_string = spelled.starts_with("$$");
  e->name = spelled.substr(e->as_string ? 2 : 1);
  return e;
}

ExprPtr Builder::build(Tree::AggregationContext& tree) {
  auto e = std::make_unique<Aggregation>(where(tree));
  e->name = text(*tree.start).substr(1);
  return e;
}

ExprPtr Builder::build(Tree::ScopedContext& tree) {
  auto e = std::make_unique<Scoped>(where(tree));
  e->scope = tree.SELF() ? dif::Scope::thread : dif::Scope::clause;
  e->name = text(*tree.name()->start);
  return e;
}

ExprPtr Builder::build(Tree::CallContext& tree) {
  auto e = std::make_unique<Call>(where(tree));
  e->name = text(*tree.start);
  e->arguments = arguments(tree.arguments());
  return e;
}

ExprPtr Builder::build(Tree::IdentifierContext& tree) {
  auto e = std::make_unique<Identifier>(where(tree));
  e->name = text(*tree.start);
  return e;
}

ExprPtr Builder::build(Tree::ExternalContext& tree) {
  auto e = std::make_unique<External>(where(tree));
  ScopedName scoped(text(*tree.start));
  e->module = std::move(scoped.module), e->name = std::move(scoped.name);
  return e;
}

ExprPtr Builder::build(Tree::ParenthesizedContext& tree) { return expression(*tree.expression()); }

ExprPtr Builder::build(Tree::OffsetOfContext& tree) {
  auto e = std::make_unique<OffsetOf>(where(tree));
  e->of = type_name(*tree.typeName());
  e->member = text(*tree.name()->start);
  return e;
}

ExprPtr Builder::build(Tree::SizeofTypeContext& tree) {
  auto e = std::make_unique<SizeofType>(where(tree));
  e->of = type_name(*tree.knownType());
  return e;
}

ExprPtr Builder::build(Tree::TranslateContext& tree) {
  auto e = std::make_unique<Translate>(where(tree));
  e->to = type_name(*tree.typeName());
  e->operand = expression(*tree.expression());
  return e;
}

ExprPtr Builder::build(Tree::IndexContext& tree) {
  ExprPtr base = expr(*tree.expr());
  std::vector<ExprPtr> list = arguments(tree.arguments());
  if (auto* aggregation = as<Aggregation>(base.get()); aggregation && !aggregation->has_keys) {
    aggregation->keys = std::move(list), aggregation->has_keys = true;
    aggregation->where = where(tree);
    return base;
  }
  auto e = std::make_unique<Index>(where(tree));
  e->base = std::move(base), e->arguments = std::move(list);
  return e;
}

ExprPtr Builder::build(Tree::SelectContext& tree) {
  auto e = std::make_unique<Member>(where(tree));
  e->base = expr(*tree.expr());
  e->arrow = tree.ARROW() != nullptr;
  e->name = text(*tree.name()->start);
  return e;
}

ExprPtr Builder::build(Tree::PostfixContext& tree) {
  auto e = std::make_unique<Postfix>(where(tree));
  e->operand = expr(*tree.expr());
  e->op = tree.INCREMENT() ? Op::increment : Op::decrement;
  return e;
}

ExprPtr Builder::build(Tree::UnaryContext& tree) {
  auto e = std::make_unique<Unary>(where(tree));
  e->op = unary_op(text(*tree.start));
  e->operand = expr(*tree.expr());
  return e;
}

ExprPtr Builder::build(Tree::SizeofValueContext& tree) {
  auto e = std::make_unique<SizeofValue>(where(tree));
  e->operand = expr(*tree.expr());
  return e;
}

ExprPtr Builder::build(Tree::StringOfContext& tree) {
  auto e = std::make_unique<StringOf>(where(tree));
  e->operand = expr(*tree.expr());
  return e;
}

ExprPtr Builder::build(Tree::CastContext& tree) {
  auto e = std::make_unique<Cast>(where(tree));
  e->to = type_name(*tree.typeName());
  e->operand = expr(*tree.expr());
  return e;
}

ExprPtr Builder::build(Tree::BinaryContext& tree) {
  auto e = std::make_unique<Binary>(where(tree));
  e->op = binary_op(text(middle_token(tree)));
  e->left = expr(*tree.expr(0));
  e->right = expr(*tree.expr(1));
  return e;
}

ExprPtr Builder::build(Tree::ConditionalContext& tree) {
  auto e = std::make_unique<Conditional>(where(tree));
  e->condition = expr(*tree.expr(0));
  e->then = expression(*tree.expression());
  e->otherwise = expr(*tree.expr(1));
  return e;
}

ExprPtr Builder::build(Tree::AssignmentContext& tree) {
  auto e = std::make_unique<Assign>(where(tree));
  std::string op = text(middle_token(tree));
  if (op != "=") op.pop_back();
  e->op = op == "=" ? Op::assign : binary_op(op);
  e->target = expr(*tree.expr(0));
  e->value = expr(*tree.expr(1));
  return e;
}

}  // namespace dvm::compiler
