// Variables, constants and memory of the traced program. Tests: tests/golden/sema (tst.target_types.d, err.D_SYM_NOTYPES.*.d),
// tests/runtime/types.
#include "compiler/sema/check_target.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/find_type.h"
#include "compiler/sema/fold_constants.h"
#include "compiler/sema/foreign.h"

namespace dvm::compiler {

namespace {

std::string spell(const External& e) { return fmt::format("{}`{}", e.module, e.name); }

// An empty name may be that of a kernel.
bool may_be_kernel(std::string_view module) {
  static constexpr std::string_view kKernels[] = {"", "vmlinux", "unix", "genunix"};
  return std::ranges::find(kKernels, module) != std::end(kKernels);
}

// What to use instead of a variable that the program does not have.
std::vector<std::string> data_hints(ExprContext& c, const External& e, const std::string& module) {
  std::vector<std::string> hints;
  for (const std::string& n : c.session.options.types->similar_data(module, e.name))
    if (n != e.name) hints.push_back(fmt::format("did you mean '{}`{}'?", e.module, n));
  const std::string_view substitute = may_be_kernel(e.module) ? foreign_data_substitute(e.name) : "";
  if (!substitute.empty()) hints.emplace_back(substitute);
  if (hints.empty() && e.module.empty()) hints.push_back("dvm traces processes, so the data of the kernel are not visible");
  return hints;
}

}  // namespace

// A constant of the program by the name of its enumerator; null: there is none.
ExprPtr target_constant(ExprContext& c, Location where, const std::string& module, const std::string& name) {
  if (!c.session.options.types) return nullptr;
  const auto found = c.session.options.types->find_constant(module, name);
  return found ? make_integer(where, static_cast<uint64_t>(found->value), c.session.target.import(found->type)) : nullptr;
}

ExprPtr kernel_variable(ExprContext& c, const External& e) {
  const std::string name = "dvm_kernel_" + e.name;
  if (!may_be_kernel(e.module) || !c.symbols.find(dif::Scope::global, name)) return nullptr;
  if (e.module.empty() && c.session.options.types && c.session.options.types->find_data("", e.name)) return nullptr;
  auto found = std::make_unique<Identifier>(e.where);
  found->name = name;
  return found;
}

ExprPtr check(ExprContext& c, External& e) {
  if (ExprPtr of_kernel = kernel_variable(c, e)) return check(c, of_kernel), std::move(of_kernel);
  if (!c.session.options.types) {
    fail(c, e, Tag::D_IDENT_UNDEF, fmt::format("failed to resolve {}: there is no traced program to search", spell(e)),
         {"name one with -p PID or -c COMMAND"});
    return nullptr;
  }
  const std::string module = target_module(e.module);
  const auto data = c.session.options.types->find_data(module, e.name);
  if (!data) {
    if (ExprPtr constant = target_constant(c, e.where, module, e.name)) return constant;
    fail(c, e, Tag::D_IDENT_UNDEF, fmt::format("failed to resolve {}: {}", spell(e), data.error().message),
         data_hints(c, e, module));
    return nullptr;
  }
  if (data->address == 0 && !c.is_unevaluated) {
    fail(c, e, Tag::D_IDENT_UNDEF, fmt::format("failed to resolve {}: there is no process, so it has no address", spell(e)));
    return nullptr;
  }
  e.type = data->has_type ? c.session.target.import(data->type) : c.types.basic("void");
  e.address = data->address;
  e.is_lvalue = e.is_user = true;
  return nullptr;
}

// &mod`name needs no type; any other use does.
bool check_typed(ExprContext& c, const Expr& e) {
  const auto* external = as<External>(&e);
  if (!external || !is_void(e.type)) return true;
  c.session.error(
      Tag::D_SYM_NOTYPES, e.where,
      fmt::format("no symbolic type information is available for {}: it is not in the debug information", spell(*external)),
      {fmt::format("its address is known: *(int *)&{}", spell(*external))});
  return false;
}

// True if an integer cannot be an address of D memory, which comes only from variables of D, its memory, and pointers to it.
bool is_of_target(const Expr& e) {
  if (is_pointer(e.type) || e.is_user) return e.is_user;
  if (const auto* name = as<Identifier>(&e)) return name->symbol && name->symbol->kind == SymbolKind::built_in;
  if (const auto* cast = as<Cast>(&e)) return is_of_target(*cast->operand);
  if (const auto* sum = as<Binary>(&e)) return is_of_target(*sum->left) && is_of_target(*sum->right);
  return e.kind == ExprKind::Integer;
}

// Memory of the traced process is not written by assignments. False after a diagnostic.
bool check_own_memory(ExprContext& c, const Expr& target, Expr& operation, std::string_view op) {
  if (!target.is_user) return true;
  if (target.kind == ExprKind::External)
    fail(c, operation, Tag::D_OP_WRITE, fmt::format("operator {} can only be applied to a writable variable", op),
         {"use copyout( ), with -w, to write to a variable of the traced program"});
  else
    fail(c, operation, Tag::D_OP_LVAL, fmt::format("operator {} requires modifiable lvalue as an operand", op),
         {"use copyout( ), with -w, to write to memory of the traced process"});
  return false;
}

}  // namespace dvm::compiler
