#pragma once
// Passes the values of global variables between dvm and the instruments whose clauses use them where probes fire. A variable that
// these clauses change is the sum of dvm's word and of what they have added.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dvm/vm/set_global.h"
#include "dvm/vm/state.h"
#include "runtime/backend/local/instruments.h"

namespace dvm::runtime {

class SharedGlobals {
 public:
  explicit SharedGlobals(const Instruments& instruments) : instruments_(instruments) {}

  // Adds variables, before their probes are enabled. Nothing if no instrument runs clauses.
  void add(std::span<const uint16_t> ids, const vm::VariableState& variables) {
    if (!instruments_.run_clauses()) return;
    for (const uint16_t id : ids) {
      if (std::any_of(all_.begin(), all_.end(), [id](const SharedGlobal& one) { return one.id == id; })) continue;
      const uint64_t value = variables.global(id);
      all_.push_back({id, value, value, 0});
      changes_.push_back({id});
      instruments_.set_global(id, value);
    }
  }
  // Passes on changes of dvm, after each firing.
  void update(const vm::VariableState& variables) noexcept {
    for (SharedGlobal& one : all_) {
      const uint64_t value = variables.global(one.id);
      if (value == one.value) continue;
      one.told += value - one.value;
      one.value = value;
      instruments_.set_global(one.id, one.told);
    }
  }
  // Takes over the changes of clauses where probes fire, before dvm runs one that may use such a variable.
  void take_changes(vm::VariableState& variables) noexcept {
    if (all_.empty() || !instruments_.take_changes(changes_)) return;
    for (size_t i = 0; i < all_.size(); i++) {
      SharedGlobal& one = all_[i];
      if (changes_[i].added == one.added) continue;
      const uint64_t before = variables.global(one.id);
      vm::set_global(variables, one.id, before + (changes_[i].added - one.added));
      one.value += variables.global(one.id) - before;
      one.added = changes_[i].added;
    }
  }
  bool empty() const noexcept { return all_.empty(); }

 private:
  struct SharedGlobal {
    uint16_t id = 0;
    uint64_t value = 0;  // as it was compared last
    uint64_t told = 0;   // dvm's word, which the instruments have
    uint64_t added = 0;  // by clauses where they fire, as dvm has taken it
  };

  const Instruments& instruments_;
  std::vector<SharedGlobal> all_;
  std::vector<GlobalChange> changes_;  // of each
};

}  // namespace dvm::runtime
