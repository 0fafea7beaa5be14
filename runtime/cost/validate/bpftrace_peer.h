#pragma once
// bpftrace on a process, beside which dvm is measured where it is installed.

#include <sys/types.h>

#include <memory>
#include <string>

#include "common/result.h"

namespace dvm::runtime {

class BpftracePeer {
 public:
  // Returns once its probes are on.
  static Result<std::unique_ptr<BpftracePeer>> start(int32_t pid, const std::string& program);
  ~BpftracePeer();
  BpftracePeer(const BpftracePeer&) = delete;
  BpftracePeer& operator=(const BpftracePeer&) = delete;

 private:
  BpftracePeer() = default;

  pid_t pid_ = -1;
  int from_ = -1;
};

}  // namespace dvm::runtime
