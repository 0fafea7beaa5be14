#pragma once
// The kernel's types (BTF): the existing tracepoints, the words that they pass, and the offsets of members.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/type_desc.h"
#include "runtime/catalog/kernel_event.h"

namespace dvm::runtime {

struct KernelTracepoint {
  std::string name;
  std::vector<bool> is_pointer;  // a word each
};

class KernelTypes {
 public:
  static Result<std::shared_ptr<const KernelTypes>> load();
  // The loaded modules that describe their types, by name. DVM_BTF_FOLDER in the environment stands for /sys/kernel/btf.
  static std::vector<std::string> modules();
  // The types of a module on top of the kernel's, whose references stay the same.
  static Result<std::shared_ptr<const KernelTypes>> load_module(const std::string& name,
                                                                std::shared_ptr<const KernelTypes> kernel);
  virtual ~KernelTypes() = default;

  virtual std::vector<KernelTracepoint> tracepoints() const = 0;
  // True if the tracepoint passes this many words.
  virtual bool hands_on(const std::string& tracepoint, unsigned words) const = 0;
  // The operand with the members' offsets.
  virtual Result<Operand> resolve(const std::string& tracepoint, const KernelWord& word) const = 0;

  // Types as the compiler asks for them. A reference is the kernel's number of the type, and above it how many pointers lead to
  // it. 0: there is no type of this name.
  virtual dif::TypeRef find_type(dif::DescribedAs as, const std::string& name) const = 0;
  // References below it belong to the kernel itself, not to the module. 0: no module.
  virtual dif::TypeRef first_own() const = 0;
  virtual dif::TypeDesc describe(dif::TypeRef type) const = 0;
  virtual std::vector<dif::MemberDesc> members(dif::TypeRef type) const = 0;
  virtual std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type) const = 0;
  virtual std::optional<dif::ConstantDesc> find_constant(const std::string& name) const = 0;
  static constexpr dif::TypeRef kPointer = dif::TypeRef{1} << 32;  // added to the reference of what it points at
};

}  // namespace dvm::runtime
