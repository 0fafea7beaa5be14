#pragma once
// Proposes to a process which of its memory is steady (inside/steady.h). The tables that it proposes contain private readable
// memory without a file, except stacks that grow, guard regions, and memory that system calls are about to take away.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/hidden_faults.h"
#include "runtime/agent/inside/steady.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/steady_choice.h"

namespace dvm::runtime {

class SteadyProposals {
 public:
  // Called at first and whenever there is executable memory that was not there at the last call, with all mappings. Returns why
  // some system calls in it that can take memory away are not watched by now; empty: all are.
  using FindUnwatched = std::function<std::string(const std::vector<MemoryMapping>&)>;

  // address: of the inside::SteadyMemory in the process. own: memory that dvm has added to the process.
  SteadyProposals(pid_t pid, uint64_t address, std::vector<AddressRange> own, FindUnwatched find_unwatched);

  // More memory that dvm has added.
  void leave_out(const AddressRange& own);

  // Proposes a table, at first and when clauses did not find memory that they read. Does not wait. now: ns of CLOCK_MONOTONIC.
  void refresh(const AgentMemory& memory, uint64_t now);

  // No memory of the process is steady any more.
  void end(const AgentMemory& memory, std::string_view why) {
    if (problem_.empty()) turn_off(memory, why);
  }

  // Why no memory of the process is steady any more; empty: it may be. The process knows it, by SteadyMemory::is_off.
  const std::string& problem() const { return problem_; }

 private:
  struct Head {  // the beginning of inside::SteadyMemory
    uint64_t state, proposed, is_off, misses, wanted[inside::kMostWanted];
  };
  enum class Outcome { again, later, useless, useful };

  std::string why_off(const AgentMemory& memory) const;
  bool is_due(const AgentMemory& memory, const Head& head, uint64_t now) const;
  Outcome propose(const AgentMemory& memory, const Head& head, uint64_t now);
  bool see_takers(const AgentMemory& memory, const Head& head);
  Outcome check_code(const AgentMemory& memory);
  bool choose(const Head& head, std::vector<AddressRange>& chosen) const;
  Outcome compare(const Head& head, const std::vector<AddressRange>& chosen);
  bool write(const AgentMemory& memory, const Head& head, const std::vector<AddressRange>& chosen);
  void turn_off(const AgentMemory& memory, std::string_view why);

  uint64_t address_;
  std::vector<AddressRange> own_;  // joined
  FindUnwatched find_unwatched_;
  HiddenFaults faults_;
  std::string problem_;

  // As seen for this proposal.
  std::vector<AddressRange> taken_, active_;  // by calls that run; the ranges in use
  std::string text_;                          // the maps file
  MapsText maps_;

  std::set<std::string, std::less<>> proven_;  // lines of executable mappings
  std::vector<AddressRange> hopeless_;         // memory that was wanted and cannot be steady
  uint64_t number_ = 0;                        // of the table proposed last; 0: none was
  uint64_t misses_ = 0;                        // those before that proposal
  unsigned outdated_ = 0;                      // proposals in a row that the process did not put in use
  uint64_t earliest_ = 0, next_ = 0;           // when to propose for addresses that may be steady, and for any
  uint64_t pause_ = 0;
};

}  // namespace dvm::runtime
