// Clauses and actions to their descriptions. Tests: tests/golden/lower.
#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "compiler/lower/expr_lowering.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/optimize.h"
#include "compiler/sema/check_action.h"
#include "compiler/sema/expr_context.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/instruction.h"

namespace dvm::compiler {

namespace {

dif::Difo fail(const Expr& e, std::string message, Tag tag, Session& s) {
  s.error(tag, e.where, std::move(message));
  return {};
}

// The bytes that DTrace counts against its limit for an object: the text and all tables.
size_t size_of(const dif::Difo& difo) {
  constexpr size_t kVariable = 20;  // a row of the table without the name
  size_t size = difo.text.size() * sizeof(dif::Instruction) + difo.integers.size() * sizeof(uint64_t) + difo.strings.size();
  for (const dif::Variable& v : difo.variables) size += kVariable + v.name.size() + 1;
  return size;
}

bool fits(const dif::Difo& difo) {
  return size_of(difo) <= dif::kMaxDifo && difo.integers.size() <= 0x10000 && difo.strings.size() <= 0x10000;
}

// The type of the bytes that are kept; numbers have eight.
dif::DataType result_type(const Expr& e, Use use) {
  if (use == Use::effect) return {};
  dif::DataType type = data_type(e.type);
  if (use == Use::number && !type.by_ref()) type.size = sizeof(uint64_t);
  return type;
}

// A name that no script can spell. The objects of a program share these variables, since each stores before it loads.
const Symbol* spill_variable(size_t number, Session& s) {
  const std::string name = fmt::format("%spill{}", number);
  if (const Symbol* known = s.symbols.find(dif::Scope::clause, name)) return known;
  if (s.symbols.full(dif::Scope::clause)) return nullptr;
  Symbol& made = s.symbols.add_variable(dif::Scope::clause, name, s.types.basic("int64_t"));
  made.is_temporary = true;
  return &made;
}

}  // namespace

dif::Difo lower_expr(const Expr& expr, Use use, Session& s) {
  std::array<std::byte, size_t{16} * 1024> most;  // need no more
  std::pmr::monotonic_buffer_resource arena(most.data(), most.size());
  Emitter out(&arena);
  ExprLowering lowering{out, s.types};
  VirtualRegister reg = 0;
  if (use == Use::effect)
    lower_statement(lowering, expr);
  else
    reg = use == Use::record ? lower_value(lowering, expr).reg : lower_uncut(lowering, expr);
  std::optional<dif::Difo> difo = make_difo(out.finish(reg), result_type(expr, use), s.options.optimize,
                                            [&s](size_t number) { return spill_variable(number, s); });
  if (!difo) return fail(expr, "insufficient registers to generate code", Tag::D_NOREG, s);
  if (!fits(*difo)) return fail(expr, "the code of this expression is too large", Tag::D_NESTING, s);
  return std::move(*difo);
}

namespace {

uint32_t constant_argument(const Call& call, size_t index) {
  int64_t value = 0;
  if (index < call.arguments.size()) constant(*call.arguments[index], value);
  return static_cast<uint32_t>(value);
}

// A stack, or the symbol of an address.
dif::RecDesc lower_key_action(const Call& call, Session& s) {
  dif::RecDesc desc;
  desc.made_by = find_by_name(dif::kActions, call.name)->id;
  const bool is_stack = dif::is_stack(desc.made_by);
  if (is_stack)
    desc.frames = constant_argument(call, 0), desc.strsize = constant_argument(call, 1);
  else
    desc.difo = lower_expr(*call.arguments[0], Use::record, s);
  return desc;
}

dif::RecDesc lower_record(const Expr& expr, Use use, Session& s) {
  const auto* call = as<Call>(&expr);
  if (call && is_key_action(call->name)) return lower_key_action(*call, s);
  dif::RecDesc desc;
  desc.difo = lower_expr(expr, use, s);
  if (use == Use::record && is_kept_stack(expr.type)) {
    desc.made_by = dif::Action::ustack;
    desc.frames = static_cast<uint32_t>(desc.difo.result.size / sizeof(uint64_t) - 1);
  }
  return desc;
}

Use use_of(const CheckedAction& action, size_t argument) {
  if (action.kind == dif::Action::expression) return Use::effect;
  return dif::find_aggregation(action.kind) && argument >= action.key_count ? Use::number : Use::record;
}

dif::ActDesc lower_action(const CheckedAction& action, Session& s) {
  dif::ActDesc desc;
  desc.kind = action.kind;
  desc.position = s.diagnostics.file().position(action.where);
  desc.format = action.format, desc.has_format = action.has_format;
  desc.aggregations = action.aggregations;
  desc.key_count = action.key_count;
  desc.layout = action.layout;
  for (const ExprPtr& arg : action.args) desc.args.push_back(lower_record(*arg, use_of(action, desc.args.size()), s));
  if (action.kind == dif::Action::tracemem)
    desc.args[0].difo.result = {dif::TypeKind::bytes, false, false, static_cast<uint32_t>(action.parameters[0]), "bytes"};
  else
    desc.parameters = action.parameters;
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
