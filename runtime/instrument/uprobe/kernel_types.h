#pragma once
// The kernel's types (BTF): the existing tracepoints, the words that they pass, and the offsets of members.

#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/catalog/kernel_event.h"

namespace dvm::runtime {

struct KernelTracepoint {
  std::string name;
  std::vector<bool> is_pointer;  // a word each
};

class KernelTypes {
 public:
  static Result<std::shared_ptr<const KernelTypes>> load();
  virtual ~KernelTypes() = default;

  virtual std::vector<KernelTracepoint> tracepoints() const = 0;
  // True if the tracepoint passes this many words.
  virtual bool hands_on(const std::string& tracepoint, unsigned words) const = 0;
  // The operand with the members' offsets.
  virtual Result<Operand> resolve(const std::string& tracepoint, const KernelWord& word) const = 0;
};

}  // namespace dvm::runtime
