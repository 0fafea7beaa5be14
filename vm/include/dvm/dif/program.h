#pragma once
// What the compiler hands to the runtime: an enabling, as descriptions. What is "Desc" describes; without it, it lives
// (runtime/).
//
//   Program ── clauses: EcbDesc ── probes: ProbeDesc ...       every probe that matches gets an ECB made from the clause
//          │                    ├─ predicate: PredDesc?
//          │                    └─ actions: ActDesc ... ── args: RecDesc ...   one DIFO a recorded or key value
//          ├─ variables        every user variable of the whole session, for the size of variable state
//          └─ aggregations     every aggregation by id

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dvm/dif/action.h"
#include "dvm/dif/difo.h"
#include "dvm/dif/layout.h"

namespace dvm::dif {

// provider:module:function:name; an empty field matches everything, fields may hold globs (* ? [...]).
struct ProbeDesc {
  std::string provider, module, function, name;
};

// Where in the source something came from, for listings and messages at run time. Lines count from 1.
struct SourcePosition {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;
};

struct PredDesc {
  Difo difo;
};

// A value that an action records (or a key, or an aggregation's value): the DIFO that makes it and its type, difo.result.
// The ECB gives it its place: scalars at their natural alignment, strings strsize bytes, bytes `size`.
//
// Or what another action makes of it: a stack (no DIFO; its frames, 0 as the options say, and bytes for the strings of ustack) or
// the symbol of an address (usym, uaddr, umod, ufunc, sym, func, mod: of the DIFO's value).
struct RecDesc {
  Difo difo;
  Action made_by = Action::expression;
  uint32_t frames = 0;
  uint32_t strsize = 0;
};

// One action of a clause.
//   trace, exit, expression     args[0]
//   stacks and symbols          args[0], made by the action
//   tracemem                    args[0] the bytes at the address, whose type says how many at most; args[1] how many, if given
//   print                       args[0]; layout: how its type is made up
//   printf, printa with format  format; printf: args in the order of the conversions
//   aggregating function        aggregation; args[0 .. key_count) the keys, then the value (count: none), then the increment if
//   any;
//                               parameters: lquantize base, limit, step; llquantize factor, low, high, steps
//   printa, clear, denormalize  aggregations
//   trunc                       aggregations[0]; args[0] if a count was given, evaluated at the firing
//   normalize                   aggregations[0]; args[0] the divisor, evaluated at the firing
struct ActDesc {
  Action kind = Action::expression;
  std::vector<RecDesc> args;
  std::string format;
  bool has_format = false;
  std::vector<uint32_t> aggregations;  // ids
  unsigned key_count = 0;
  std::vector<int64_t> parameters;
  Layout layout;
  SourcePosition position;
};

struct EcbDesc {
  std::vector<ProbeDesc> probes;
  std::optional<PredDesc> predicate;
  std::vector<ActDesc> actions;  // none: the clause has DTrace's default action, it records that it fired
  SourcePosition position;
};

// An aggregation as declared by its first use. Ids count from 1 in the order of appearance.
struct AggregationDesc {
  uint32_t id = 0;
  std::string name;  // without the @; empty for the anonymous one
  Action function = Action::agg_count;
  std::vector<DataType> keys;
  std::vector<Action> key_makers;  // of the keys, as RecDesc::made_by; empty until it is enabled
  std::vector<int64_t> parameters;
  DataType value;  // type of the aggregated expression: signed or not decides how min, max, sum print
};

struct Program {
  std::vector<EcbDesc> clauses;
  std::vector<Variable> variables;
  std::vector<AggregationDesc> aggregations;
};

}  // namespace dvm::dif
