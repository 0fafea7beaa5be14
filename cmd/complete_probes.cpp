// Completion of probe descriptions. Covered by tests/runtime/scenarios/test_complete.py.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
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
  for (std::string& name : names) name = dif::unquoted(name);
  names[field] = field == 1 ? "*" : names[field] + "*";  // a module has further names
  names[0] = replaced(names[0], kTarget, pid);
  // Without this, each instruction of each function is a probe.
  if (names[3].empty() && names[0].starts_with("pid")) names[3] = "entry";
  return {names[0], names[1], names[2], names[3]};
}

// What the names are written into: in a description some of them need quotes.
enum class Into { description, word };

std::set<std::string> names_of(const runtime::Probe& probe, size_t field, const std::string& pid, Into into) {
  const std::string* const fields[] = {&probe.provider, &probe.module, &probe.function, &probe.name};
  std::set<std::string> names{field == 0 ? replaced(probe.provider, pid, kTarget) : *fields[field]};
  if (field == 1 && probe.in_program) names.insert("a.out");
  if (field == 2)
    for (const std::string& name : probe.other_names) names.insert(into == Into::word ? name : dif::quoted(name));
  return names;
}

// Names for the last of the fields, if that is field `field` of a description.
std::set<std::string> candidates(runtime::Handle& handle, const Fields& fields, size_t field, const std::string& pid, Into into) {
  const dif::ProbeDesc description = description_of(fields, field, pid);
  (void)handle.discover(description);
  std::set<std::string> names;
  if (field == 0 && !pid.empty()) names.insert("pid$target");
  for (const runtime::Probe* probe : handle.catalog().match(description)) names.merge(names_of(*probe, field, pid, into));
  std::erase_if(names, [&](const std::string& name) { return !name.starts_with(fields.back()); });
  const bool may_be_timer = description.module.empty() && description.function.empty();
  if (field == 3 && may_be_timer && (description.provider.empty() || description.provider == "profile"))
    for (std::string& name : runtime::timer_names(fields.back())) names.insert(std::move(name));
  return names;
}

}  // namespace

namespace {

// The probes of the process that an option names, if any. Candidates are names for the last of the fields.
class Probes {
 public:
  Probes(const ScriptOptions& given, const dif::Options& options) : targets_(Targets::open(given, options)) {
    const pid_t target = targets_ ? targets_->first() : 0;
    if (target != 0) pid_ = std::to_string(target);
    runtime::HandleConfig config;
    config.options = options;
    handle_.emplace(config);
    for (auto& provider : runtime::make_providers()) handle_->add_provider(std::move(provider));
    number_probes(*handle_);
  }
  bool has_process() const { return !pid_.empty(); }
  std::set<std::string> candidates(const Fields& fields, size_t field, Into into = Into::description) {
    return cmd::candidates(*handle_, fields, field, pid_, into);
  }

 private:
  Result<Targets> targets_;  // a program that was started ends with it
  std::string pid_;
  std::optional<runtime::Handle> handle_;
};

}  // namespace

std::vector<std::string> complete_field(const ScriptOptions& given, std::vector<std::string> fields) {
  const Result<dif::Options> options = run_time_options(given);
  if (!options) return {};
  Probes probes(given, *options);
  if (!probes.has_process()) return {};
  fields.insert(fields.begin(), fmt::format("pid{}", kTarget));
  const std::set<std::string> names = probes.candidates(fields, fields.size() - 1, Into::word);
  return {names.begin(), names.end()};
}

std::vector<std::string> complete_description(const ScriptOptions& given, const std::string& text, size_t last) {
  const Fields fields = split_fields(text);
  const Result<dif::Options> options = run_time_options(given);
  if (!options || fields.size() > last + 1) return {};
  Probes probes(given, *options);
  // A description may begin with the provider, or leave fields out on the left.
  const size_t field = fields.size() - 1;
  const std::string before = text.substr(0, text.size() - fields.back().size());
  std::vector<std::string> found;
  for (const std::string& name : probes.candidates(fields, field)) found.push_back(before + name + (field < last ? ":" : ""));
  if (field < last)
    for (const std::string& name : probes.candidates(fields, last)) found.push_back(before + name);
  return found;
}

}  // namespace dvm::cmd
