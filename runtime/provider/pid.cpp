// The pid provider: entry and return of the functions of a process. Probes are made when a description names them, from the files
// that the process has mapped at that moment. Covered by tests/unit/instrument/pid_provider_test.cpp.
//
//   description -> pid -> mapped files that the module field means -> their functions that the function field means -> entry,
//   return

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "common/similar.h"
#include "runtime/provider/providers.h"
#include "runtime/symbol/demangle.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"

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

// Functions with one name: nearly always one.
struct Chosen {
  std::string_view name;
  std::string demangled;
  std::vector<uint64_t> offsets;
};

class Choice {
 public:
  void add(const ElfFunction& function, std::string demangled = "") {
    auto [place, is_new] = by_name_.try_emplace(function.name, chosen_.size());
    if (is_new) chosen_.push_back({function.name, std::move(demangled), {}});
    chosen_[place->second].offsets.push_back(function.offset);
    last_ = &function;
  }
  // Functions are sorted by address, the best name first: the first that matched is the one to take.
  bool has_address_of(const ElfFunction& function) const { return last_ != nullptr && last_->address == function.address; }
  bool empty() const { return chosen_.empty(); }
  const std::vector<Chosen>& chosen() const { return chosen_; }

 private:
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<Chosen> chosen_;
  const ElfFunction* last_ = nullptr;
};

// They run before and after the program proper; only who names them gets them.
bool is_start_or_end(std::string_view name) { return name == "_init" || name == "_fini"; }

// By the exact name or, of a glob, one name for each address.
Choice choose(const ElfObject& elf, std::string_view pattern, std::string_view& indirect) {
  Choice choice;
  bool glob = is_glob(pattern);
  for (const ElfFunction& function : elf.functions()) {
    if (glob ? !glob_match(pattern, function.name) || is_start_or_end(function.name) : pattern != function.name) continue;
    if (function.is_indirect) {
      indirect = function.name;
    } else if (!glob || !choice.has_address_of(function)) {
      choice.add(function);
    }
  }
  return choice;
}

// Only when no raw name matched: demangling every name is slow.
Choice choose_demangled(const ElfObject& elf, std::string_view pattern) {
  Choice choice;
  for (const ElfFunction& function : elf.functions()) {
    if (function.is_indirect || choice.has_address_of(function)) continue;
    std::string name = demangle_without_arguments(function.name);
    if (!name.empty() && glob_match(pattern, name)) choice.add(function, std::move(name));
  }
  return choice;
}

class PidProvider : public Provider {
 public:
  explicit PidProvider(ObjectsOf objects) : objects_of_(std::move(objects)) {}
  std::string_view name() const override { return "pid"; }

  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    std::string_view provider = description.provider;
    if (!provider.starts_with("pid")) return {};
    std::optional<int32_t> pid = parse_pid(provider.substr(3));
    if (!pid) return refuse("D_PROC_BADPID", fmt::format("'{}' does not contain a valid pid", provider));
    // Each firing would make dvm work, which would fire again.
    if (*pid == getpid()) return refuse("D_PROC_DYN", fmt::format("process {} is dvm itself", *pid));
    if (Discovery wrong = check_name(description.name); !wrong.reason.empty()) return wrong;
    auto objects = objects_of_(*pid);
    if (!objects) return refuse("D_PROC_GRAB", fmt::format("failed to grab process {}: {}", *pid, objects.error().message));
    return discover_in(*pid, *objects, description, catalog);
  }

 private:
  static Discovery check_name(std::string_view name) {
    if (glob_match(name, "entry") || glob_match(name, "return")) return {};
    if (is_offset(name)) {
      return refuse("D_PROC_OFF", fmt::format("'{}' is an instruction offset: only entry and return can be traced", name));
    }
    return refuse("D_PROC_NAME", fmt::format("'{}' is an invalid probe name: only entry and return can be traced", name));
  }

  Discovery discover_in(int32_t pid, const std::vector<MappedObject>& objects, const dif::ProbeDesc& description,
                        Catalog& catalog) {
    std::vector<Module> modules;
    for (const MappedObject& object : objects) {
      if (module_match(description.module, object.name, object.path, object.is_program)) modules.push_back(load(object));
    }
    if (objects.empty()) {
      return refuse("D_PROC_GRAB",
                    fmt::format("failed to grab process {}: it runs no program (it has exited or is a kernel thread)", pid));
    }
    if (modules.empty()) return no_module(pid, objects, description);
    std::string indirect;
    for (bool demangled : {false, true}) {
      bool found = false;
      for (const Module& module : modules) found |= add_functions(pid, module, description, demangled, catalog, indirect);
      if (found) return {};
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

  // False: the module has none of them.
  static bool add_functions(int32_t pid, const Module& module, const dif::ProbeDesc& description, bool demangled,
                            Catalog& catalog, std::string& indirect_reason) {
    if (module.elf == nullptr) return false;
    std::string_view indirect;
    Choice choice =
        demangled ? choose_demangled(*module.elf, description.function) : choose(*module.elf, description.function, indirect);
    if (!indirect.empty()) {
      indirect_reason = fmt::format("'{}' in module '{}' is an indirect function: the program calls one of its variants",
                                    indirect, module.object.name);
    }
    for (const Chosen& chosen : choice.chosen()) {
      for (const char* name : {"entry", "return"}) {
        if (glob_match(description.name, name)) catalog.add(make_probe(pid, module.object, chosen, name));
      }
    }
    return !choice.empty();
  }

  static Probe make_probe(int32_t pid, const MappedObject& object, const Chosen& chosen, std::string_view name) {
    Probe probe;
    probe.provider = fmt::format("pid{}", pid);
    probe.module = object.name;
    probe.function = chosen.name;
    probe.name = name;
    probe.site = UprobeSite{
        object.open_path, chosen.offsets.front(), name == "return", pid, {chosen.offsets.begin() + 1, chosen.offsets.end()}};
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
    Discovery result;
    // Of a glob there is nothing more to say than that no probe matches.
    if (!is_glob(description.function) && !is_glob(description.module)) {
      result =
          refuse("D_PROC_FUNC", fmt::format("failed to lookup '{}' in module '{}'", description.function, first.object.name));
    }
    std::vector<std::string_view> names;
    for (const Module& module : modules) {
      if (module.elf == nullptr) continue;
      for (const ElfFunction& function : module.elf->functions()) names.push_back(function.name);
    }
    result.similar = similar_names(description.function, names);
    return result;
  }

  ObjectsOf objects_of_;
  ElfCache cache_;
};

}  // namespace

std::unique_ptr<Provider> make_pid_provider() { return make_pid_provider(mapped_objects); }
std::unique_ptr<Provider> make_pid_provider(ObjectsOf objects) { return std::make_unique<PidProvider>(std::move(objects)); }

}  // namespace dvm::runtime
