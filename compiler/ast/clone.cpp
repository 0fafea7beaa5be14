// Copies expressions as they were before sema. Tests: tests/golden/sema (tst.inline.d).
#include "compiler/ast/visitor.h"

namespace dvm::compiler {

ExprPtr copy(const ExprPtr& e) { return e ? clone(*e) : nullptr; }

namespace {

std::vector<ExprPtr> copy(const std::vector<ExprPtr>& list) {
  std::vector<ExprPtr> copies;
  for (const ExprPtr& e : list) copies.push_back(clone(*e));
  return copies;
}
void fill(Integer& to, const Integer& e) {
  to.value = e.value, to.decimal = e.decimal, to.is_unsigned = e.is_unsigned, to.is_long = e.is_long;
  to.type = e.type, to.is_zero_constant = e.is_zero_constant;
}
void fill(String& to, const String& e) { to.value = e.value; }
void fill(Macro& to, const Macro& e) { to.name = e.name, to.as_string = e.as_string; }
void fill(Identifier& to, const Identifier& e) { to.name = e.name; }
void fill(Scoped& to, const Scoped& e) { to.name = e.name, to.scope = e.scope; }
void fill(External& to, const External& e) { to.module = e.module, to.name = e.name; }
void fill(Aggregation& to, const Aggregation& e) { to.name = e.name, to.keys = copy(e.keys), to.has_keys = e.has_keys; }
void fill(Index& to, const Index& e) { to.base = copy(e.base), to.arguments = copy(e.arguments); }
void fill(Member& to, const Member& e) { to.base = copy(e.base), to.name = e.name, to.arrow = e.arrow; }
void fill(Call& to, const Call& e) { to.name = e.name, to.arguments = copy(e.arguments); }
void fill(Unary& to, const Unary& e) { to.op = e.op, to.operand = copy(e.operand); }
void fill(Postfix& to, const Postfix& e) { to.op = e.op, to.operand = copy(e.operand); }
void fill(Binary& to, const Binary& e) { to.op = e.op, to.left = copy(e.left), to.right = copy(e.right); }
void fill(Assign& to, const Assign& e) { to.op = e.op, to.target = copy(e.target), to.value = copy(e.value); }
void fill(Conditional& to, const Conditional& e) {
  to.condition = copy(e.condition), to.then = copy(e.then), to.otherwise = copy(e.otherwise);
}
void fill(Comma& to, const Comma& e) { to.first = copy(e.first), to.second = copy(e.second); }
void fill(Cast& to, const Cast& e) {
  to.to = e.to, to.operand = copy(e.operand);
  if (!e.to) to.type = e.type;
}
void fill(SizeofType& to, const SizeofType& e) { to.of = e.of, to.is_alignment = e.is_alignment; }
void fill(SizeofValue& to, const SizeofValue& e) { to.operand = copy(e.operand); }
void fill(OffsetOf& to, const OffsetOf& e) { to.of = e.of, to.member = e.member; }
void fill(StringOf& to, const StringOf& e) { to.operand = copy(e.operand); }
void fill(Translate& to, const Translate& e) {
  to.to = e.to, to.operand = copy(e.operand);
  if (!e.to) to.type = e.type;
}

}  // namespace

ExprPtr clone(const Expr& expr) {
  return visit(expr, [](const auto& e) -> ExprPtr {
    auto to = std::make_unique<std::decay_t<decltype(e)>>(e.where);
    fill(*to, e);
    return to;
  });
}

void place_at(Expr& expr, Location where) {
  expr.where = where;
  for_each_child(expr, [&](ExprPtr& child) { place_at(*child, where); });
}

std::string_view token(Op op) {
  static constexpr std::string_view kTokens[] = {
#define DVM_OPERATOR(name, token) token,
#include "compiler/ast/operators.def"
  };
  return kTokens[static_cast<unsigned>(op)];
}

}  // namespace dvm::compiler
