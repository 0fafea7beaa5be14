#pragma once
// Passes the values of global variables to the instruments whose clauses read them where probes fire. Clauses in dvm change them.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "dvm/vm/state.h"
#include "runtime/backend/local/instruments.h"

namespace dvm::runtime {

class SharedGlobals {
 public:
  explicit SharedGlobals(const Instruments& instruments) : instruments_(instruments) {}

  // Adds variables, before their probes are enabled.
  void add(std::span<const uint16_t> ids, const vm::VariableState& variables) {
    for (const uint16_t id : ids) {
      if (std::any_of(all_.begin(), all_.end(), [id](const SharedGlobal& one) { return one.id == id; })) continue;
      all_.push_back({id, variables.global(id)});
      instruments_.set_global(id, all_.back().value);
    }
  }
  // Passes on changes, after each firing.
  void update(const vm::VariableState& variables) noexcept {
    for (SharedGlobal& one : all_) {
      const uint64_t value = variables.global(one.id);
      if (value == one.value) continue;
      one.value = value;
      instruments_.set_global(one.id, value);
    }
  }
  bool empty() const noexcept { return all_.empty(); }

 private:
  struct SharedGlobal {
    uint16_t id = 0;
    uint64_t value = 0;  // the value that the instruments have
  };

  const Instruments& instruments_;
  std::vector<SharedGlobal> all_;
};

}  // namespace dvm::runtime
