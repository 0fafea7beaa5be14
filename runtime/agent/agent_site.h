#pragma once
// A site, as dvm describes it before it is in the process: the window, and the probes that fire there with what their clauses do.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// Machine code of an expression: a function of the saved registers (%rdi) and of an inside::Workspace (%rsi), with its value in
// %rax. Its only `ret` is its last byte, so that it may also lie in the midst of other code.
// It does not change the stack pointer.
struct MachineCode {
  std::vector<unsigned char> bytes;  // empty: there is none
  uint32_t reads = 0;                // words of struct pt_regs, a bit each
  uint32_t changes = 0;              // the same, of the registers whose value it changes
  bool has_workspace = false;        // it reads or writes that
  bool may_fail = false;             // it may say there that it has no value
  // Instructions that read and write thread-local variables.
  uint32_t variable_loads = 0, variable_stores = 0;
  std::vector<uint32_t> globals{};  // offsets of words: distances from inside::Globals, which become addresses

  bool empty() const { return bytes.empty(); }
  void place_globals(uint64_t at);
};

// A key that the thread finds out, and its code; empty: it has none.
struct AgentKey {
  inside::SiteKey key;
  MachineCode code;
};

// An aggregation in the thread. The addresses are those of its code, once that is in the process.
struct AgentClause {
  inside::ThreadAggregation clause;
  MachineCode value;  // empty: it has none
  std::vector<AgentKey> keys;
};

// A record by which dvm runs the actions of one clause. Its programs are inside::RecordPrograms with their steps, as bytes.
struct AgentClauseRecord {
  size_t clause = 0;            // its number among those of the probe
  inside::ClauseRecord record;  // without the addresses
  std::vector<std::byte> program{}, larger_program{};
};

// A step of the clauses of a probe. Its address is that of the code, the aggregation or the record, once these are in the
// process.
struct AgentStep {
  inside::ClauseStep step;
  MachineCode code{};         // of a predicate or an expression
  AgentClause aggregation{};  // of others
  AgentClauseRecord record{};

  size_t bytes() const;  // at most, in the process
};

// A probe at a site, and how its records are made: an inside::RecordProgram with its steps, as bytes.
struct AgentFirer {
  uint64_t cookie = 0;
  std::vector<std::byte> program;
  uint64_t larger_cookie = 0;
  std::vector<std::byte> larger_program{};  // for long strings and copies; empty: there is none
  std::vector<AgentStep> steps{};           // of its clauses, which run in the thread; none: a record is written
  uint16_t locals = 0;                      // clause-local variables that these use: the first ones
  bool has_variables = false;               // they use thread-local variables
  uint32_t probe = 0;                       // its id
  inside::Tail tail = inside::Tail::nothing;
  uint64_t function = 0;  // of a tail: the address of the function that it is of
};

struct AgentSite {
  uint64_t window_address = 0;
  std::vector<unsigned char> window;  // of its file; the memory must be the same
  uint32_t copied = 0;                // bytes of it that are instructions; padding follows
  uint32_t probed = 0;                // offset in the window
  std::vector<AgentFirer> firers;
  uint64_t relay = 0;                    // where a window of fewer than five bytes jumps to first; 0: nowhere
  std::vector<unsigned char> padding{};  // that lies there
  bool is_conditional = false;           // the probed instruction is a branch, and it fires only if that is taken
  bool keeps_flags = true;               // from the probed instruction on, code may read the flags that it finds
  inside::Watch watch = inside::Watch::nothing;
  uint64_t function = 0;  // the address of the one that it lies in
  uint64_t raises = 0;    // signals, by faults of the copied instructions (raised_signals.h)
  std::string refusal{};  // why it was not enabled

  // But for those that fire only if a jump before has counted already.
  uint64_t counted_firers() const;
  AddressRange range() const { return {window_address, window_address + window.size()}; }
  // Once, when it is known where inside::Globals lies in the process.
  void place_globals(uint64_t at);
};

inline bool watches(const std::vector<AgentSite*>& sites, inside::Watch watch) {
  return std::any_of(sites.begin(), sites.end(), [&](const AgentSite* site) { return site->watch == watch; });
}

}  // namespace dvm::runtime
