#pragma once
// A program that is ready to trace a process: compiled for it, enabled, printing nowhere. Whoever has a compiler makes it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"

namespace dvm::runtime {

class TracedProgram {
 public:
  virtual ~TracedProgram() = default;
  virtual Handle& handle() = 0;
  virtual std::vector<const dif::Program*> programs() const = 0;
};

// settings: as -x has them.
using OpenTraced = std::function<Result<std::unique_ptr<TracedProgram>>(const std::string& text,
                                                                        const std::vector<std::string>& settings, int32_t pid)>;

}  // namespace dvm::runtime
