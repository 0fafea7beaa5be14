// provider name { probe ... }; Tests: tests/golden/sema (tst.provider.d, err.D_PROV_*.d).
#include "compiler/sema/providers.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

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

namespace {

// The stability of a part of a provider that no pragma has described.
dif::Attributes undescribed() { return *dif::parse_attributes("Private/Private/Unknown"); }

}  // namespace

DeclaredProvider& Providers::declare(const std::string& name) {
  const auto [it, is_new] = all_.try_emplace(name);
  it->second.name = name;
  if (is_new) it->second.attributes.fill(undescribed());
  return it->second;
}

void Providers::set_attributes(const std::string& name, ProviderPart part, const dif::Attributes& attributes) {
  declare(name).attributes[static_cast<size_t>(part)] = attributes;
}

std::vector<const DeclaredProbe*> Providers::match(const dif::ProbeDesc& d) const {
  const auto matches = [](const std::string& pattern, const std::string& name) {
    return pattern.empty() || fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  std::string provider = d.provider.substr(0, d.provider.find_last_not_of("0123456789") + 1);
  if (provider.ends_with("$target")) provider.resize(provider.size() - std::string_view("$target").size());
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
    {"io",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Evolving/Evolving/ISA",
      "Evolving/Evolving/ISA"}},
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
    {"sysinfo",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Evolving/Evolving/ISA",
      "Private/Private/ISA"}},
    {"vminfo",
     {"Evolving/Evolving/ISA", "Private/Private/Unknown", "Private/Private/Unknown", "Evolving/Evolving/ISA",
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

dif::Attributes Providers::part_of(std::string_view provider, ProviderPart part) const {
  const auto i = static_cast<size_t>(part);
  if (const ProviderAttributes* known = known_attributes(provider)) return (*known)[i];
  const auto declared = all_.find(provider);
  return declared == all_.end() ? undescribed() : declared->second.attributes[i];
}

dif::Attributes Providers::argument_attributes(const dif::ProbeDesc& d) const {
  return part_of(provider_of(d), ProviderPart::args);
}

// A later provider may match a description that names none, or has a pattern there.
dif::Attributes Providers::attributes(const dif::ProbeDesc& d) const {
  const auto is_named = [](std::string_view field) { return !field.empty() && field.find_first_of("*?[\\") == field.npos; };
  static const dif::Attributes kUnstable = *dif::parse_attributes("Unstable/Unstable/Common");
  if (!is_named(d.provider)) return kUnstable;
  const auto part = [provider = provider_of(d), this](ProviderPart which) { return part_of(provider, which); };
  dif::Attributes all = part(ProviderPart::provider);
  if (is_named(d.module)) all = least(all, part(ProviderPart::module));
  if (is_named(d.function)) all = least(all, part(ProviderPart::function));
  if (is_named(d.name)) all = least(all, part(ProviderPart::name));
  return all;
}

}  // namespace dvm::compiler
