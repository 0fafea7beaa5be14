#pragma once
// A forked child that calls one of three functions as often as it is told. It ends with its parent.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "common/result.h"

namespace dvm::runtime {

// By their first instruction.
enum class Stub : uint8_t { emulated, stepped };

class LoopingChild {
 public:
  static Result<std::unique_ptr<LoopingChild>> start();
  ~LoopingChild();
  LoopingChild(const LoopingChild&) = delete;
  LoopingChild& operator=(const LoopingChild&) = delete;

  pid_t pid() const { return pid_; }
  // Sends it off; it says when it is done.
  Status call(Stub stub, uint64_t times);
  bool is_done() const;
  // CPU time of a call, in ns. Waits for it.
  Result<double> finish();

 private:
  LoopingChild() = default;

  pid_t pid_ = -1;
  int to_child_ = -1, from_child_ = -1;
  uint64_t times_ = 0;
};

// Offset of the stub in the file of this program.
Result<uint64_t> offset_of(Stub stub);

}  // namespace dvm::runtime
