// The pid provider: entry and return of the functions of a process. Probes are made when a description names them, from the files
// that the process has mapped at that moment. Covered by tests/unit/instrument/pid_provider_test.cpp.
//
//   description -> pid -> mapped files that the module field means -> their functions that the function field means -> entry,
//   return

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "runtime/provider/providers.h"
#include "runtime/symbol/demangle.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"
#include "runtime/symbol/similar.h"

namespace dvm::runtime {
namespace {

Discovery refuse(std::string_view tag, std::string reason) {
  Discovery result;
  result.tag = tag;
  result.reason = std::move(reason);
  return result;
}

std::optional<int32_t> parse_pid(std::string_view text) {
  int32_t pid = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (error != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

bool is_offset(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// A mapped file and its functions, or why they cannot be had.
struct Module {
  MappedObject object;
  std::shared_ptr<const ElfObject> elf;
  std::string problem;
};

struct Chosen {
  const ElfFunction* function = nullptr;
  std::string demangled;
};

// By the exact name or, of a glob, one function for each address: its best name that matches. Functions are sorted so that the
// best comes first.
std::vector<Chosen> choose(const ElfObject& elf, std::string_view pattern) {
  std::vector<Chosen> chosen;
  bool glob = is_glob(pattern);
  for (const ElfFunction& function : elf.functions()) {
    if (glob ? !glob_match(pattern, function.name) : pattern != function.name) continue;
    if (glob && !chosen.empty() && chosen.back().function->address == function.address) continue;
    chosen.push_back({&function, ""});
  }
  return chosen;
}

// Only when no raw name matched: demangling every name is slow.
std::vector<Chosen> choose_demangled(const ElfObject& elf, std::string_view pattern) {
  std::vector<Chosen> chosen;
  for (const ElfFunction& function : elf.functions()) {
    if (!chosen.empty() && chosen.back().function->address == function.address) continue;
    std::string name = demangle_without_arguments(function.name);
    if (!name.empty() && glob_match(pattern, name)) chosen.push_back({&function, std::move(name)});
  }
  return chosen;
}

class PidProvider : public Provider {
 public:
  std::string_view name() const override { return "pid"; }

  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    std::string_view provider = description.provider;
    if (!provider.starts_with("pid")) return {};
    std::optional<int32_t> pid = parse_pid(provider.substr(3));
    if (!pid) return refuse("D_PROC_BADPID", fmt::format("'{}' does not contain a valid pid", provider));
    if (Discovery wrong = check_name(description.name); !wrong.reason.empty()) return wrong;
    auto objects = mapped_objects(*pid);
    if (!objects) return refuse("D_PROC_GRAB", fmt::format("failed to grab process {}: {}", *pid, objects.error().message));
    return discover_in(*pid, *objects, description, catalog);
  }

 private:
  static Discovery check_name(std::string_view name) {
    if (glob_match(name, "entry") || glob_match(name, "return")) return {};
    if (is_offset(name)) {
      return refuse("D_PROC_OFF", fmt::format("probe '{}' is an instruction offset: only entry and return can be traced", name));
    }
    return refuse("D_PROC_NAME", fmt::format("probe '{}' of the pid provider: only entry and return exist", name));
  }

  Discovery discover_in(int32_t pid, const std::vector<MappedObject>& objects, const dif::ProbeDesc& description,
                        Catalog& catalog) {
    std::vector<Module> modules;
    for (const MappedObject& object : objects) {
      if (module_match(description.module, object.name, object.path, object.is_program)) modules.push_back(load(object));
    }
    if (modules.empty()) return no_module(pid, objects, description);
    size_t found = 0;
    std::string indirect;
    for (bool demangle : {false, true}) {
      for (const Module& module : modules) {
        if (module.elf != nullptr) found += add_functions(pid, module, description, demangle, catalog, indirect);
      }
      if (found > 0) return {};
    }
    return indirect.empty() ? no_function(modules, description) : refuse("D_PROC_FUNC", indirect);
  }

  Module load(const MappedObject& object) {
    Module module{object, nullptr, ""};
    auto elf = cache_.read(object.open_path);
    if (!elf) {
      module.problem = elf.error().message;
    } else if ((*elf)->functions().empty()) {
      module.problem = "it has no function symbols (it is stripped)";
    } else {
      module.elf = *elf;
    }
    return module;
  }

  static size_t add_functions(int32_t pid, const Module& module, const dif::ProbeDesc& description, bool demangle,
                              Catalog& catalog, std::string& indirect) {
    size_t added = 0;
    auto all = demangle ? choose_demangled(*module.elf, description.function) : choose(*module.elf, description.function);
    for (Chosen& chosen : all) {
      if (chosen.function->is_indirect) {
        indirect = fmt::format("'{}' in module '{}' is an indirect function: the program calls one of its variants",
                               chosen.function->name, module.object.name);
        continue;
      }
      for (const char* name : {"entry", "return"}) {
        if (!glob_match(description.name, name)) continue;
        catalog.add(make_probe(pid, module.object, chosen, name));
        added++;
      }
    }
    return added;
  }

  static Probe make_probe(int32_t pid, const MappedObject& object, const Chosen& chosen, std::string_view name) {
    Probe probe;
    probe.provider = fmt::format("pid{}", pid);
    probe.module = object.name;
    probe.function = chosen.function->name;
    probe.name = name;
    probe.site = UprobeSite{object.open_path, chosen.function->offset, name == "return", pid};
    probe.object = object.path;
    probe.in_program = object.is_program;
    probe.demangled = chosen.demangled;
    return probe;
  }

  static Discovery no_module(int32_t pid, const std::vector<MappedObject>& objects, const dif::ProbeDesc& description) {
    Discovery result = refuse("D_PROC_LIB", fmt::format("failed to find module '{}' in process {}", description.module, pid));
    std::vector<std::string_view> names;
    for (const MappedObject& object : objects) {
      names.push_back(object.name);
      names.push_back(std::string_view(object.name).substr(0, object.name.find('.')));
    }
    result.similar = similar_names(description.module, names);
    return result;
  }

  static Discovery no_function(const std::vector<Module>& modules, const dif::ProbeDesc& description) {
    const Module& first = modules.front();
    if (modules.size() == 1 && !first.problem.empty()) {
      return refuse("D_PROC_LIB", fmt::format("failed to find functions in module '{}': {}", first.object.name, first.problem));
    }
    std::string where = modules.size() == 1 ? fmt::format("module '{}'", first.object.name) : "any module that matches";
    Discovery result = refuse("D_PROC_FUNC", fmt::format("failed to lookup '{}' in {}", description.function, where));
    std::vector<std::string_view> names;
    for (const Module& module : modules) {
      if (module.elf == nullptr) continue;
      for (const ElfFunction& function : module.elf->functions()) names.push_back(function.name);
    }
    result.similar = similar_names(description.function, names);
    return result;
  }

  ElfCache cache_;
};

}  // namespace

std::unique_ptr<Provider> make_pid_provider() { return std::make_unique<PidProvider>(); }

}  // namespace dvm::runtime
