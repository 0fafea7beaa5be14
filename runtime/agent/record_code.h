#pragma once
// Code that makes a record in the ring of a lane (inside::RecordProgram), if all its values are constants, registers, or the ids
// of the process and thread.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/agent/inside/clause_steps.h"

namespace dvm::runtime {

class CodeWriter;

struct PlainRecord {
  uint32_t length = 0;  // of the record, with the values before its steps
  std::vector<inside::RecordStep> steps;
  uint32_t reads = 0;    // words of struct pt_regs, a bit each
  uint32_t before = 0;   // bytes of the values
  bool is_seen = false;  // its time is Workspace::seen_at

  uint32_t bytes() const { return static_cast<uint32_t>(sizeof(inside::RecordHead)) + ((length + 7) & ~7U); }  // in the ring
};

// The steps of an inside::RecordProgram.
std::vector<inside::RecordStep> steps_of(std::span<const std::byte> program);
// Nothing: the record holds other values, or the number of the CPU cannot be read cheaply (rdpid).
std::optional<PlainRecord> plain_record(std::span<const std::byte> program);

// Writes the values before the record of a clause. workspace_at: distance of the workspace from the stack pointer. variables_at:
// of the thread-local variables from the lane in %rbx.
void add_values(CodeWriter& code, const inside::ClauseRecord& clause, int32_t workspace_at, int32_t variables_at);
// Writes a record and publishes it. The lane is in %rbx, the place of the record in %rcx, the head of the ring in %r8. The
// thread's number lies tid_at bytes from the stack pointer, which points to the saved words. Changes %rax and %rdx.
void add_record(CodeWriter& code, const PlainRecord& record, uint64_t cookie, int32_t pid, int32_t tid_at);

}  // namespace dvm::runtime
