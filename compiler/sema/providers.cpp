// provider name { probe ... }; Tests: tests/golden/sema (tst.provider.d, err.D_PROV_*.d).
#include "compiler/sema/providers.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include "compiler/sema/check_types.h"
#include "compiler/sema/declare.h"

namespace dvm::compiler {

std::optional<ProviderPart> find_provider_part(std::string_view name) {
  const auto it = std::find(kProviderParts.begin(), kProviderParts.end(), name);
  if (it == kProviderParts.end()) return {};
  return static_cast<ProviderPart>(it - kProviderParts.begin());
}

const DeclaredProbe* DeclaredProvider::find(std::string_view probe) const {
  const auto it = std::find_if(probes.begin(), probes.end(), [&](const DeclaredProbe& p) { return p.name == probe; });
  return it == probes.end() ? nullptr : &*it;
}

DeclaredProvider& Providers::declare(const std::string& name) {
  DeclaredProvider& provider = all_[name];
  provider.name = name;
  return provider;
}

void Providers::set_attributes(const std::string& name, ProviderPart part, const dif::Attributes& attributes) {
  declare(name).attributes[static_cast<size_t>(part)] = attributes;
}

std::vector<const DeclaredProbe*> Providers::match(const dif::ProbeDesc& d) const {
  const auto matches = [](const std::string& pattern, const std::string& name) {
    return pattern.empty() || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  const std::string provider = d.provider.substr(0, d.provider.find_last_not_of("0123456789") + 1);
  std::vector<const DeclaredProbe*> found;
  for (const auto& [name, declared] : all_)
    for (const DeclaredProbe& probe : declared.probes)
      if (matches(provider, name) && matches(d.name, probe.name)) found.push_back(&probe);
  return found;
}

namespace {

// dvm's own providers, as dtrace describes them.
struct KnownProvider {
  std::string_view name;
  std::array<const char*, kProviderParts.size()> attributes;
};
constexpr KnownProvider kKnownProviders[] = {
    {"dtrace",
     {"Stable/Stable/Common", "Private/Private/Unknown", "Private/Private/Unknown", "Stable/Stable/Common",
      "Stable/Stable/Common"}},
    {"pid",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Evolving/Evolving/ISA",
      "Private/Private/Unknown"}},
    {"fbt",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/ISA", "Evolving/Evolving/ISA", "Private/Private/ISA"}},
    {"lx-syscall",
     {"Evolving/Evolving/Common", "Private/Private/Unknown", "Unstable/Unstable/ISA", "Evolving/Evolving/Common",
      "Unstable/Unstable/ISA"}},
    {"proc",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Evolving/Evolving/ISA",
      "Evolving/Evolving/ISA"}},
    {"profile",
     {"Evolving/Evolving/Common", "Unstable/Unstable/Common", "Private/Private/Unknown", "Evolving/Evolving/Common",
      "Evolving/Evolving/Common"}},
    {"rawtp",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Private/Private/ISA",
      "Private/Private/ISA"}},
    {"sched",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Evolving/Evolving/ISA",
      "Evolving/Evolving/ISA"}},
    {"sdt",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Private/Private/ISA",
      "Private/Private/ISA"}},
    {"syscall",
     {"Evolving/Evolving/Common", "Private/Private/Unknown", "Unstable/Unstable/ISA", "Evolving/Evolving/Common",
      "Unstable/Unstable/ISA"}},
};

using ProviderAttributes = std::array<dif::Attributes, kProviderParts.size()>;

// What its row says; null: it is none of dvm's own.
const ProviderAttributes* known_attributes(std::string_view name) {
  static const auto kParsed = [] {
    std::map<std::string_view, ProviderAttributes> parsed;
    for (const KnownProvider& row : kKnownProviders)
      for (size_t i = 0; i < row.attributes.size(); i++) parsed[row.name][i] = *dif::parse_attributes(row.attributes[i]);
    return parsed;
  }();
  const auto it = kParsed.find(name);
  return it == kParsed.end() ? nullptr : &it->second;
}

// A description may leave the provider to the name.
std::string_view provider_of(const dif::ProbeDesc& d) {
  const std::string_view provider = std::string_view(d.provider).substr(0, d.provider.find_last_not_of("0123456789") + 1);
  if (provider.starts_with("pid")) return "pid";  // pid$target too
  if (!provider.empty()) return provider;
  if (d.name == "BEGIN" || d.name == "END" || d.name == "ERROR") return "dtrace";
  return d.name.starts_with("tick-") || d.name.starts_with("profile-") ? "profile" : "pid";
}

}  // namespace

dif::Attributes Providers::attributes(const dif::ProbeDesc& d) const {
  const std::string_view name = provider_of(d);
  const ProviderAttributes* known = known_attributes(name);
  const auto declared = all_.find(name);
  const auto part = [&](ProviderPart which) {
    const auto i = static_cast<size_t>(which);
    if (known) return (*known)[i];
    return declared == all_.end() ? dif::Attributes{} : declared->second.attributes[i];
  };
  dif::Attributes all = least(part(ProviderPart::provider), part(ProviderPart::name));
  if (!d.module.empty()) all = least(all, part(ProviderPart::module));
  if (!d.function.empty()) all = least(all, part(ProviderPart::function));
  return all;
}

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
    to.push_back({p.name, type, to.size()});
  }
  return true;
}

// By name, else by place.
bool map_arguments(DeclaredProbe& probe, const ProviderDecl& provider, const ProbeDecl& d, Session& s) {
  ExprChecker checker(s);
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
    if (checker.is_compatible(argument.type, value) || checker.can_translate(argument.type, value)) continue;
    return s.error(Tag::D_PROV_PRXLATOR, d.where,
                   fmt::format("translator for {}:{} argument #{} from {} to {} is not defined", provider.name, probe.name,
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
