#pragma once
// Sends signals to traced processes, for stop() and raise(). A process may have ended since its probe fired, and its id may have
// been reused. So each process that is known when tracing begins is held by a pidfd, which always refers to that process.

#include <cstdint>
#include <vector>

namespace dvm::runtime {

class TargetSignals {
 public:
  TargetSignals() = default;
  ~TargetSignals();
  TargetSignals(const TargetSignals&) = delete;
  TargetSignals& operator=(const TargetSignals&) = delete;

  void learn(int32_t pid);
  // False: there is no such signal, the process has ended or may not be signalled, or it is dvm itself. Probe context.
  bool send(int32_t pid, int64_t number) const noexcept;

 private:
  struct Known {
    int32_t pid = 0;
    int fd = -1;
  };
  std::vector<Known> known_;
};

}  // namespace dvm::runtime
