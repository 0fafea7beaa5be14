// The compiler's questions about the traced program, to its files. Covered by tests/runtime/types.

#include "cmd/target_catalog.h"

#include <fmt/core.h>

#include <variant>

#include "cmd/script.h"
#include "cmd/waiting.h"
#include "runtime/catalog/catalog.h"
#include "runtime/symbol/declared_providers.h"

namespace dvm::cmd {
namespace {

constexpr const char* kReading = "reading debug information";
constexpr size_t kMostCompared = 64;  // probes of one description whose arguments are compared

// "f.constprop.0": a copy that the compiler made, with other parameters than the function's.
bool is_changed_copy(const std::string& function) {
  for (const char* mark : {".constprop.", ".isra.", ".part.", ".cold"})
    if (function.find(mark) != std::string::npos) return true;
  return false;
}

// "pid123" or "pid$target", but not "pidgin123", which has markers.
bool has_functions(std::string_view provider) {
  if (!provider.starts_with("pid")) return false;
  provider.remove_prefix(3);
  return provider == "$target" || provider.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

void TargetCatalog::add_process(pid_t pid) {
  if (pid <= 0 || !processes_.insert(pid).second) return;
  auto objects = objects_of_(pid);
  if (objects)
    types_.add(std::move(*objects));
  else
    types_.add_problem(fmt::format("failed to grab process {}: {}", pid, objects.error().message));
}

// A probe of a recording names the file that its function was in, should its process not be known.
void TargetCatalog::add(const runtime::Probe& probe) {
  const auto* site = std::get_if<runtime::UprobeSite>(&probe.site);
  if (site == nullptr) return;
  add_process(site->pid);
  if (!site->path.empty()) return;
  runtime::MappedObject object;
  object.name = probe.module, object.path = object.open_path = probe.object, object.is_program = probe.in_program;
  types_.add({object});
}

// With all processes that are known by now.
runtime::TargetTypes& TargetCatalog::types() {
  add_process(target_);
  const auto& probes = handle_.catalog().probes();
  while (probes_ < probes.size()) add(probes[probes_++]);
  return types_;
}

Result<dif::TypeRef> TargetCatalog::find_type(const std::string& module, dif::DescribedAs as, const std::string& name) {
  if (KernelCatalog::is_kernel(module))
    return module == "vmlinux" ? kernel_.find_type(module, as, name) : kernel_.find_anywhere(as, name);
  const WaitMessage waiting(kReading);
  auto found = types().find_type(module, as, name);
  return !found && kernel_.is_module(module) ? kernel_.find_type(module, as, name) : found;
}

Result<dif::ConstantDesc> TargetCatalog::find_constant(const std::string& module, const std::string& name) {
  if (KernelCatalog::is_kernel(module)) return kernel_.find_constant(module, name);
  const WaitMessage waiting(kReading);
  auto found = types().find_constant(module, name);
  return !found && kernel_.is_module(module) ? kernel_.find_constant(module, name) : found;
}

Result<dif::DataDesc> TargetCatalog::find_data(const std::string& module, const std::string& name) {
  if (KernelCatalog::is_kernel(module)) return Error{"dvm traces processes, so the data of the kernel are not visible"};
  const WaitMessage waiting(kReading);
  return types().find_data(module, name);
}

std::vector<std::string> TargetCatalog::similar_data(const std::string& module, const std::string& name) {
  return types().similar_data(module, name);
}

// Also where descriptions are not matched before, and keep $target: in dvm compile.
std::vector<const runtime::Probe*> TargetCatalog::probes_of(const dif::ProbeDesc& description, std::string& problem) {
  dif::ProbeDesc named = description;
  if (Status set = set_target(named, target_); !set) {
    problem = set.error().message;
    return {};
  }
  std::vector<const runtime::Probe*> probes = handle_.catalog().match(named);
  if (!probes.empty()) return probes;
  problem = handle_.discover(named).reason;
  return handle_.catalog().match(named);
}

// A marker has other arguments than its function.
Result<std::vector<dif::ArgumentDesc>> TargetCatalog::arguments(const runtime::Probe& probe) {
  if (KernelCatalog::is_system_call(probe)) return kernel_.arguments(probe);
  const auto* site = std::get_if<runtime::UprobeSite>(&probe.site);
  if (site == nullptr || site->inside) return std::vector<dif::ArgumentDesc>();
  if (is_changed_copy(probe.function))
    return Error{fmt::format("{} is a modified copy of a function, made by the compiler", probe.function)};
  const WaitMessage waiting(kReading);
  return types().arguments(probe.object, site->offset, site->is_return);
}

compiler::ProbeArguments TargetCatalog::arguments(const dif::ProbeDesc& description) {
  compiler::ProbeArguments result;
  for (const runtime::Probe* probe : probes_of(description, result.problem)) {
    if (result.signatures.size() == kMostCompared) {
      result.is_unstable = true;
      return result;
    }
    auto found = arguments(*probe);
    if (!found) {
      result.problem = found.error().message;
      return result;
    }
    result.signatures.push_back(std::move(*found));
  }
  return result;
}

// Of the files that have the markers. A recording names them as they lay in the process.
std::vector<std::string> TargetCatalog::declarations(const dif::ProbeDesc& description) {
  if (has_functions(description.provider)) return {};    // maybe thousands
  std::set<std::pair<std::string, std::string>> places;  // file and provider
  std::string problem;
  for (const runtime::Probe* probe : probes_of(description, problem)) {
    const auto* site = std::get_if<runtime::UprobeSite>(&probe->site);
    if (site == nullptr || has_functions(probe->provider)) continue;
    places.emplace(site->path.empty() ? probe->object : site->path,
                   probe->provider.substr(0, probe->provider.find_last_not_of("0123456789") + 1));
  }
  std::set<std::string> texts;
  for (const auto& [path, provider] : places)
    for (std::string& text : runtime::read_declared_providers(path, provider)) texts.insert(std::move(text));
  return {texts.begin(), texts.end()};
}

}  // namespace dvm::cmd
