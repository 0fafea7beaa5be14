#pragma once
// Makes the code of a site that finds the state of an aggregation's key in the arena of the thread and updates it. In rare cases
// the code calls agent_find or agent_aggregate (inside/aggregate.h).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/agent/site_code_base.h"

namespace dvm::runtime {

class AggregationCode : SiteCodeBase {
 public:
  AggregationCode(CodeWriter& code, SiteFrame& frame, const SitePlace& place, const Needs& needs)
      : SiteCodeBase(code, place, needs), frame_(frame) {}

  // %rbx: the lane, %rbp: the arena. The workspace has the number of the arena.
  // has_time: the time is passed to its value (passes_time).
  void add(const AgentClause& aggregation, uint64_t address, bool has_time);
  // Adds the code for rare cases, to which the code of add() jumps.
  void add_rare();
  const std::vector<size_t>& failures() const { return failures_; }

 private:
  void add_update_value(const AgentClause& aggregation);
  void call_aggregate(uint64_t address);
  void add_keys(const AgentClause& aggregation, uint64_t address, bool is_last_found);
  void add_integer();
  void call_for_key(const AgentKey& key, uint64_t first, uint64_t entry);
  bool land_lost();
  void leave_if(unsigned char condition, const AgentKey& key);
  void add_by_call(const AgentKey& key, uint64_t address);
  size_t check_found(const AgentClause& aggregation);
  // A string or a stack that the code of the site cannot handle, and leaves to agent_find.
  struct Long {
    std::vector<size_t> from;
    size_t back = 0;  // in the code
    size_t miss = 0;  // the number of that for its aggregation
  };
  std::optional<std::vector<size_t>> add_key_code(const AgentClause& aggregation);
  void add_find(const AgentClause& aggregation, uint64_t address);
  void add_long(const Long& one);
  void add_integers(const AgentClause& aggregation);
  void add_update_of_state(const inside::ThreadAggregation& clause);
  void call_update(const inside::ThreadAggregation& clause);
  void add_quantize(const inside::ThreadAggregation& clause, Register from, size_t states);
  // A negative value of quantize(), which a function of the agent handles.
  struct Negative {
    size_t from = 0, back = 0;  // in the code
    Register base{};            // the address of the state,
    size_t states = 0;          // behind that
    const inside::ThreadAggregation& clause;
  };
  void add_negative(const Negative& one);
  // A lookup that the first bucket does not answer: it is empty or has another entry. agent_aggregate handles it.
  struct Miss {
    std::vector<size_t> from;
    size_t back = 0;  // in the code
    uint64_t address = 0;
    uint32_t key_words = 0;
    bool has_value = false;                 // in %rax, or in %r8 if there are keys
    const AgentClause* unvalued = nullptr;  // the aggregation whose value is not computed yet; the key is complete
  };
  void add_found(const AgentClause& aggregation, uint64_t address, bool has_time);
  void add_update(const inside::ThreadAggregation& clause, uint32_t key_words);
  void add_miss(const Miss& miss);

  SiteFrame& frame_;
  std::vector<size_t> lost_;  // jumps if a stack cannot be read, which skip the aggregation
  std::vector<Long> longs_;
  std::vector<Miss> misses_;
  std::vector<Negative> negatives_;
};

}  // namespace dvm::runtime
