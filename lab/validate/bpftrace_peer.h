#pragma once
// bpftrace on a process, beside which dvm is measured where it is installed.

#include <cstdint>
#include <memory>
#include <string>

#include "common/piped_child.h"

namespace dvm::lab {

// Returns once its probes are on. It ends with the object.
Result<std::unique_ptr<PipedChild>> start_bpftrace(int32_t pid, const std::string& program);

}  // namespace dvm::lab
