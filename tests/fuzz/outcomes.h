#pragma once
// The outcomes of a batch that runs in a process of its own, so that an engine's crash is a difference like another.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "dvm/vm/engine.h"

namespace dvm::fuzz {

// How long the comparisons of engines go on, and with which seed: DVM_FUZZ_ROUNDS, DVM_FUZZ_SEED.
inline uint32_t from_environment(const char* name, uint32_t usual) {
  const char* wanted = std::getenv(name);
  return wanted ? static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10)) : usual;
}

// Memory that processes share.
template <class Outcome, size_t kMost>
class Outcomes {
 public:
  Outcomes() : all_(static_cast<Outcome*>(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Outcomes() { ::munmap(all_, kBytes); }
  Outcomes(const Outcomes&) = delete;
  Outcomes& operator=(const Outcomes&) = delete;
  std::span<Outcome> all() { return {all_, kMost}; }

 private:
  static constexpr size_t kBytes = kMost * sizeof(Outcome);
  Outcome* all_;
};

// True if the process ended as it should.
template <class Batch, class Outcomes>
bool run_apart(Batch& batch, const vm::Engine& engine, Outcomes& outcomes) {
  const pid_t child = ::fork();
  if (child == 0) {
    batch.run(engine, outcomes.all());
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace dvm::fuzz
