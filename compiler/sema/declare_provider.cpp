// Declarations of providers. Tests: tests/golden/sema (tst.provider.d, err.D_PROV_*.d).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>

#include "compiler/sema/compatible.h"
#include "compiler/sema/declarator.h"
#include "compiler/sema/declare.h"
#include "compiler/sema/translate.h"

namespace dvm::compiler {

namespace {

constexpr size_t kMaxName = 63, kMaxArguments = 255;

bool check_name(const ProviderDecl& d, Session& s) {
  std::string wrong;
  if (d.name.size() > kMaxName) wrong = fmt::format("provider name may not exceed {} characters: {}", kMaxName, d.name);
  if (std::isdigit(static_cast<unsigned char>(d.name.back())))
    wrong = fmt::format("provider name may not end with a digit: {}", d.name);
  if (!wrong.empty()) s.error(Tag::D_PROV_BADNAME, d.name_where, std::move(wrong));
  return wrong.empty();
}

std::string probe_name(std::string name) {
  for (size_t at = 0; (at = name.find("__", at)) != std::string::npos; at++) name.replace(at, 2, "-");
  return name;
}

// The list (void) is empty.
bool argument_types(std::vector<Parameter>& parameters, const ProbeDecl& d, std::vector<ProbeArgument>& to, Session& s) {
  if (parameters.size() > kMaxArguments)
    return s.error(Tag::D_PROV_PRARGLEN, d.where,
                   fmt::format("probe {} parameters exceed limit of {}: {} parameters used", d.name, kMaxArguments,
                               parameters.size())),
           false;
  for (Parameter& p : parameters) {
    const Type* type = p.type ? type_of(*p.type, s) : nullptr;
    if (type && is_error(type)) return false;
    if (type && is_void(type) && parameters.size() == 1) return true;
    if (!type || is_void(type))
      return s.error(Tag::D_DECL_PROTO_VOID, d.where,
                     fmt::format("probe {} may not have an argument of type {}", d.name, type ? "void" : "...")),
             false;
    to.push_back({p.name, is_array(type) ? s.types.pointer_to(target_of(type)) : type, to.size()});  // as a parameter of C
  }
  return true;
}

// Nothing makes a pointer of an integer, or the reverse, unless a translator does.
bool converts(const ProbeArgument& argument, const Expr& value) {
  const bool is_cast =
      (is_pointer(argument.type) && is_integer(value.type)) || (is_integer(argument.type) && is_pointer(value.type));
  return !is_cast && is_compatible(argument.type, value);
}

// By name, else by place.
bool map_arguments(DeclaredProbe& probe, const ProviderDecl& provider, const ProbeDecl& d, Session& s) {
  ExprContext context(s);
  for (ProbeArgument& argument : probe.translated) {
    const size_t number = static_cast<size_t>(&argument - probe.translated.data());
    const auto same = std::find_if(probe.native.begin(), probe.native.end(),
                                   [&](const ProbeArgument& a) { return !a.name.empty() && a.name == argument.name; });
    argument.from = same != probe.native.end() ? static_cast<size_t>(same - probe.native.begin()) : number;
    if (argument.from >= probe.native.size())
      return s.error(Tag::D_PROV_PRARGLEN, d.where,
                     fmt::format("probe {}:{} output argument #{} has no input argument", provider.name, probe.name, number + 1)),
             false;
    Identifier value(d.where);
    value.type = probe.native[argument.from].type;
    if (converts(argument, value) || can_translate(context, argument.type, value)) continue;
    return s.error(Tag::D_PROV_PRXLATOR, d.where,
                   fmt::format("translator for {}:{} output argument #{} from {} to {} is not defined", provider.name, probe.name,
                               number + 1, value.type->name, argument.type->name)),
           false;
  }
  return true;
}

std::string spell(const std::vector<ProbeArgument>& arguments) {
  std::string text;
  for (const ProbeArgument& a : arguments) text += fmt::format("{}{}", text.empty() ? "" : ", ", a.type->name);
  return fmt::format("({})", text);
}

bool same_types(const std::vector<ProbeArgument>& a, const std::vector<ProbeArgument>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ProbeArgument& x, const ProbeArgument& y) { return &resolve(*x.type) == &resolve(*y.type); });
}

// A provider may be declared again as what it is.
void check_again(const DeclaredProvider& known, const DeclaredProbe& probe, const ProbeDecl& d, Session& s) {
  const DeclaredProbe* before = known.find(probe.name);
  const std::string name = fmt::format("{}:{}", known.name, probe.name);
  if (!before)
    return s.error(Tag::D_PROV_INCOMPAT, d.where,
                   fmt::format("provider interface mismatch: {}\n\t current: probe {} defined\n\tprevious: probe {} not defined",
                               known.name, name, name));
  for (const auto& [kind, now, then] :
       {std::tuple("output", &probe.translated, &before->translated), {"input", &probe.native, &before->native}})
    if (!same_types(*now, *then))
      return s.error(
          Tag::D_PROV_INCOMPAT, d.where,
          fmt::format("probe {} {} prototype mismatch:\n\t current: {}\n\tprevious: {}", name, kind, spell(*now), spell(*then)));
}

bool make_probe(ProbeDecl& d, const ProviderDecl& provider, DeclaredProbe& probe, Session& s) {
  probe.name = probe_name(d.name);
  if (probe.name.size() > kMaxName)
    return s.error(Tag::D_PROV_BADNAME, d.where,
                   fmt::format("probe name may not exceed {} characters: {}", kMaxName, probe.name)),
           false;
  if (!argument_types(d.parameters, d, probe.native, s)) return false;
  if (!d.has_translated) return probe.translated = probe.native, true;
  return argument_types(d.translated, d, probe.translated, s) && map_arguments(probe, provider, d, s);
}

}  // namespace

void declare(ProviderDecl& declaration, Session& s) {
  if (!check_name(declaration, s)) return;
  DeclaredProvider& provider = s.providers.declare(declaration.name);
  const bool again = !provider.probes.empty();
  if (!again) provider.is_of_library = s.in_library;
  std::vector<std::string> names;
  for (ProbeDecl& d : declaration.probes) {
    DeclaredProbe probe;
    if (!make_probe(d, declaration, probe, s)) continue;
    if (std::find(names.begin(), names.end(), probe.name) != names.end())
      s.error(Tag::D_PROV_PRDUP, d.where, fmt::format("probe redeclared: {}:{}", provider.name, probe.name));
    else if (again)
      check_again(provider, probe, d, s);
    else
      provider.probes.push_back(probe);
    names.push_back(probe.name);
  }
}

}  // namespace dvm::compiler
