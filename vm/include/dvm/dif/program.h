#pragma once
// A compiled program, the compiler's output and the runtime's input. A type whose name ends in Desc is a description. The runtime
// makes the object without Desc from it.
//
//   Program ── clauses: EcbDesc ── probes: ProbeDesc ...       each matching probe gets an ECB of the clause
//          │                    ├─ predicate: PredDesc?
//          │                    └─ actions: ActDesc ... ── args: RecDesc ...   one DIFO per recorded value or key
//          ├─ variables        every user variable of the session
//          └─ aggregations     every aggregation by id

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dvm/dif/action.h"
#include "dvm/dif/difo.h"
#include "dvm/dif/layout.h"

namespace dvm::dif {

// provider:module:function:name. An empty field matches everything. Fields may contain globs (* ? [...]).
struct ProbeDesc {
  std::string provider, module, function, name;
};

// A position in the source, for listings and messages at run time. Lines count from 1.
struct SourcePosition {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

struct PredDesc {
  Difo difo;
};

// A value that an action records, a key, or the value of an aggregation: the DIFO that computes it, and its type, difo.result.
// The ECB places it in the record: scalars at their natural alignment, strings in strsize bytes, bytes in `size`.
//
// If made_by is not expression, that action makes the value: a stack, or the symbol of the address that the DIFO computes. A
// stack has a number of frames (0: by the options) and the bytes for the strings of ustack. It is the stack of the firing or, if
// the DIFO's result is bytes, one that a variable keeps, at the address that the DIFO computes.
struct RecDesc {
  Difo difo;
  Action made_by = Action::expression;
  uint32_t frames = 0;
  uint32_t strsize = 0;
};

inline bool is_kept_stack(const RecDesc& value) { return is_stack(value.made_by) && value.difo.result.kind == TypeKind::bytes; }
inline bool is_own_stack(const RecDesc& value) { return is_stack(value.made_by) && !is_kept_stack(value); }

// One action of a clause.
//   trace, exit, expression      args[0]
//   stacks and symbols           args[0], made by the action
//   tracemem                     args[0]: the bytes at the address. args[1]: the number of bytes (optional)
//   print                        args[0]; layout of its type
//   printf, printa with format   format; printf: args in the order of the conversions
//   aggregating function         args: key_count keys, then the value (not for count), then the increment (optional)
//     lquantize, llquantize      parameters: base, limit and step; factor, low, high and steps
//   printa, clear, denormalize   aggregations
//   trunc                        aggregations[0]; args[0]: the count (optional), evaluated at the firing
//   normalize                    aggregations[0]; args[0]: the divisor, evaluated at the firing
struct ActDesc {
  Action kind = Action::expression;
  std::vector<RecDesc> args;
  std::string format;
  bool has_format = false;
  std::vector<uint32_t> aggregations;  // ids
  unsigned key_count = 0;
  std::vector<int64_t> parameters;
  ValueLayout layout;
  SourcePosition position;
};

struct EcbDesc {
  std::vector<ProbeDesc> probes;
  std::optional<PredDesc> predicate;
  std::vector<ActDesc> actions;  // none: the clause has DTrace's default action and records that it fired
  SourcePosition position;
};

// An aggregation, declared by its first use. Ids count from 1 in the order of appearance.
struct AggregationDesc {
  uint32_t id = 0;
  std::string name;  // without the @; empty for the anonymous one
  Action function = Action::agg_count;
  std::vector<DataType> keys;
  std::vector<Action> key_makers;  // RecDesc::made_by of each key; empty until the aggregation is enabled
  std::vector<int64_t> parameters;
  DataType value;  // type of the aggregated expression; its sign decides how min, max and sum are printed
};

struct Program {
  std::vector<EcbDesc> clauses;
  std::vector<Variable> variables;
  std::vector<AggregationDesc> aggregations;
};

inline size_t count_locals(const std::vector<Variable>& variables) {
  const auto is_local = [](const Variable& one) { return one.scope == Scope::clause; };
  return static_cast<size_t>(std::count_if(variables.begin(), variables.end(), is_local));
}

}  // namespace dvm::dif
