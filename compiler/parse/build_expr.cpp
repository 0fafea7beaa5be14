// Expressions. Tests: tests/golden/parse (tst.expressions.d).
#include <fmt/format.h>

#include <typeinfo>
#include <unordered_map>

#include "compiler/parse/builder.h"
#include "compiler/parse/literal.h"

namespace dvm::compiler {

namespace {

// Nodes within nodes; left-recursive chains (1 + 1 + ...) are deep trees without deep rules.
constexpr unsigned kMaxTree = 4000;

Op operator_of(std::string_view text) {
  static const std::unordered_map<std::string_view, Op> kOps = {
      {"+", Op::add},        {"-", Op::subtract},     {"*", Op::multiply},    {"/", Op::divide},         {"%", Op::remainder},
      {"&", Op::bit_and},    {"|", Op::bit_or},       {"^", Op::bit_xor},     {"<<", Op::shift_left},    {">>", Op::shift_right},
      {"<", Op::less},       {"<=", Op::less_equal},  {">", Op::greater},     {">=", Op::greater_equal}, {"==", Op::equal},
      {"!=", Op::not_equal}, {"&&", Op::logical_and}, {"||", Op::logical_or}, {"^^", Op::logical_xor}};
  return kOps.at(text);
}

Op unary_op(size_t kind) {
  switch (kind) {
    case Tree::PLUS:
      return Op::plus;
    case Tree::MINUS:
      return Op::minus;
    case Tree::TILDE:
      return Op::complement;
    case Tree::NOT:
      return Op::logical_not;
    case Tree::STAR:
      return Op::dereference;
    case Tree::AND:
      return Op::address_of;
    case Tree::INCREMENT:
      return Op::increment;
    default:
      return Op::decrement;
  }
}

}  // namespace

ExprPtr AstBuilder::expression(Tree::ExpressionContext& tree) {
  ExprPtr result;
  const unsigned depth = depth_;
  for (auto* t : tree.list) {
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

// One builder a kind of context: the row that matches runs build() with the context as what it is. By the address of its type's
// description: comparing these, as type_index does, compares names.
ExprPtr AstBuilder::expr(Tree::ExprContext& tree) {
  using Build = ExprPtr (*)(AstBuilder&, Tree::ExprContext&);
  static const std::unordered_map<const std::type_info*, Build> kBuilders = {
#define DVM_BUILD(name)                                                                                   \
  {                                                                                                       \
    &typeid(Tree::name##Context),                                                                         \
        [](AstBuilder& b, Tree::ExprContext& t) { return b.build(static_cast<Tree::name##Context&>(t)); } \
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
  ExprPtr built = kBuilders.at(&typeid(tree))(*this, tree);
  if (depth_ <= kMaxTree) depth_--;
  return built;
}

std::vector<ExprPtr> AstBuilder::list(const std::vector<Tree::ExprContext*>& trees) {
  std::vector<ExprPtr> built;
  for (auto* t : trees) built.push_back(expr(*t));
  return built;
}

ExprPtr AstBuilder::build(Tree::IntegerContext& tree) { return parse_integer(text(*tree.start), where(tree), diagnostics_); }

ExprPtr AstBuilder::build(Tree::FloatingContext& tree) {
  return std::make_unique<Integer>(where(tree));
}  // diagnosed by the lexer

ExprPtr AstBuilder::build(Tree::CharacterContext& tree) { return parse_character(text(*tree.start), where(tree), diagnostics_); }

ExprPtr AstBuilder::build(Tree::StringContext& tree) {
  auto e = std::make_unique<String>(where(tree));
  e->value = unescape(text(*tree.start));
  return e;
}

ExprPtr AstBuilder::build(Tree::MacroContext& tree) {
  auto e = std::make_unique<Macro>(where(tree));
  const std::string spelled = text(*tree.start);
  e->as_string = spelled.starts_with("$$");
  e->name = spelled.substr(e->as_string ? 2 : 1);
  return e;
}

ExprPtr AstBuilder::build(Tree::AggregationContext& tree) {
  auto e = std::make_unique<Aggregation>(where(tree));
  e->name = text(*tree.start).substr(1);
  return e;
}

ExprPtr AstBuilder::build(Tree::ScopedContext& tree) {
  auto e = std::make_unique<Scoped>(where(tree));
  e->scope = tree.scope->getType() == Tree::SELF ? dif::Scope::thread : dif::Scope::clause;
  e->name = text(*tree.name);
  return e;
}

ExprPtr AstBuilder::build(Tree::CallContext& tree) {
  auto e = std::make_unique<Call>(where(tree));
  e->name = text(*tree.start);
  e->arguments = list(tree.list);
  return e;
}

ExprPtr AstBuilder::build(Tree::IdentifierContext& tree) {
  auto e = std::make_unique<Identifier>(where(tree));
  e->name = text(*tree.start);
  return e;
}

ExprPtr AstBuilder::build(Tree::ExternalContext& tree) {
  auto e = std::make_unique<External>(where(tree));
  ScopedName scoped(text(*tree.start));
  e->module = std::move(scoped.module), e->name = std::move(scoped.name);
  return e;
}

ExprPtr AstBuilder::build(Tree::ParenthesizedContext& tree) { return expression(*tree.inner); }

ExprPtr AstBuilder::build(Tree::OffsetOfContext& tree) {
  auto e = std::make_unique<OffsetOf>(where(tree));
  e->of = type_name(*tree.of);
  e->member = text(*tree.name);
  return e;
}

ExprPtr AstBuilder::build(Tree::SizeofTypeContext& tree) {
  auto e = std::make_unique<SizeofType>(where(tree));
  e->of = type_name(*tree.of);
  e->is_alignment = tree.what->getType() == Tree::ALIGNOF;
  return e;
}

ExprPtr AstBuilder::build(Tree::TranslateContext& tree) {
  auto e = std::make_unique<Translate>(where(tree));
  e->to = type_name(*tree.to);
  e->operand = expression(*tree.operand);
  return e;
}

ExprPtr AstBuilder::build(Tree::IndexContext& tree) {
  ExprPtr base = expr(*tree.base);
  std::vector<ExprPtr> keys = list(tree.list);
  if (auto* aggregation = as<Aggregation>(base.get()); aggregation && !aggregation->has_keys) {
    aggregation->keys = std::move(keys), aggregation->has_keys = true;
    aggregation->where = where(tree);
    return base;
  }
  auto e = std::make_unique<Index>(where(tree));
  e->base = std::move(base), e->arguments = std::move(keys);
  return e;
}

ExprPtr AstBuilder::build(Tree::SelectContext& tree) {
  auto e = std::make_unique<Member>(where(tree));
  e->base = expr(*tree.base);
  e->arrow = tree.op->getType() == Tree::ARROW;
  e->name = text(*tree.name);
  return e;
}

ExprPtr AstBuilder::build(Tree::PostfixContext& tree) {
  auto e = std::make_unique<Postfix>(where(tree));
  e->operand = expr(*tree.operand);
  e->op = unary_op(tree.op->getType());
  return e;
}

ExprPtr AstBuilder::build(Tree::UnaryContext& tree) {
  auto e = std::make_unique<Unary>(where(tree));
  e->op = unary_op(tree.op->getType());
  e->operand = expr(*tree.operand);
  return e;
}

ExprPtr AstBuilder::build(Tree::SizeofValueContext& tree) {
  if (const auto* cast = dynamic_cast<Tree::CastContext*>(tree.operand)) {  // "sizeof (int) x": the type is all of the operand
    const Location rest = where(*cast->operand);
    diagnostics_.error(Tag::D_SYNTAX, rest, fmt::format("syntax error near \"{}\"", file_.text(rest)));
  }
  auto e = std::make_unique<SizeofValue>(where(tree));
  e->operand = expr(*tree.operand);
  return e;
}

ExprPtr AstBuilder::build(Tree::StringOfContext& tree) {
  auto e = std::make_unique<StringOf>(where(tree));
  e->operand = expr(*tree.operand);
  return e;
}

ExprPtr AstBuilder::build(Tree::CastContext& tree) {
  auto e = std::make_unique<Cast>(where(tree));
  e->to = type_name(*tree.to);
  e->operand = expr(*tree.operand);
  return e;
}

ExprPtr AstBuilder::build(Tree::BinaryContext& tree) {
  auto e = std::make_unique<Binary>(where(tree));
  e->op = operator_of(ours(*tree.op).text());
  e->left = expr(*tree.left);
  e->right = expr(*tree.right);
  return e;
}

ExprPtr AstBuilder::build(Tree::ConditionalContext& tree) {
  auto e = std::make_unique<Conditional>(where(tree));
  e->condition = expr(*tree.condition);
  e->then = expression(*tree.then);
  e->otherwise = expr(*tree.otherwise);
  return e;
}

ExprPtr AstBuilder::build(Tree::AssignmentContext& tree) {
  auto e = std::make_unique<Assign>(where(tree));
  std::string_view op = ours(*tree.op).text();
  if (op != "=") op.remove_suffix(1);
  e->op = op == "=" ? Op::assign : operator_of(op);
  e->target = expr(*tree.target);
  e->value = expr(*tree.value);
  return e;
}

}  // namespace dvm::compiler
