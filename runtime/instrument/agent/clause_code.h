#pragma once
// From DIF to machine code for the traced thread (runtime/agent/inside/aggregate.h runs it). Takes what simple clauses consist
// of: arithmetic without division, comparisons, constants, pid, tid, and arguments that lie in registers. Anything else has no
// code, and dvm runs the clause.
//
//   %rdi  the saved registers, words of struct pt_regs      %rsi  the thread's number
//   %r1 to %r5 of DIF: %rdx, %r8, %r9, %r10, %r11            %rax, %rcx: for a moment; %rax: the value

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/site_clause.h"
#include "runtime/instrument/uprobe/site_shape.h"

namespace dvm::runtime {

// What the code is for.
struct ClausePlace {
  const SiteShape& shape;
  std::optional<uint32_t> exit;  // of a return: the value of arg0
  int32_t pid = 0;
  const Probe* probe = nullptr;
};

// Where not all clauses can run in the thread, but all have predicates that can: steps which ask for a record if one is true.
std::vector<AgentStep> make_gates(std::span<const SiteClause> clauses, const ClausePlace& place);
// number_of: by which dvm knows an aggregation. Gates, or no steps: the clauses cannot all run in the thread. A key that may not
// be readable is at the first step that has an effect, so that dvm can run the clauses instead.
using NumberOf = std::function<uint32_t(KnownClause clause)>;
std::vector<AgentStep> make_steps(std::span<const SiteClause> clauses, const ClausePlace& place, const NumberOf& number_of);

// The code of one DIFO, whose value is widened to the type; empty: it has none. Any DIFO that the verifier admits.
std::vector<unsigned char> make_value_code(const dif::Difo& difo, const dif::DataType& type, const ClausePlace& place);

}  // namespace dvm::runtime
