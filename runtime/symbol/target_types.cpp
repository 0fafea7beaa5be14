// Questions to the modules of a target. Covered by tests/unit/instrument/target_types_test.cpp and tests/runtime/types.

#include "runtime/symbol/target_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <set>

#include "common/similar.h"
#include "runtime/catalog/catalog.h"
#include "runtime/symbol/demangle.h"
#include "runtime/symbol/dwarf_scope.h"
#include "runtime/symbol/go_signature.h"
#include "runtime/symbol/signature.h"

namespace dvm::runtime {

namespace {

constexpr size_t kNamedModules = 4, kNamedTypes = 4;  // in a message

using Data = std::vector<ElfData>::const_iterator;

std::pair<Data, Data> named(const ElfObject& elf, std::string_view name) {
  const auto less = [](const auto& a, const auto& b) {
    if constexpr (std::is_same_v<std::decay_t<decltype(a)>, ElfData>)
      return a.name < b;
    else
      return a < b.name;
  };
  return std::equal_range(elf.data().begin(), elf.data().end(), name, less);
}

bool is_qualified(std::string_view name) { return name.find("::") != std::string_view::npos; }

// The symbol of a variable of C++ or Rust, ns::name, or of any other.
const ElfData* data_named(const ElfObject& elf, std::string_view name) {
  const auto [begin, end] = named(elf, name);
  if (begin != end) return &*begin;
  if (!is_qualified(name)) return nullptr;
  const auto is_same = [&](const ElfData& data) { return demangle_without_arguments(data.name) == name; };
  const auto found = std::find_if(elf.data().begin(), elf.data().end(), is_same);
  return found == elf.data().end() ? nullptr : &*found;
}

Error ambiguous(std::string_view name, const std::set<std::string>& scopes) {
  std::vector<std::string> names;
  for (const std::string& scope : scopes)
    if (names.size() < kNamedTypes) names.push_back("`" + qualified(scope, name));
  return Error{fmt::format("there are several: name one with its scope, as {}{}", fmt::join(names, ", "),
                           names.size() == scopes.size() ? "" : " ...")};
}

}  // namespace

void TargetTypes::add(std::vector<MappedObject> objects) {
  for (MappedObject& object : objects) {
    const auto same = [&](const Module& m) { return m.object.path == object.path; };
    if (std::none_of(modules_.begin(), modules_.end(), same)) modules_.emplace_back().object = std::move(object);
  }
  std::stable_partition(modules_.begin(), modules_.end(), [](const Module& m) { return m.object.is_program; });
}

std::vector<TargetTypes::Module*> TargetTypes::matching(std::string_view pattern) {
  std::vector<Module*> found;
  for (Module& module : modules_)
    if (pattern.empty() || module_match(pattern, module.object.name, module.object.path, module.object.is_program))
      found.push_back(&module);
  return found;
}

DwarfFile* TargetTypes::dwarf_of(Module& module) {
  if (module.is_opened) return module.dwarf.get();
  module.is_opened = true;
  auto dwarf = DwarfFile::open(module.object.open_path);
  if (dwarf)
    module.dwarf = std::move(*dwarf);
  else
    module.problem = fmt::format("{}: {}", module.object.name, dwarf.error().message);
  return module.dwarf.get();
}

const ElfObject* TargetTypes::elf_of(Module& module) {
  if (module.elf == nullptr)
    if (auto elf = ElfObject::read(module.object.open_path)) module.elf = *elf;
  return module.elf.get();
}

GoAbi TargetTypes::abi_of(Module& module, uint64_t address) {
  const ElfObject* elf = elf_of(module);
  const ElfFunction* function = elf == nullptr ? nullptr : elf->function_at(address);
  if (function == nullptr) return GoAbi::none;
  if (!module.go) {
    const auto code = ModuleCode::open(module.object.open_path);
    module.go = code ? GoProgram::read(**code, *elf) : std::nullopt;
  }
  return *module.go ? (*module.go)->abi_of(*function) : GoAbi::none;
}

Error TargetTypes::missing(const Module& module, std::string_view part) {
  return Error{fmt::format("{}: its debug information lies in .dwo files, and {}", module.object.name, part)};
}

Error TargetTypes::not_found(const std::vector<Module*>& modules, std::string_view pattern) {
  if (modules_.empty()) return Error{problem_};
  if (modules.empty()) return Error{fmt::format("the process has no module '{}'", pattern)};
  std::vector<std::string> with;
  for (Module* module : modules)
    if (const auto part = module->dwarf ? module->dwarf->missing_part() : std::nullopt) return missing(*module, *part);
  for (Module* module : modules)
    if (module->dwarf != nullptr) with.push_back(module->object.name);
  if (with.empty() && modules.size() == 1) return Error{modules.front()->problem};
  if (with.empty()) return Error{"neither the program nor one of its libraries has debug information"};
  for (Module* module : modules)
    if (module->dwarf != nullptr && !module->dwarf->refused().empty())
      return Error{fmt::format("it is not in the debug information that can be read; {}", module->dwarf->refused())};
  const size_t more = with.size() - std::min(with.size(), kNamedModules);
  with.resize(std::min(with.size(), kNamedModules));
  return Error{fmt::format("it is not in the debug information of {}{}", fmt::join(with, ", "),
                           more == 0 ? "" : fmt::format(" and {} more", more))};
}

Result<dif::TypeRef> TargetTypes::find_type(std::string_view pattern, dif::DescribedAs as, std::string_view name) {
  const std::vector<Module*> modules = matching(pattern);
  dif::TypeRef declared = 0;
  for (Module* module : modules) {
    const DwarfFile* dwarf = dwarf_of(*module);
    std::set<std::string> scopes;
    const std::optional<Dwarf_Die> die = dwarf == nullptr ? std::nullopt : dwarf->find_type(as, name, &scopes);
    if (!die) continue;
    if (scopes.size() > 1) return ambiguous(name, scopes);
    const dif::TypeRef type = table_.add(*die);
    if (dvm::runtime::describe(*die, table_).is_complete) return type;
    if (declared == 0) declared = type;
  }
  if (declared != 0) return declared;
  return not_found(modules, pattern);
}

Result<dif::ConstantDesc> TargetTypes::find_constant(std::string_view pattern, std::string_view name) {
  const std::vector<Module*> modules = matching(pattern);
  for (Module* module : modules) {
    const DwarfFile* dwarf = dwarf_of(*module);
    const auto found = dwarf == nullptr ? std::nullopt : dwarf->find_enumerator(name);
    if (found) return dif::ConstantDesc{table_.add(found->enumeration), enumerator_value(found->enumerator)};
  }
  return not_found(modules, pattern);
}

// By its name; else by another name of the same address: of aliases the debug information knows one.
void TargetTypes::add_type(Module& module, std::string_view name, uint64_t address, dif::DataDesc& data) {
  const DwarfFile* dwarf = dwarf_of(module);
  if (dwarf == nullptr) return;
  std::optional<Dwarf_Die> die = dwarf->find_variable(name, address);
  for (const ElfData& other : elf_of(module)->data())
    if (!die && other.address == address && other.name != name) die = dwarf->find_variable(other.name, address);
  if (!die) return;
  data.type = type_of(*die, table_);
  data.has_type = data.type != 0;
}

Result<dif::DataDesc> TargetTypes::find_data(std::string_view pattern, std::string_view name) {
  const std::vector<Module*> modules = matching(pattern);
  for (Module* module : modules) {
    const ElfObject* elf = elf_of(*module);
    if (elf == nullptr) continue;
    const ElfData* symbol = data_named(*elf, name);
    if (symbol == nullptr) continue;
    if (symbol->is_thread_local) return Error{fmt::format("{} is thread-local: each thread has its own", name)};
    const std::optional<uint64_t> bias = elf->bias(module->object.address, module->object.offset);
    dif::DataDesc data;
    data.module = module->object.name;
    if (module->object.address != 0 && bias) data.address = symbol->address + *bias;
    add_type(*module, symbol->name, symbol->address, data);
    return data;
  }
  if (!modules.empty()) return Error{"Unknown symbol name"};
  return not_found(modules, pattern);
}

std::vector<std::string> TargetTypes::similar_data(std::string_view pattern, std::string_view name) {
  std::vector<std::string_view> names;
  std::deque<std::string> readable;  // what the names lie in
  for (Module* module : matching(pattern)) {
    const ElfObject* elf = elf_of(*module);
    if (elf == nullptr) continue;
    for (const ElfData& data : elf->data())
      names.push_back(is_qualified(name) ? readable.emplace_back(demangle_without_arguments(data.name)) : data.name);
  }
  return similar_names(name, names);
}

Result<std::vector<dif::ArgumentDesc>> TargetTypes::arguments(std::string_view path, uint64_t offset, bool is_return) {
  for (Module& module : modules_) {
    if (module.object.path != path) continue;
    const ElfObject* elf = elf_of(module);
    const DwarfFile* dwarf = dwarf_of(module);
    if (dwarf == nullptr) return Error{module.problem};
    const std::optional<uint64_t> address = elf == nullptr ? std::nullopt : elf->address_of(offset);
    const std::optional<Dwarf_Die> function = address ? dwarf->find_function(*address) : std::nullopt;
    if (const auto part = function ? std::nullopt : dwarf->missing_part()) return missing(module, *part);
    if (!function) return Error{fmt::format("{}: its debug information does not describe the function", module.object.name)};
    const GoAbi abi = abi_of(module, address.value_or(0));
    return abi == GoAbi::none ? arguments_of(*function, is_return, table_) : go_arguments_of(*function, is_return, abi, table_);
  }
  return Error{"the file of the function is not available"};
}

dif::TypeDesc TargetTypes::describe(dif::TypeRef type) {
  const Dwarf_Die* die = table_.find(type);
  if (die != nullptr) return dvm::runtime::describe(*die, table_);
  dif::TypeDesc nothing;
  nothing.as = dif::DescribedAs::void_;
  return nothing;
}

std::vector<dif::MemberDesc> TargetTypes::members(dif::TypeRef type) {
  const Dwarf_Die* die = table_.find(type);
  if (die == nullptr) return {};
  std::vector<dif::MemberDesc> members = members_of(*die, table_), variants = variants_of(*die, table_);
  members.insert(members.end(), variants.begin(), variants.end());
  return members;
}

std::vector<dif::EnumeratorDesc> TargetTypes::enumerators(dif::TypeRef type) {
  const Dwarf_Die* die = table_.find(type);
  return die == nullptr ? std::vector<dif::EnumeratorDesc>{} : enumerators_of(*die);
}

}  // namespace dvm::runtime
