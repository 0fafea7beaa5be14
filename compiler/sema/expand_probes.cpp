// "pid$target:a.out:main:entry" to its four fields. Tests: tests/unit/compiler/compile_test.cpp.
#include "compiler/sema/expand_probes.h"

#include <fmt/format.h>

#include "compiler/parse/literal.h"
#include "compiler/sema/foreign.h"
#include "compiler/sema/macros.h"
#include "dvm/dif/probe_desc.h"

namespace dvm::compiler {

namespace {

std::optional<std::string> expand(const ProbeName& probe, Session& s) {
  return dif::expand_macros(probe.text, [&](std::string_view name, size_t at) -> std::optional<std::string> {
    if (s.options.keep_target && name == "target") return "$target";
    const auto begin = static_cast<uint32_t>(probe.where.begin + at);
    return macro_text(name, {begin, begin + 1 + static_cast<uint32_t>(name.size())}, s);
  });
}

// "malloc:entry" is a description of a function or system call without its provider.
std::vector<std::string> provider_hints(const dif::ProbeDesc& desc) {
  if (desc.function.empty() || (desc.name != "entry" && desc.name != "return")) return {};
  return {fmt::format("name the provider: pid$target:{}:{}:{} for a function of the process, syscall::NAME:{} for a system call",
                      desc.module, desc.function, desc.name, desc.name)};
}

bool match(const ProbeName& probe, const dif::ProbeDesc& desc, CheckedClause& checked, Session& s) {
  if (!s.options.catalog) return true;
  const ProbeMatches found = s.options.catalog->match(desc);
  checked.matched += found.count;
  if (found.count != 0 || s.options.allow_zero_matches) return true;
  const Tag tag = find_tag(found.tag).value_or(Tag::D_PDESC_ZERO);
  std::string message = found.reason;
  std::vector<std::string> hints;
  if (tag == Tag::D_PDESC_ZERO) {
    message = fmt::format("probe description {} does not match any probes", dif::spell(desc));
    if (!found.reason.empty()) hints.push_back(found.reason);
    // "uprobe:libc:malloc" is a module, a function and a name.
    else if (desc.provider.empty())
      hints = bpftrace_hints(desc.module.empty() ? desc.function : desc.module);
    if (desc.provider.empty() && hints.empty()) hints = provider_hints(desc);
  }
  hints.insert(hints.end(), found.hints.begin(), found.hints.end());
  if (s.options.warn_zero_matches) return s.diagnostics.warning(tag, probe.where, message, std::move(hints)), true;
  s.error(tag, probe.where, message, std::move(hints));
  return false;
}

// "5", as the list of probes numbers them.
bool expand_id(const ProbeName& probe, CheckedClause& checked, Session& s) {
  const auto id = parse_integer(probe.text, probe.where, s.diagnostics);
  const auto desc = s.options.catalog ? s.options.catalog->find(id->value) : std::nullopt;
  if (!desc) {
    s.error(Tag::D_PDESC_INVAL, probe.where, fmt::format("invalid probe identifier {}: Unknown probe identifier", probe.text));
    return false;
  }
  checked.probes.push_back(*desc);
  checked.matched++;
  return true;
}

}  // namespace

namespace {

bool is_stable_enough(const ProbeName& probe, const dif::ProbeDesc& desc, Session& s) {
  const dif::Attributes attributes = s.providers.attributes(desc);
  s.descriptions = least(s.descriptions, attributes);
  if (attributes.reaches(s.options.minimum)) return true;
  s.error(Tag::D_ATTR_MIN, probe.where,
          fmt::format("attributes for probe {} ({}) are less than predefined minimum", dif::spell(desc), dif::print(attributes)),
          {fmt::format("-x amin requires {}", dif::print(s.options.minimum))});
  return false;
}

// For provider:module:ns::function:name, which may end at a < of the name.
std::vector<std::string> quoting_hint(std::string_view text) {
  const size_t module = text.find(':'), function = text.find(':', module + 1) + 1;
  const size_t colons = text.find("::", function);
  if (module == text.npos || function == 0 || colons == text.npos || colons == function) return {};
  return {"a function with colons in its name is written in double quotes, as in \"ns::f\""};
}

}  // namespace

bool expand_probes(const Clause& clause, CheckedClause& checked, Session& s) {
  bool good = true;
  for (const ProbeName& probe : clause.probes) {
    if (probe.is_id) {
      good &= expand_id(probe, checked, s);
      continue;
    }
    const auto text = expand(probe, s);
    auto desc = text ? dif::parse_probe_desc(*text) : std::nullopt;
    if (!text) {
      good = false;
    } else if (!desc) {
      s.error(Tag::D_PDESC_INVAL, probe.where,
              fmt::format("invalid probe description \"{}\": Overspecified probe description", *text), quoting_hint(*text));
      good = false;
    } else {
      good &= is_stable_enough(probe, *desc, s) && match(probe, *desc, checked, s);
      checked.probes.push_back(std::move(*desc));
    }
  }
  return good;
}

}  // namespace dvm::compiler
