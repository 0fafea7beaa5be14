// Clauses and actions to their descriptions. Tests: tests/golden/lower.
#include <fmt/format.h>

#include "compiler/lower/expr_lowering.h"
#include "compiler/lower/lower.h"
#include "dvm/dif/instruction.h"

namespace dvm::compiler {

namespace {

dif::Difo fail(const Expr& e, std::string message, Tag tag, Session& s) {
  s.error(tag, e.where, std::move(message));
  return {};
}

bool fits(const dif::Difo& difo) {
  return difo.text.size() <= dif::kMaxInstructions && difo.integers.size() <= 0x10000 && difo.strings.size() <= 0x10000;
}

}  // namespace

dif::Difo lower_expr(const Expr& expr, Use use, Session& s) {
  Emitter out;
  ExprLowering lowering(out, s.types);
  unsigned reg = 0;
  if (use == Use::effect)
    lowering.lower_statement(expr);
  else
    reg = use == Use::record ? lowering.lower(expr).reg : lowering.lower_as(expr, expr.type);
  if (out.failed()) return fail(expr, "insufficient registers to generate code", Tag::D_NOREG, s);
  dif::Difo difo = out.finish(reg, use == Use::effect ? dif::DataType{} : data_type(expr.type));
  if (!fits(difo)) return fail(expr, "the code of this expression is too large", Tag::D_NESTING, s);
  return difo;
}

namespace {

dif::ActDesc lower_action(const CheckedAction& action, Session& s) {
  dif::ActDesc desc;
  desc.kind = action.kind;
  desc.position = s.diagnostics.file().position(action.where);
  desc.format = action.format, desc.has_format = action.has_format;
  desc.aggregations = action.aggregations;
  desc.key_count = action.key_count;
  desc.parameters = action.parameters;
  for (const ExprPtr& arg : action.args)
    desc.args.push_back({lower_expr(*arg, action.kind == dif::Action::expression ? Use::effect : Use::record, s)});
  return desc;
}

}  // namespace

dif::EcbDesc lower_clause(const CheckedClause& clause, Session& s) {
  dif::EcbDesc desc;
  desc.probes = clause.probes;
  desc.position = s.diagnostics.file().position(clause.where);
  if (clause.predicate) desc.predicate = dif::PredDesc{lower_expr(*clause.predicate, Use::test, s)};
  s.diagnostics.set_region("action list");
  for (const CheckedAction& action : clause.actions) desc.actions.push_back(lower_action(action, s));
  s.diagnostics.set_region("");
  return desc;
}

}  // namespace dvm::compiler
