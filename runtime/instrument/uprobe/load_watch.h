#pragma once
// Tells when a process has mapped files, and lets it wait meanwhile: a probe on the function that its dynamic linker calls for
// debuggers, whose program counts the call and then goes round until dvm has answered it, two seconds at most. So
// probes are on before the first instruction of a library runs, no signal is sent, and nothing is left behind if dvm dies.
//
//   program   arrived++, waits for answered == arrived        (only once files were added, not when they are taken away)
//   dvm       sees arrived, enables what it wants, answered = arrived
//
// Where the kernel does not know loops that may go on (before 6.9) the thread does not wait: the first calls may be missed.

#include <atomic>
#include <cstdint>
#include <memory>

#include "common/result.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/symbol/linker.h"

namespace dvm::runtime {

class LoadWatch {
 public:
  static Result<std::unique_ptr<LoadWatch>> make(const LinkerSite& linker);
  ~LoadWatch();
  LoadWatch(const LoadWatch&) = delete;
  LoadWatch& operator=(const LoadWatch&) = delete;

  // The calls so far, if some are not answered yet; 0: there is nothing to do.
  uint64_t unanswered() const;
  // Those up to a number, and whoever waits for that goes on.
  void answer(uint64_t arrived);
  // The kernel's: to be taken off with all others.
  FileDescriptor take_link() { return std::move(link_); }

 private:
  struct Shared {
    std::atomic<uint64_t> arrived, answered, is_adding;
  };

  LoadWatch() = default;
  FileDescriptor map_, program_, link_;
  Shared* shared_ = nullptr;
};

}  // namespace dvm::runtime
