// Covered by tests/unit/instrument/pid_provider_test.cpp and tests/runtime/scenarios/test_lookup_hints.py.

#include "runtime/provider/pid_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/printable.h"
#include "common/similar.h"
#include "runtime/catalog/catalog.h"
#include "runtime/symbol/demangle.h"
#include "runtime/symbol/dwarf_file.h"
#include "runtime/symbol/started_as.h"

namespace dvm::runtime {
namespace {

using Hints = std::vector<std::string>;

constexpr size_t kMostNames = 3;

// "ns::Stack::push" for "ns::Stack<int>::push" and "ns::Stack::push<char>".
std::string without_templates(std::string_view name) {
  if (name.find("operator") != std::string_view::npos) return std::string(name);
  std::string rest;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') depth++;
    if (depth == 0) rest += c;
    if (c == '>' && depth > 0) depth--;
  }
  return rest;
}

// True for "ns::f" and "main.f", which people call "f".
bool is_scoped(std::string_view full, std::string_view name) {
  if (full.size() <= name.size() || !full.ends_with(name)) return false;
  const char before = full[full.size() - name.size() - 1];
  return before == ':' || before == '.';
}

// Spells the name as a description does.
std::string spelled(const std::string& name) {
  return name.find_first_of(":<>(, ") == std::string::npos ? name : fmt::format("\"{}\"", name);
}

// The full name of the function, if `name` is a part of it: its scope, its template arguments or the suffix of a clone
// (f.isra.0) are missing. Empty: it is not.
std::string full_name(const ElfFunction& function, std::string_view name) {
  if (is_piece_of_function(function.name)) return {};
  const bool is_clone = function.name.starts_with(name) && function.name.substr(name.size()).starts_with('.');
  if (is_clone || is_scoped(function.name, name)) return std::string(function.name);
  for (std::string& demangled : demangled_names(function.name, false)) {
    const std::string plain = without_templates(demangled);
    if (plain == name || is_scoped(plain, name)) return std::move(demangled);
  }
  return {};
}

Hints full_names(const std::string& name, const std::vector<PidModule>& modules) {
  std::set<std::string> found;
  for (const PidModule& module : modules) {
    if (module.elf == nullptr || found.size() >= kMostNames) continue;
    for (const ElfFunction& function : module.elf->functions()) {
      if (found.size() >= kMostNames) break;
      if (std::string full = full_name(function, name); !full.empty()) found.insert(spelled(full));
    }
  }
  Hints hints;
  for (const std::string& full : found) hints.push_back(fmt::format("did you mean '{}'?", full));
  return hints;
}

Hints other_modules(const std::string& name, const std::vector<PidModule>& all) {
  Hints hints;
  for (const PidModule& module : all) {
    if (module.elf == nullptr || hints.size() == kMostNames) continue;
    const auto& functions = module.elf->functions();
    if (std::any_of(functions.begin(), functions.end(), [&](const ElfFunction& f) { return f.name == name; }))
      hints.push_back(fmt::format("module '{}' has a function '{}'", module.object.name, name));
  }
  return hints;
}

Hints inlined(const std::string& name, const std::vector<PidModule>& modules) {
  for (const PidModule& module : modules) {
    const auto file = DwarfFile::open(module.object.open_path);
    if (file && (*file)->inlines(name))
      return {fmt::format("the compiler has inlined '{}'; probe a function that calls it, or build with -fno-inline", name)};
  }
  return {};
}

Hints similar_functions(const std::string& name, const std::vector<PidModule>& modules) {
  std::vector<std::string_view> names;
  for (const PidModule& module : modules) {
    if (module.elf == nullptr) continue;
    for (const ElfFunction& function : module.elf->functions()) names.push_back(function.name);
  }
  return near_hints(name, names);
}

// If the process runs a script, another program has the functions, as under the wrappers of version managers.
Hints program_to_come(int32_t pid) {
  const std::string script = script_of(pid);
  if (script.empty()) return {};
  return {fmt::format(
      "process {} runs the script '{}'; -Z also matches programs that it executes, with -x followfork also in its children", pid,
      printable(script))};
}

// A stripped file names only the functions that it exports.
Hints without_names(const std::vector<PidModule>& modules) {
  for (const PidModule& module : modules)
    if (module.elf != nullptr && !module.elf->names_all() && (module.object.is_program || modules.size() == 1))
      return {fmt::format("'{}' is stripped: only functions that it exports have names; install its debug symbols to name all",
                          printable(module.object.name))};
  return {};
}

bool names_one(const std::string& field) { return !field.empty() && field != "-" && !is_glob(field); }

}  // namespace

Hints module_advice(const dif::ProbeDesc& description, int32_t pid, const std::vector<PidModule>& all) {
  Hints hints;
  if (names_one(description.function)) hints = other_modules(description.function, all);
  if (!hints.empty()) return hints;
  std::vector<std::string_view> names;
  for (const PidModule& module : all) {
    names.push_back(module.object.name);
    names.push_back(std::string_view(module.object.name).substr(0, module.object.name.find('.')));
  }
  hints = near_hints(description.module, names);
  if (const Hints later = program_to_come(pid); !later.empty())
    hints.push_back(later.front());
  else
    hints.push_back("-Z waits for a file that the process maps later; with -x followfork, also for those of its children");
  return hints;
}

Hints function_advice(const dif::ProbeDesc& description, int32_t pid, const std::vector<PidModule>& meant,
                      const std::vector<PidModule>& all) {
  const std::string& name = description.function;
  if (names_one(name)) {
    for (const auto& find : {full_names, inlined})
      if (Hints hints = find(name, meant); !hints.empty()) return hints;
    if (Hints hints = other_modules(name, all); !hints.empty()) return hints;
  }
  if (Hints hints = program_to_come(pid); !hints.empty()) return hints;
  if (meant.size() == 1 && !meant.front().problem.empty())
    return {"a function without a symbol is named by its address, in hexadecimal: pid$target::-:ADDRESS"};
  Hints hints = similar_functions(name, meant);
  return hints.empty() ? without_names(meant) : hints;
}

}  // namespace dvm::runtime
