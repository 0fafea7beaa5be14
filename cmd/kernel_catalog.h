#pragma once
// The kernel's own description of its types, and of the parameters of system calls.

#include <map>
#include <memory>
#include <vector>

#include "dvm/compiler/type_catalog.h"
#include "runtime/catalog/probe.h"
#include "runtime/instrument/uprobe/kernel_types.h"

namespace dvm::cmd {

class KernelCatalog {
 public:
  KernelCatalog() = default;
  // The kernel of a recording, of which this machine knows only its own.
  explicit KernelCatalog(const std::string& recorded);

  // A reference to a type of the kernel, among those of the traced program.
  static bool is_mine(dif::TypeRef type) { return (type & kMark) != 0; }

  // Names of the kernel in front of a backquote: Linux' own, and those of the systems that D scripts come from.
  static bool is_kernel(std::string_view module);
  // A loaded module that describes its types.
  bool is_module(const std::string& name);
  // In the kernel, or in a module and what it uses of the kernel.
  Result<dif::TypeRef> find_type(const std::string& module, dif::DescribedAs as, const std::string& name);
  Result<dif::ConstantDesc> find_constant(const std::string& module, const std::string& name);
  // In the kernel, then in its modules.
  Result<dif::TypeRef> find_anywhere(dif::DescribedAs as, const std::string& name);

  // False if the probe does not belong to a system call.
  static bool is_system_call(const runtime::Probe& probe);
  Result<std::vector<dif::ArgumentDesc>> arguments(const runtime::Probe& probe);

  dif::TypeDesc describe(dif::TypeRef type) const;
  std::vector<dif::MemberDesc> members(dif::TypeRef type) const;
  std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) const;

 private:
  // A reference has the number of the module, 0 for the kernel itself, above the reference within it.
  static constexpr dif::TypeRef kMark = dif::TypeRef{1} << 63;
  static constexpr unsigned kModuleShift = 48;
  static constexpr dif::TypeRef kWithin = (dif::TypeRef{1} << kModuleShift) - 1;

  // Nothing, if the kernel does not describe its types.
  const runtime::KernelTypes* types();
  const std::vector<std::string>& modules();
  // The types of that number; null if they cannot be read.
  const runtime::KernelTypes* types_of(size_t number);
  size_t number_of(const std::string& module);
  dif::TypeRef outer(dif::TypeRef within, size_t number) const;
  const runtime::KernelTypes& owner(dif::TypeRef type) const;

  bool is_loaded_ = false;  // or cannot be loaded
  std::string problem_;     // why nothing could be loaded
  std::shared_ptr<const runtime::KernelTypes> types_;
  bool has_modules_ = false;  // modules_ is known
  std::vector<std::string> modules_;
  std::map<size_t, std::shared_ptr<const runtime::KernelTypes>> of_modules_;  // by number, from 1
};

}  // namespace dvm::cmd
