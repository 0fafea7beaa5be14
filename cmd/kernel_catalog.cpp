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

Result<dif::TypeRef> KernelCatalog::find_type(dif::DescribedAs as, const std::string& name) {
  if (!types()) return Error{problem_};
  if (const dif::TypeRef type = types_->find_type(as, name)) return type | kMark;
  return Error{"this kernel has no type of that name"};
}

Result<dif::ConstantDesc> KernelCatalog::find_constant(const std::string& name) {
  if (!types()) return Error{problem_};
  auto found = types_->find_constant(name);
  if (!found)
    return Error{fmt::format("{} is no constant of this kernel, and its data are not visible: dvm traces processes", name)};
  found->type |= kMark;
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
  dif::TypeDesc desc = types_->describe(type & ~kMark);
  if (desc.target != 0) desc.target |= kMark;
  return desc;
}

std::vector<dif::MemberDesc> KernelCatalog::members(dif::TypeRef type) const {
  std::vector<dif::MemberDesc> list = types_->members(type & ~kMark);
  for (dif::MemberDesc& member : list)
    if (member.type != 0) member.type |= kMark;
  return list;
}

std::vector<dif::EnumeratorDesc> KernelCatalog::enumerators(dif::TypeRef type) const {
  return types_->enumerators(type & ~kMark);
}

}  // namespace dvm::cmd
