#pragma once
// Reports that a process has mapped files, and lets the process wait meanwhile. A probe lies on the function that the dynamic
// linker calls for debuggers; its program counts the call, then loops until dvm has answered. So probes are in place before the
// first instruction of a library runs, no signal is sent, and nothing is left behind if dvm dies.
//
// - program   arrived++, callers[arrived] = process, rings the bell, waits for answered >= its number
//             (only once files were added, not when they are taken away)
// - dvm       sees arrived, enables what it wants, answered = the latest that it has seen
//
// A process does not wait for a dvm that is stopped or about to end: the program checks the state of dvm's thread while it
// loops. It gives up after two seconds, too. Either is counted, unless dvm is about to end. On kernels without unbounded loops
// (may_goto, before 6.9) the thread does not wait, so the first calls may be missed. All of these count.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/instrument/uprobe/ring.h"
#include "runtime/symbol/linker.h"

namespace dvm::runtime {

class LoadWatch {
 public:
  // `followed` is the map of descendants of the linker's processes, which are watched too (followed.h), or -1. Must be called
  // by the thread that answers. `bell` is a ring buffer that becomes readable when a process waits. may_wait: false, as if the
  // kernel were older.
  static Result<std::unique_ptr<LoadWatch>> make(const LinkerSite& linker, int followed, int bell, bool may_wait = true);
  ~LoadWatch();
  LoadWatch(const LoadWatch&) = delete;
  LoadWatch& operator=(const LoadWatch&) = delete;

  // The processes that have begun to wait since the last call; the same one may be there more than once.
  void take(std::vector<LoadedIn>& all);
  // Releases the processes that take() has returned.
  void answer();
  // How often a process has waited in vain since the last call, or has not waited because it cannot.
  uint64_t take_unanswered();
  // False: the kernel lets no process wait.
  bool waits() const { return waits_; }
  // Releases all waiting processes.
  void let_go();
  // The kernel's: to be taken off with all others.
  FileDescriptor take_link() { return std::move(link_); }

  static constexpr size_t kCallers = 1024;  // calls that can wait at the same time and be distinguished
  static constexpr size_t kTurns = 8;  // that a thread waits, each a quarter of a second at most: the program is there so often

 private:
  struct Shared {
    std::atomic<uint64_t> arrived, answered, is_adding, tracer;
    std::array<std::atomic<uint64_t>, kCallers> callers;
    std::array<std::atomic<uint64_t>, kTurns> waited;  // how often a turn has ended without an answer
  };

  LoadWatch() = default;
  Shared& shared() const { return *reinterpret_cast<Shared*>(map_.data()); }

  int32_t root_ = 0;
  bool waits_ = false;
  uint64_t taken_ = 0, told_ = 0;
  SharedMap map_;
  FileDescriptor link_;
};

}  // namespace dvm::runtime
