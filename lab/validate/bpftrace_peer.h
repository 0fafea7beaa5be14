#pragma once
// bpftrace on a process, beside which dvm is measured where it is installed.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/piped_child.h"

namespace dvm::lab {

class BpftracePeer {
 public:
  // Returns once its probes are on.
  static Result<std::unique_ptr<BpftracePeer>> start(int32_t pid, const std::string& program);

 private:
  explicit BpftracePeer(std::unique_ptr<PipedChild> child) : child_(std::move(child)) {}

  std::unique_ptr<PipedChild> child_;
};

}  // namespace dvm::lab
