// The pid provider: entry, return and instructions of the functions of a process. Probes are made when a description names them,
// from the files that the process has mapped at that moment. Covered by tests/unit/instrument/pid_provider_test.cpp.
//
//   description -> pid -> mapped files that the module field means -> their functions that the function field means
//   (pid_functions.h) -> entry, return, offsets (pid_probes.h)

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>
#include <unordered_map>

#include "runtime/provider/family.h"
#include "runtime/provider/module_names.h"
#include "runtime/provider/pid_advice.h"
#include "runtime/provider/pid_probes.h"
#include "runtime/provider/providers.h"
#include "runtime/provider/refuse.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/indirect.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

std::optional<int32_t> parse_pid(std::string_view text) {
  int32_t pid = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

class PidProvider : public Provider {
 public:
  explicit PidProvider(ObjectsOf objects) : family_(std::move(objects)) {}
  std::string_view name() const override { return "pid"; }

  void look_in(int32_t root, int32_t pid) override { family_.add(root, pid); }

  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    std::string_view provider = description.provider;
    if (!provider.starts_with("pid")) return {};
    std::optional<int32_t> pid = parse_pid(provider.substr(3));
    if (!pid) return refuse("D_PROC_BADPID", fmt::format("'{}' does not contain a valid pid", provider));
    // Each firing would make dvm work, which would fire again.
    if (*pid == getpid()) return refuse("D_PROC_DYN", fmt::format("process {} is dvm itself", *pid));
    if (kind_of_name(description.name) == PidName::wrong) return wrong_name(description.name);
    auto objects = family_.objects(*pid);
    if (!objects) return refuse("D_PROC_GRAB", fmt::format("failed to grab process {}: {}", *pid, objects.error().message));
    return discover_in(*pid, *objects, description, catalog);
  }

 private:
  Discovery discover_in(int32_t pid, const std::vector<MappedObject>& objects, const dif::ProbeDesc& description,
                        Catalog& catalog) {
    std::vector<PidModule> modules;
    for (const MappedObject& object : objects) {
      if (module_match(description.module, object.name, object.path, object.is_program)) modules.push_back(load(object));
    }
    if (is_glob(description.module) || description.module == "a.out")  // otherwise the name is the user's
      for (PidModule& module : modules) module.object.name = names_.name_of(pid, module.object);
    if (objects.empty()) {
      return refuse("D_PROC_GRAB",
                    fmt::format("failed to grab process {}: it runs no program (it has exited or is a kernel thread)", pid));
    }
    if (modules.empty()) return no_module(pid, objects, description);
    if (description.function == "-") return discover_address(pid, modules, description, catalog);
    IndirectFunctions indirect(pid, objects, cache_);
    return discover_functions(pid, modules, objects, description, catalog, indirect);
  }

  Discovery discover_functions(int32_t pid, const std::vector<PidModule>& modules, const std::vector<MappedObject>& objects,
                               const dif::ProbeDesc& description, Catalog& catalog, IndirectFunctions& indirect) {
    Outcome outcome;
    for (bool demangled : {false, true}) {
      for (const PidModule& module : modules) {
        if (module.elf == nullptr) continue;
        std::deque<ElfFunction> variants;
        const ChosenFunctions chosen = demangled ? choose_demangled(*module.elf, description.function)
                                                 : choose(module, description.function, indirect, variants, outcome);
        add_functions(pid, module, chosen, description.name, catalog, outcome);
      }
      if (!outcome.wrong.tag.empty() && !is_glob(description.module)) return refuse(outcome.wrong.tag, outcome.wrong.reason);
      if (outcome.found) return {};
    }
    return outcome.indirect.empty() ? no_function(pid, modules, objects, description) : refuse("D_PROC_FUNC", outcome.indirect);
  }

  // An address of the process or, which is the same for a program at a fixed place, of the file.
  static Discovery discover_address(int32_t pid, const std::vector<PidModule>& modules, const dif::ProbeDesc& description,
                                    Catalog& catalog) {
    const auto address = parse_offset(description.name);
    if (!address) return refuse("D_PROC_NAME", "only individual addresses may be specified with the '-' function");
    for (const PidModule& module : modules) {
      const auto place = find_address(module, *address, description.module.empty());
      if (!place) continue;
      const PidRefusal wrong =
          PidProbes(pid, module.object, *module.elf, catalog).add_address(place->in_file, place->offset, description.name);
      return wrong.tag.empty() ? Discovery{} : refuse(wrong.tag, wrong.reason);
    }
    return refuse("D_PROC_OFF", fmt::format("address 0x{:x} is not in the code of module '{}'", *address,
                                            description.module.empty() ? "a.out" : description.module));
  }

  struct CodeAddress {
    uint64_t in_file = 0, offset = 0;
  };

  static std::optional<CodeAddress> find_address(const PidModule& module, uint64_t address, bool only_program) {
    if (module.elf == nullptr) return std::nullopt;
    const auto bias = module.elf->bias(module.object.address, module.object.offset);
    for (const uint64_t in_file : {address - bias.value_or(0), address}) {
      if (only_program && !module.object.is_program && in_file == address) continue;
      if (const auto offset = module.elf->offset_of(in_file)) return CodeAddress{in_file, *offset};
    }
    return std::nullopt;
  }

  PidModule load(const MappedObject& object) {
    PidModule module{object, nullptr, ""};
    auto elf = cache_.read(object.open_path);
    if (!elf) {
      module.problem = elf.error().message;
    } else {
      if ((*elf)->functions().empty()) module.problem = "it has no function symbols (it is stripped)";
      module.elf = *elf;
    }
    return module;
  }

  struct Outcome {
    bool found = false;
    PidRefusal wrong;
    std::string indirect;
  };

  // For indirect functions, finds the variants that the process uses; they are kept in `variants`.
  static ChosenFunctions choose(const PidModule& module, const std::string& pattern, IndirectFunctions& indirect,
                                std::deque<ElfFunction>& variants, Outcome& outcome) {
    std::vector<const ElfFunction*> resolvers;
    ChosenFunctions chosen = choose_functions(*module.elf, pattern, resolvers);
    for (const ElfFunction* resolver : resolvers) {
      const auto found = indirect.find(module.object, *module.elf, *resolver);
      if (!found) {
        outcome.indirect = found.error().message;
        continue;
      }
      for (const ElfFunction& variant : *found)
        if (!chosen.has_address(variant.address)) chosen.add(variants.emplace_back(variant));
    }
    return chosen;
  }

  static void add_functions(int32_t pid, const PidModule& module, const ChosenFunctions& chosen, std::string_view name,
                            Catalog& catalog, Outcome& outcome) {
    PidProbes probes(pid, module.object, *module.elf, catalog);
    for (const ChosenFunction& function : chosen.all()) {
      PidRefusal wrong = probes.add(function, name);
      outcome.found |= wrong.tag.empty();
      if (outcome.wrong.tag.empty()) outcome.wrong = std::move(wrong);
    }
  }

  static Discovery wrong_name(const std::string& name) {
    Discovery result = refuse("D_PROC_NAME", fmt::format("'{}' is an invalid probe name", name));
    if (name.starts_with("0x"))
      result.advise = [] { return std::vector<std::string>{"offsets and addresses are hexadecimal, without 0x"}; };
    return result;
  }

  Discovery no_module(int32_t pid, const std::vector<MappedObject>& objects, const dif::ProbeDesc& description) {
    Discovery result = refuse("D_PROC_LIB", fmt::format("failed to find module '{}' in process {}", description.module, pid));
    result.advise = [this, pid, objects, description] { return module_advice(description, pid, load_all(objects)); };
    return result;
  }

  Discovery no_function(int32_t pid, const std::vector<PidModule>& modules, const std::vector<MappedObject>& objects,
                        const dif::ProbeDesc& description) {
    const PidModule& first = modules.front();
    Discovery result;
    if (modules.size() == 1 && !first.problem.empty()) {
      result = refuse("D_PROC_LIB", fmt::format("failed to find functions in module '{}': {}", first.object.name, first.problem));
    } else if (!is_glob(description.function) && !is_glob(description.module)) {
      result =
          refuse("D_PROC_FUNC", fmt::format("failed to lookup '{}' in module '{}'", description.function, first.object.name));
    }  // a glob that matches nothing needs no further reason
    result.advise = [this, pid, modules, objects, description] {
      return function_advice(description, pid, modules, load_all(objects));
    };
    return result;
  }

  std::vector<PidModule> load_all(const std::vector<MappedObject>& objects) {
    std::vector<PidModule> modules;
    for (const MappedObject& object : objects) modules.push_back(load(object));
    return modules;
  }

  Family family_;
  ElfCache cache_;
  ModuleNames names_;
};

}  // namespace

std::unique_ptr<Provider> make_pid_provider() { return make_pid_provider(mapped_objects); }
std::unique_ptr<Provider> make_pid_provider(ObjectsOf objects) { return std::make_unique<PidProvider>(std::move(objects)); }

}  // namespace dvm::runtime
