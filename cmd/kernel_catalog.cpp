// Covered by tests/runtime/syscall/tst.typed_args.d and tests/runtime/types/tst.kernel.d.
#include "cmd/kernel_catalog.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "runtime/instrument/replay/recording.h"
#include "runtime/instrument/uprobe/system_calls.h"

namespace dvm::cmd {
namespace {

dif::DescribedAs described_as(std::string_view keyword) {
  return keyword == "struct"  ? dif::DescribedAs::structure
         : keyword == "union" ? dif::DescribedAs::union_
         : keyword == "enum"  ? dif::DescribedAs::enumeration
                              : dif::DescribedAs::alias;
}

// The type of a parameter. 0: the kernel does not describe it, so the argument is a number.
dif::TypeRef parameter_type(const runtime::KernelTypes* types, const std::string& spelled) {
  const runtime::SpelledType type = runtime::parse_type(spelled);
  if (!types) return 0;
  const bool is_void = type.keyword.empty() && type.name == "void";
  const dif::TypeRef base = is_void ? 0 : types->find_type(described_as(type.keyword), type.name);
  return base == 0 && (!is_void || type.pointers == 0) ? 0 : base + type.pointers * runtime::KernelTypes::kPointer;
}

}  // namespace

KernelCatalog::KernelCatalog(const std::string& recorded) : is_loaded_(recorded != runtime::this_kernel()) {
  if (is_loaded_)
    problem_ = fmt::format("a recording does not keep types of the kernel, and this one is of another kernel ({})",
                           recorded.empty() ? "which it does not name" : recorded);
}

const runtime::KernelTypes* KernelCatalog::types() {
  if (!std::exchange(is_loaded_, true)) {
    if (auto loaded = runtime::KernelTypes::load())
      types_ = std::move(*loaded);
    else
      problem_ = loaded.error().message;
  }
  return types_.get();
}

bool KernelCatalog::is_kernel(std::string_view module) {
  static constexpr std::string_view kNames[] = {"vmlinux", "genunix", "unix", "kernel", "mach_kernel"};
  return std::find(std::begin(kNames), std::end(kNames), module) != std::end(kNames);
}

const std::vector<std::string>& KernelCatalog::modules() {
  if (!std::exchange(has_modules_, true)) modules_ = runtime::KernelTypes::modules();
  return modules_;
}

bool KernelCatalog::is_module(const std::string& name) {
  return std::find(modules().begin(), modules().end(), name) != modules().end();
}

size_t KernelCatalog::number_of(const std::string& module) {
  const auto it = std::find(modules().begin(), modules().end(), module);
  return it == modules().end() ? 0 : static_cast<size_t>(it - modules().begin()) + 1;
}

const runtime::KernelTypes* KernelCatalog::types_of(size_t number) {
  if (!types() || number == 0) return types_.get();
  const auto [it, is_new] = of_modules_.try_emplace(number);
  if (!is_new) return it->second.get();
  auto loaded = runtime::KernelTypes::load_module(modules()[number - 1], types_);
  if (loaded) it->second = std::move(*loaded);
  return it->second.get();
}

// A type of the kernel is the same one, by whichever module it was reached.
dif::TypeRef KernelCatalog::outer(dif::TypeRef within, size_t number) const {
  if (within == 0) return 0;
  const auto it = of_modules_.find(number);
  const bool is_of_module = it != of_modules_.end() && (within & (runtime::KernelTypes::kPointer - 1)) >= it->second->first_own();
  return within | kMark | (is_of_module ? dif::TypeRef{number} << kModuleShift : 0);
}

const runtime::KernelTypes& KernelCatalog::owner(dif::TypeRef type) const {
  const size_t number = (type & ~kMark) >> kModuleShift;
  return number == 0 ? *types_ : *of_modules_.at(number);
}

Result<dif::TypeRef> KernelCatalog::find_type(const std::string& module, dif::DescribedAs as, const std::string& name) {
  const size_t number = number_of(module);
  const runtime::KernelTypes* in = types_of(number);
  if (!in) return Error{types() ? fmt::format("the types of the module {} cannot be read", module) : problem_};
  if (const dif::TypeRef type = in->find_type(as, name)) return outer(type, number);
  return Error{number == 0 ? "this kernel has no type of that name"
                           : fmt::format("the module {} has no type of that name", module)};
}

Result<dif::TypeRef> KernelCatalog::find_anywhere(dif::DescribedAs as, const std::string& name) {
  if (!types()) return Error{problem_};
  for (size_t number = 0; number <= modules().size(); number++) {
    const runtime::KernelTypes* in = types_of(number);
    if (const dif::TypeRef type = in ? in->find_type(as, name) : 0) return outer(type, number);
  }
  return Error{"neither this kernel nor a loaded module has a type of that name"};
}

Result<dif::ConstantDesc> KernelCatalog::find_constant(const std::string& module, const std::string& name) {
  const size_t number = number_of(module);
  const runtime::KernelTypes* in = types_of(number);
  if (!in) return Error{types() ? fmt::format("the types of the module {} cannot be read", module) : problem_};
  auto found = in->find_constant(name);
  if (!found)
    return Error{
        fmt::format("{} is not a constant of this kernel, and the kernel's data are not visible: dvm traces processes", name)};
  found->type = outer(found->type, number);
  return *found;
}

bool KernelCatalog::is_system_call(const runtime::Probe& probe) {
  const auto* site = std::get_if<runtime::TracepointSite>(&probe.site);
  return site && site->events.size() == 1 && runtime::is_system_call(site->events[0]);
}

Result<std::vector<dif::ArgumentDesc>> KernelCatalog::arguments(const runtime::Probe& probe) {
  const auto parameters = runtime::call_parameters(probe.function, probe.name == "return");
  if (!parameters) return parameters.error();
  std::vector<dif::ArgumentDesc> list;
  for (const runtime::CallParameter& parameter : *parameters) {
    dif::ArgumentDesc argument{.name = parameter.name, .arg = static_cast<unsigned>(list.size()), .problem = {}};
    const dif::TypeRef type = parameter_type(types(), parameter.type);
    argument.type = type == 0 ? 0 : type | kMark, argument.is_word = type == 0;
    argument.spelling = parameter.type;
    list.push_back(std::move(argument));
  }
  // arg1 of a return is arg0 again, as in DTrace.
  if (probe.name == "return" && list.size() == 1) list.push_back(list[0]), list[1].arg = 1;
  return list;
}

dif::TypeDesc KernelCatalog::describe(dif::TypeRef type) const {
  dif::TypeDesc desc = owner(type).describe(type & kWithin);
  desc.target = outer(desc.target, (type & ~kMark) >> kModuleShift);
  return desc;
}

std::vector<dif::MemberDesc> KernelCatalog::members(dif::TypeRef type) const {
  std::vector<dif::MemberDesc> list = owner(type).members(type & kWithin);
  for (dif::MemberDesc& member : list) member.type = outer(member.type, (type & ~kMark) >> kModuleShift);
  return list;
}

std::vector<dif::EnumeratorDesc> KernelCatalog::enumerators(dif::TypeRef type) const {
  return owner(type).enumerators(type & kWithin);
}

}  // namespace dvm::cmd
