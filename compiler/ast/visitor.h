#pragma once
// visit(expr, f): f(node) with the node's own type, chosen by its kind.

#include "compiler/ast/ast.h"

namespace dvm::compiler {

template <class F>
decltype(auto) visit(const Expr& e, F&& f) {
  switch (e.kind) {
#define DVM_EXPR(name, text) \
  case ExprKind::name:       \
    return f(static_cast<const name&>(e));
#include "compiler/ast/nodes.def"
  }
  __builtin_unreachable();
}

template <class F>
decltype(auto) visit(Expr& e, F&& f) {
  switch (e.kind) {
#define DVM_EXPR(name, text) \
  case ExprKind::name:       \
    return f(static_cast<name&>(e));
#include "compiler/ast/nodes.def"
  }
  __builtin_unreachable();
}

namespace detail {

template <class F>
struct Children {
  F& f;

  void each(std::vector<ExprPtr>& list) const {
    for (ExprPtr& e : list) f(e);
  }
  void operator()(Expr&) const {}
  void operator()(Aggregation& e) const { each(e.keys); }
  void operator()(Index& e) const { f(e.base), each(e.arguments); }
  void operator()(Member& e) const { f(e.base); }
  void operator()(Call& e) const { each(e.arguments); }
  void operator()(Unary& e) const { f(e.operand); }
  void operator()(Postfix& e) const { f(e.operand); }
  void operator()(Binary& e) const { f(e.left), f(e.right); }
  void operator()(Assign& e) const { f(e.target), f(e.value); }
  void operator()(Conditional& e) const { f(e.condition), f(e.then), f(e.otherwise); }
  void operator()(Comma& e) const { f(e.first), f(e.second); }
  void operator()(Cast& e) const { f(e.operand); }
  void operator()(SizeofValue& e) const { f(e.operand); }
  void operator()(StringOf& e) const { f(e.operand); }
  void operator()(Translate& e) const {
    if (e.operand) f(e.operand);
    for (TranslatedMember& member : e.members) f(member.value);
  }
};

}  // namespace detail

// f(child) for each expression directly below e, from left to right.
template <class F>
void for_each_child(Expr& e, F&& f) {
  visit(e, detail::Children<std::remove_reference_t<F>>{f});
}

}  // namespace dvm::compiler
