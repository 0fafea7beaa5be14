// The checked tree: a node a line, what it is and its type, its operands below. Tests: tests/golden/tree.
#include <fmt/format.h>

#include "compiler/ast/visitor.h"
#include "compiler/sema/session.h"

namespace dvm::compiler {

namespace {

std::string label(const Expr& e) {
  static constexpr const char* kNames[] = {
#define DVM_EXPR(name, text) #name,
#include "compiler/ast/nodes.def"
  };
  return kNames[static_cast<unsigned>(e.kind)];
}
std::string label(const Integer& e) {
  return is_signed(e.type) ? fmt::format("Integer {}", static_cast<int64_t>(e.value)) : fmt::format("Integer {}", e.value);
}
std::string label(const String& e) { return fmt::format("String {:?}", e.value); }
std::string label(const Identifier& e) { return "Identifier " + e.name; }
std::string label(const Scoped& e) { return fmt::format("Scoped {}{}", prefix(e.scope), e.name); }
std::string label(const External& e) { return fmt::format("External {}`{}", e.module, e.name); }
std::string label(const Aggregation& e) { return "Aggregation @" + e.name; }
std::string label(const Member& e) { return fmt::format("Member {}{}", e.arrow ? "->" : ".", e.name); }
std::string label(const Call& e) { return fmt::format("Call {}()", e.name); }
std::string label(const Unary& e) { return fmt::format("Unary {}", token(e.op)); }
std::string label(const Postfix& e) { return fmt::format("Postfix {}", token(e.op)); }
std::string label(const Binary& e) { return fmt::format("Binary {}", token(e.op)); }
std::string label(const Assign& e) {
  return fmt::format("Assign {}", e.op == Op::assign ? "=" : fmt::format("{}=", token(e.op)));
}

void print(const Expr& e, size_t depth, std::string& text) {
  const std::string what = visit(e, [](const auto& node) { return label(node); });
  text += fmt::format("{:{}}{}: {}\n", "", depth * 2, what, e.type ? e.type->name : "?");
  for_each_child(const_cast<Expr&>(e), [&](ExprPtr& child) { print(*child, depth + 1, text); });
}

std::string_view name_of(dif::Action kind) {
  if (const dif::ActionInfo* row = dif::find_action(kind)) return row->name;
  const dif::AggregationInfo* row = dif::find_aggregation(kind);
  return row ? row->name : "?";
}

}  // namespace

std::string print_checked(const CheckedClause& clause) {
  std::string text = "clause";
  for (const dif::ProbeDesc& p : clause.probes) text += fmt::format(" {}:{}:{}:{}", p.provider, p.module, p.function, p.name);
  text += "\n";
  if (clause.predicate) {
    text += "  predicate\n";
    print(*clause.predicate, 2, text);
  }
  for (const CheckedAction& action : clause.actions) {
    text += fmt::format("  action {}\n", name_of(action.kind));
    for (const ExprPtr& arg : action.args) print(*arg, 2, text);
  }
  return text;
}

}  // namespace dvm::compiler
