#pragma once
// Describes a site before it is written to the process: the window, and the probes that fire there, with the work of their
// clauses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/inside/clause_steps.h"

namespace dvm::runtime {

// Machine code of an expression: a function of the saved registers (%rdi), an inside::Workspace (%rsi) and the thread-local
// variables (%rbx), with its value in %rax. Its only `ret` is its last byte, so that it can be inlined in other code. It does not
// change the stack pointer.
struct MachineCode {
  std::vector<unsigned char> bytes;  // empty: there is none
  uint32_t reads = 0;                // bit n: it reads word n of struct pt_regs
  uint32_t changes = 0;              // bit n: it changes the register of word n

  bool has_workspace = false;  // it reads or writes the workspace, besides the time
  bool may_fail = false;       // it may set Workspace::failed
  // Numbers of instructions that read and write thread-local variables.
  uint32_t variable_loads = 0, variable_stores = 0;
  uint32_t global_stores = 0;  // of instructions that change global variables
  uint32_t time_reads = 0;     // of instructions that read the time of the firing
  // Bytes of the first instruction, if that loads the time into %rdx; else 0.
  uint32_t time_bytes = 0;
  uint32_t effect_bytes = 0;  // bytes behind which the code only makes its value; 0: not known
  // Offsets in `bytes` of words that are offsets in inside::Globals. place_globals() turns these into addresses.
  std::vector<uint32_t> globals{};
  // Offsets in `bytes` of the displacements, of four bytes, by which instructions address thread-local variables from %rbx.
  std::vector<uint32_t> variables{};
  // Offsets in `bytes` of the instructions that read saved registers: mov word(%rdi), %reg, of seven bytes.
  std::vector<uint32_t> loads{};
  // The code may end by turning a condition of the processor's flags into 1 or 0, from offset `at` on. condition 0: it does not.
  struct Truth {
    uint32_t at = 0;
    unsigned char condition = 0;  // of the jump if it holds
    bool is_all = false;          // the code does no more than compare saved word `word` with `constant`
    uint8_t word = 0;
    int32_t constant = 0;
  } truth{};

  bool empty() const { return bytes.empty(); }
  void place_globals(uint64_t at);
};

// A key that the thread computes, and its code; empty: it needs none.
struct AgentKey {
  inside::SiteKey key;
  MachineCode code;
};

// An aggregation in the thread. `clause` receives the addresses of the code when that is in the process.
struct AgentClause {
  inside::ThreadAggregation clause;
  MachineCode value;  // empty: there is no value
  std::vector<AgentKey> keys;
};

// A record from which dvm runs the actions of one clause. The programs are an inside::RecordProgram with its steps, as bytes.
struct AgentClauseRecord {
  size_t clause = 0;            // its number among those of the probe
  inside::ClauseRecord record;  // without the addresses
  std::vector<std::byte> program{}, larger_program{};
};

// A string to assign to a thread-local variable, or to try (inside::TextAssignment).
struct AgentText {
  uint32_t variable = 0;             // its number
  inside::SiteKey from{};            // without the address of its code
  std::vector<uint64_t> constant{};  // its words; empty: it is none
  bool is_tried = false;
};

// A step of the clauses of a probe. ClauseStep::address is set when the code, the aggregation or the record is in the process.
struct AgentStep {
  inside::ClauseStep step;
  MachineCode code{};         // of a predicate, an expression, or the address of a string to assign
  AgentClause aggregation{};  // of an aggregation
  AgentClauseRecord record{};
  AgentText text{};

  size_t bytes() const;  // upper bound of its size in the process
};

// True if it leaves a record for a single clause.
inline bool is_any_record(const AgentStep& one) {
  using Kind = inside::ClauseStep::Kind;
  return one.step.kind == Kind::clause_record || one.step.kind == Kind::fault_record;
}

// True if it assigns or tries a string.
inline bool has_text(const AgentStep& one) {
  using Kind = inside::ClauseStep::Kind;
  return one.step.kind == Kind::assign_text || one.step.kind == Kind::try_text;
}

// A probe at a site. The programs, which make its records, are an inside::RecordProgram with its steps, as bytes.
struct AgentFirer {
  uint64_t cookie = 0;
  std::vector<std::byte> program;
  uint64_t larger_cookie = 0;
  std::vector<std::byte> larger_program{};  // for long strings and copies; empty: there is none
  // The steps of clauses that run in the thread. Empty: each firing writes a record.
  std::vector<AgentStep> steps{};
  uint16_t locals = 0;         // number of clause-local variables that the steps use
  bool has_variables = false;  // the steps use thread-local variables
  uint32_t probe = 0;          // id of the probe
  inside::Tail tail = inside::Tail::nothing;
  uint64_t function = 0;  // of a tail: address of the function that is left
};

struct AgentSite {
  uint64_t window_address = 0;
  std::vector<unsigned char> window;  // of its file; the memory must be the same
  uint32_t copied = 0;                // bytes of it that are instructions; padding follows
  uint32_t probed = 0;                // offset of the probed instruction in the window
  std::vector<AgentFirer> firers;
  uint64_t relay = 0;                    // address of the relay, for a window of fewer than five bytes; 0: none
  std::vector<unsigned char> padding{};  // bytes of the relay in the file

  bool is_conditional = false;  // the probed instruction is a branch, and it fires only if that is taken
  bool keeps_flags = true;      // code from the probed instruction on may read flags that were set before
  inside::Watch watch = inside::Watch::nothing;
  inside::Taking taking = inside::Taking::nothing;
  uint32_t number = 0;                 // of the system call that begins here
  uint64_t behind = 0;                 // address behind that call; 0: none begins here
  uint64_t function = 0;               // address of the function that contains the site
  std::vector<uint64_t> semaphores{};  // addresses of the semaphores of markers here
  uint64_t raises = 0;                 // signals that the copied instructions may raise by faults (raised_signals.h)
  std::string refusal{};               // why it was not enabled
  bool is_spare = false;               // only watches: is placed if the site with the probes of its window is refused

  // The number of firers, without those that fire only after a jump that is already counted.
  uint64_t counted_firers() const;
  // 0: the marker has none.
  void add_semaphore(uint64_t address);
  AddressRange range() const { return {window_address, window_address + window.size()}; }
  // Call once, when the address of inside::Globals in the process is known.
  void place_globals(uint64_t at);
};

// True if clauses read memory at addresses that the program passes: strings, and what copyin() reads.
bool reads_memory(const AgentSite& site);

// True if the steps of an inside::RecordProgram, as bytes, make system calls.
bool record_makes_calls(std::span<const std::byte> program);

inline bool watches(const std::vector<AgentSite*>& sites, inside::Watch watch) {
  return std::any_of(sites.begin(), sites.end(), [&](const AgentSite* site) { return site->watch == watch; });
}

}  // namespace dvm::runtime
