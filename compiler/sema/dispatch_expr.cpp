// The walk over an expression: each node goes to the file that checks its kind. Tests: tests/golden/sema.
#include <fmt/format.h>

#include <utility>

#include "compiler/ast/visitor.h"
#include "compiler/sema/check_assign.h"
#include "compiler/sema/check_call.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_index.h"
#include "compiler/sema/check_member.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/check_operators.h"
#include "compiler/sema/check_target.h"
#include "compiler/sema/check_types.h"
#include "compiler/sema/fold_constants.h"
#include "compiler/sema/translate.h"

namespace dvm::compiler {

namespace {

// What has become too large is cut off here.
bool is_too_large(ExprContext& c, ExprPtr& e) {
  Expansion& x = c.session.expansion;
  if (x.level > 0) x.nodes++;
  if (x.nodes < Expansion::kMaxNodes && x.depth < Expansion::kMaxDepth) return false;
  if (!std::exchange(x.is_told, true))
    c.session.error(Tag::D_NESTING, x.level > 0 ? x.where : e->where,
                    "expression is too large or too deep once its inlines and translators are expanded",
                    {fmt::format("at most {} operators and operands, {} deep", Expansion::kMaxNodes, Expansion::kMaxDepth)});
  e = make_integer(e->where, 0, c.types.error());
  return true;
}

}  // namespace

void check(ExprContext& c, ExprPtr& e) {
  check_place(c, e);
  if (!check_typed(c, *e)) fail(c, *e);
}

void check_place(ExprContext& c, ExprPtr& e) {
  if (is_too_large(c, e)) return;
  c.session.expansion.depth++;
  if (ExprPtr other = visit(*e, [&c](auto& node) { return check(c, node); })) e = std::move(other);
  c.session.expansion.depth--;
}

bool check_value(ExprContext& c, ExprPtr& e) {
  check(c, e);
  return !is_error(e->type);
}

}  // namespace dvm::compiler
