#pragma once
// Answers the compiler's questions about the traced program, and about the arguments of system calls. The answers come from the
// processes of -p and -c, from processes that probe descriptions name, or from the files that a recording names, if they still
// exist.

#include <set>

#include "cmd/kernel_catalog.h"
#include "dvm/compiler/type_catalog.h"
#include "dvm/runtime/handle.h"
#include "runtime/catalog/probe.h"
#include "runtime/symbol/target_types.h"

namespace dvm::cmd {

class TargetCatalog final : public compiler::TypeCatalog {
 public:
  // target: the process to look in first; 0: none. objects_of: what it has mapped, and any other that a description names.
  TargetCatalog(runtime::Handle& handle, pid_t target, runtime::ObjectsOf objects_of)
      : handle_(handle),
        target_(target),
        objects_of_(std::move(objects_of)),
        kernel_(handle.is_replay() ? KernelCatalog(handle.recorded_kernel()) : KernelCatalog()) {}

  Result<dif::TypeRef> find_type(const std::string& module, dif::DescribedAs as, const std::string& name) override;
  Result<dif::ConstantDesc> find_constant(const std::string& module, const std::string& name) override;
  Result<dif::DataDesc> find_data(const std::string& module, const std::string& name) override;
  std::vector<std::string> similar_data(const std::string& module, const std::string& name) override;
  dif::TypeDesc describe(dif::TypeRef type) override {
    return KernelCatalog::is_mine(type) ? kernel_.describe(type) : types_.describe(type);
  }
  std::vector<dif::MemberDesc> members(dif::TypeRef type) override {
    return KernelCatalog::is_mine(type) ? kernel_.members(type) : types_.members(type);
  }
  std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) override {
    return KernelCatalog::is_mine(type) ? kernel_.enumerators(type) : types_.enumerators(type);
  }
  compiler::ProbeArguments arguments(const dif::ProbeDesc& description) override;
  std::vector<std::string> declarations(const dif::ProbeDesc& description) override;

 private:
  runtime::TargetTypes& types();
  void add_process(pid_t pid);
  void add(const runtime::Probe& probe);
  Result<std::vector<dif::ArgumentDesc>> arguments(const runtime::Probe& probe);
  std::vector<const runtime::Probe*> probes_of(const dif::ProbeDesc& description, std::string& problem);

  runtime::Handle& handle_;
  pid_t target_;
  runtime::ObjectsOf objects_of_;
  std::set<pid_t> processes_;
  size_t probes_ = 0;  // of the handle's catalog, looked at so far
  runtime::TargetTypes types_;
  KernelCatalog kernel_;
};

}  // namespace dvm::cmd
