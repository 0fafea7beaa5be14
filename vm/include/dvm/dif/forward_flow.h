#pragma once
// Forward data flow over the text of a DIFO. Branches only go forward, so one pass in the order of the text sees every path to an
// instruction before the instruction itself. The DIFO need not be verified: branches that go back or outside are ignored.
//
// An analysis is an object with two or three functions:
//
//   void step(State& state, Instruction in, size_t pc)
//       Turns the state before an instruction into that after it.
//   void join(State& into, const State& from, size_t pc)
//       Merges states of two paths that meet before pc. `from` is that of the later instruction.
//   void split(State& next, State& taken, Instruction in, size_t pc)
//       Optional. At a conditional branch, refines the states of the path that does not take it and of the one that does.
//
// Instructions that no path reaches are not visited.

#include <map>
#include <utility>

#include "dvm/dif/difo.h"

namespace dvm::dif {

// Applies an instruction to a model of the tuple stack. pushed() makes the entry that a push adds. Overflow and underflow are
// ignored.
template <class Entries, class Pushed>
void use_tuple(Entries& entries, Instruction in, Pushed pushed) {
  switch (info(in.opcode()).tuple) {
    case TupleUse::push:
      if (entries.size() < kTupleDepth) entries.push_back(pushed());
      return;
    case TupleUse::pop:
      if (!entries.empty()) entries.pop_back();
      return;
    case TupleUse::clear:
    case TupleUse::arguments:
      entries.clear();
      return;
    case TupleUse::none:
    case TupleUse::key:
      return;
  }
}

template <class State, class Analysis>
void flow_forward(const Difo& difo, State start, Analysis& analysis) {
  State here = std::move(start);
  bool is_reached = true;
  std::map<size_t, State> waiting;  // by the target of a branch that was passed
  for (size_t pc = 0; pc < difo.text.size(); pc++) {
    if (const auto first = waiting.begin(); first != waiting.end() && first->first == pc) {
      if (is_reached) analysis.join(first->second, here, pc);
      here = std::move(first->second);
      is_reached = true;
      waiting.erase(first);
    }
    if (!is_reached) continue;
    const Instruction in = difo.text[pc];
    analysis.step(here, in, pc);
    if (is_branch(in) && in.label() > pc && in.label() < difo.text.size()) {
      State taken = here;
      if constexpr (requires { analysis.split(here, taken, in, pc); })
        if (is_conditional(in)) analysis.split(here, taken, in, pc);
      const auto [known, is_new] = waiting.try_emplace(in.label(), std::move(taken));
      if (!is_new) analysis.join(known->second, taken, in.label());
    }
    is_reached = goes_on(in);
  }
}

}  // namespace dvm::dif
