#pragma once
// A forked child of the test that calls traced functions on demand, and where those functions lie in their file.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/piped_child.h"

namespace dvm::runtime::test {

// Runs each job that call() names, in the child. The child lives until the end of the object.
class TracedChild {
 public:
  using Job = std::function<void()>;
  explicit TracedChild(const std::vector<Job>& jobs);

  pid_t pid() const { return child_.pid(); }
  // Runs jobs[index] once and waits for its end. False: the child is gone.
  bool call(uint8_t index) { return start(index) && finish(); }
  // Starts it without waiting; finish() waits.
  bool start(uint8_t index) { return static_cast<bool>(child_.tell(index)); }
  bool finish() { return static_cast<bool>(child_.finish()); }

 private:
  AnsweringChild<uint8_t, uint8_t> child_;
};

// Offset in its file of what is mapped at an address of this process.
uint64_t file_offset(const void* address);

// Bytes of another process, through /proc/PID/mem.
std::string memory_of(pid_t pid, const void* address, size_t bytes);

}  // namespace dvm::runtime::test
