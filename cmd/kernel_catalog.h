#pragma once
// The kernel's own description of its types, and of the parameters of system calls.

#include <memory>

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
  Result<dif::TypeRef> find_type(dif::DescribedAs as, const std::string& name);
  Result<dif::ConstantDesc> find_constant(const std::string& name);

  // False: the probe is none of a system call.
  static bool is_system_call(const runtime::Probe& probe);
  Result<std::vector<dif::ArgumentDesc>> arguments(const runtime::Probe& probe);

  dif::TypeDesc describe(dif::TypeRef type) const;
  std::vector<dif::MemberDesc> members(dif::TypeRef type) const;
  std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) const;

 private:
  static constexpr dif::TypeRef kMark = dif::TypeRef{1} << 63;

  // Nothing, if the kernel does not describe its types.
  const runtime::KernelTypes* types();

  bool is_loaded_ = false;  // or cannot be
  std::string problem_;     // why nothing could be loaded
  std::shared_ptr<const runtime::KernelTypes> types_;
};

}  // namespace dvm::cmd
