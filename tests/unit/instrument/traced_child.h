#pragma once
// A forked child of the test that calls traced functions on demand, and where those functions lie in their file.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dvm::runtime::test {

// Runs each job that call() names, in the child. The child lives until the end of the object.
class TracedChild {
 public:
  using Job = std::function<void()>;
  explicit TracedChild(std::vector<Job> jobs);
  ~TracedChild();
  TracedChild(const TracedChild&) = delete;
  TracedChild& operator=(const TracedChild&) = delete;

  pid_t pid() const { return pid_; }
  // Runs jobs[index] once and waits for its end. False: the child is gone.
  bool call(uint8_t index);
  // Starts it without waiting; finish() waits.
  bool start(uint8_t index);
  bool finish();

 private:
  pid_t pid_ = -1;
  int to_child_ = -1, from_child_ = -1;
};

// Offset in its file of what is mapped at an address of this process.
uint64_t file_offset(const void* address);

// Bytes of another process, through /proc/PID/mem.
std::string memory_of(pid_t pid, const void* address, size_t bytes);

}  // namespace dvm::runtime::test
