// Covered by tests/runtime/syscall/tst.typed_args.d.
#include "cmd/kernel_catalog.h"

#include <variant>

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
dif::TypeRef find_type(const runtime::KernelTypes* types, const std::string& spelled) {
  const runtime::SpelledType type = runtime::parse_type(spelled);
  if (!types) return 0;
  const bool is_void = type.keyword.empty() && type.name == "void";
  const dif::TypeRef base = is_void ? 0 : types->find_type(described_as(type.keyword), type.name);
  return base == 0 && (!is_void || type.pointers == 0) ? 0 : base + type.pointers * runtime::KernelTypes::kPointer;
}

}  // namespace

const runtime::KernelTypes* KernelCatalog::types() {
  if (!is_loaded_)
    if (auto loaded = runtime::KernelTypes::load()) types_ = std::move(*loaded);
  is_loaded_ = true;
  return types_.get();
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
    const dif::TypeRef type = find_type(types(), parameter.type);
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
