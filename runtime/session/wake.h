#pragma once
// Wakes a waiting session, and keeps the reason. The setters are async-signal-safe and may be called from any thread.

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace dvm::runtime {

class Wake {
 public:
  Wake() : descriptor_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~Wake() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Wake(const Wake&) = delete;
  Wake& operator=(const Wake&) = delete;

  // Readable when the session should wake; -1: no descriptor could be opened.
  int descriptor() const { return descriptor_; }
  void interrupt() noexcept { set(interrupted_); }
  bool is_interrupted() const { return interrupted_.load(std::memory_order_relaxed); }
  void targets_gone() noexcept { set(targets_gone_); }
  bool are_targets_gone() const { return targets_gone_.load(std::memory_order_relaxed); }

 private:
  void set(std::atomic<bool>& reason) const noexcept {
    reason.store(true, std::memory_order_relaxed);
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof one);
  }

  int descriptor_;
  std::atomic<bool> interrupted_ = false, targets_gone_ = false;
};

}  // namespace dvm::runtime
