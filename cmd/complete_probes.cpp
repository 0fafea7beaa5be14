// Completion of probe descriptions. Covered by tests/runtime/scenarios/test_complete.py.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "cmd/complete.h"
#include "cmd/firing_source.h"
#include "cmd/script.h"
#include "cmd/targets.h"
#include "dvm/dif/probe_desc.h"
#include "runtime/catalog/catalog.h"
#include "runtime/catalog/probe.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd {
namespace {

using Fields = std::vector<std::string>;
constexpr std::string_view kTarget = "$target";

Fields split_fields(const std::string& text) {
  Fields fields;
  for (const std::string_view field : dif::split_fields(text)) fields.emplace_back(field);
  return fields;
}

// The process id in place of $target, and the other way round.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.rfind(from);
  return from.empty() || at == std::string::npos || at + from.size() != text.size() ? text : text.replace(at, from.size(), to);
}

// The description of all probes of which the fields up to `field` are the given ones; the last one may go on.
dif::ProbeDesc description_of(const Fields& fields, size_t field, const std::string& pid) {
  std::array<std::string, 4> names;
  std::copy(fields.begin(), fields.end(), names.begin() + static_cast<ptrdiff_t>(field + 1 - fields.size()));
  names[field] = field == 1 ? "*" : names[field] + "*";  // a module has further names
  names[0] = replaced(names[0], kTarget, pid);
  // Without this, each instruction of each function is a probe.
  if (names[3].empty() && names[0].starts_with("pid")) names[3] = "entry";
  return {names[0], names[1], names[2], names[3]};
}

std::set<std::string> names_of(const runtime::Probe& probe, size_t field, const std::string& pid) {
  const std::string* const fields[] = {&probe.provider, &probe.module, &probe.function, &probe.name};
  std::set<std::string> names{field == 0 ? replaced(probe.provider, pid, kTarget) : *fields[field]};
  if (field == 1 && probe.in_program) names.insert("a.out");
  return names;
}

// Names for the last of the fields, if that is field `field` of a description.
std::set<std::string> candidates(runtime::Handle& handle, const Fields& fields, size_t field, const std::string& pid) {
  const dif::ProbeDesc description = description_of(fields, field, pid);
  (void)handle.discover(description);
  std::set<std::string> names;
  if (field == 0 && !pid.empty()) names.insert("pid$target");
  for (const runtime::Probe* probe : handle.catalog().match(description)) names.merge(names_of(*probe, field, pid));
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(fields.back()); });
  return names;
}

}  // namespace

std::vector<std::string> complete_description(const ScriptOptions& given, const std::string& text, size_t last) {
  const Fields fields = split_fields(text);
  const Result<dif::Options> options = run_time_options(given);
  if (!options || fields.size() > last + 1) return {};
  const Result<Targets> targets = Targets::open(given, *options);
  const pid_t target = targets ? targets->first() : 0;
  const std::string pid = target == 0 ? "" : std::to_string(target);
  runtime::HandleConfig config;
  config.options = *options;
  runtime::Handle handle(config);
  for (auto& provider : runtime::make_providers()) handle.add_provider(std::move(provider));
  number_probes(handle);
  // A description may begin with the provider, or leave fields out on the left.
  const size_t field = fields.size() - 1;
  const std::string before = text.substr(0, text.size() - fields.back().size());
  std::vector<std::string> found;
  for (const std::string& name : candidates(handle, fields, field, pid))
    found.push_back(before + name + (field < last ? ":" : ""));
  if (field < last)
    for (const std::string& name : candidates(handle, fields, last, pid)) found.push_back(before + name);
  return found;
}

}  // namespace dvm::cmd
