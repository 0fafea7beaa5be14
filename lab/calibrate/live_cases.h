#pragma once
// The scripts that price an agent's rows.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "lab/calibrate/looping_child.h"
#include "runtime/cost/rows.h"

namespace dvm::lab {

// One run of a case; rows with a price by size have two.
struct AgentSize {
  const char* with = "";  // clauses; `with` has the row once more, or as often as uses says, than `without`
  uint32_t letters = 0, depth = 0;
  double things = 0;  // that the row is priced by; 0 where the script says it
  const char* stack_bytes = "0";
};

struct AgentCase {
  runtime::Row row;
  std::array<std::optional<AgentSize>, 2> sizes;
  const char* without = "";  // clauses; empty: a call that is not traced
  double uses = 1;
  bool is_in_dvm = false;   // dvm's part is priced, and there is no `without`
  bool is_on_heap = false;  // the string of `with`
  bool follows = false;     // `with` runs under -x followfork
  bool is_return = false;
  StubKind stub = StubKind::framed;
};

// The order is such that the rows which a case needs have been priced by the cases before it.
std::span<const AgentCase> agent_cases();

}  // namespace dvm::lab
