#pragma once
// The order of what a clause does in the thread: its values that may fail, its record, and its changes of variables.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "dvm/dif/difo.h"
#include "runtime/agent/agent_site.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

using UsedVariable = std::pair<std::optional<dif::Scope>, unsigned>;  // and its id

inline bool loads_variable(dif::Instruction in) { return dif::has_format(in, dif::Format::ldv); }
inline bool stores_variable(dif::Instruction in) { return dif::has_format(in, dif::Format::stv); }
inline UsedVariable variable_used_by(dif::Instruction in) { return {dif::info(in.opcode()).scope, in.index()}; }

// Steps that may fail. dvm then runs the clause again, from its predicate on, up to the same fault.
struct ClauseFaults {
  ClauseFaults() = default;
  ClauseFaults(const SiteClause& clause, bool has_plan) : has_record(clause.fault && has_plan) {
    if (clause.predicate) note(*clause.predicate->difo);
  }
  bool can_fail() const { return has_record && !has_effect; }
  // It is computed next. Another run must not find a variable changed that it reads before it changes it.
  void note(const dif::Difo& difo) {
    for (const dif::Instruction in : difo.text) {
      if (loads_variable(in)) loaded.insert(variable_used_by(in));
      has_effect |= stores_variable(in) && loaded.contains(variable_used_by(in));
    }
  }
  void note_step(size_t step) {
    if (std::exchange(is_at_step, false)) steps.push_back(step);
  }

  std::vector<size_t> steps;
  bool is_at_step = false;  // which is about to be added
  bool has_record = false, has_effect = false;
  std::set<UsedVariable> loaded;
};

// The steps that follow the record of a clause, because they change variables that it has.
struct BehindRecord {
  // True if the DIFO changes such a variable, or must not be evaluated before what is here.
  bool takes(const dif::Difo& difo, const std::vector<dif::Variable>& recorded) {
    bool does = false;
    for (const dif::Instruction in : difo.text) {
      if (loads_variable(in)) does |= changed.contains(variable_used_by(in));
      if (stores_variable(in))
        does |= changed.contains(variable_used_by(in)) || loaded.contains(variable_used_by(in)) || is_of(recorded, in);
    }
    for (const dif::Instruction in : difo.text) {
      if (does && loads_variable(in)) loaded.insert(variable_used_by(in));
      if (does && stores_variable(in)) changed.insert(variable_used_by(in));
    }
    return does;
  }

  std::vector<AgentStep> steps;
  std::set<UsedVariable> changed, loaded;

 private:
  static bool is_of(const std::vector<dif::Variable>& all, dif::Instruction in) {
    return std::any_of(all.begin(), all.end(),
                       [&](const dif::Variable& one) { return variable_used_by(in) == UsedVariable(one.scope, one.id); });
  }
};

}  // namespace dvm::runtime
