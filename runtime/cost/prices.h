#pragma once
// Looks up prices, and collects the rows without a price. These cost nothing; the caller reports them.

#include <optional>
#include <set>
#include <span>
#include <string>

#include "dvm/vm/path_cost.h"
#include "runtime/cost/rows.h"

namespace dvm::runtime {

class Prices {
 public:
  // execution: nothing: the default of the profile.
  explicit Prices(const vm::Profile& profile, const vm::Sizes& sizes = {}, std::optional<Execution> execution = {})
      : profile_(profile), sizes_(sizes), execution_(execution.value_or(execution_of(profile))) {}

  vm::Cost of(Row row, double bytes = 0) {
    if (const vm::Price* price = find(row)) return vm::Cost::of(*price, bytes);
    miss(execution_ == execution_of(profile_) ? row.name() : row.in(execution_).text());
    return {};
  }
  // The price of an optional row, which is not reported as missing.
  vm::Cost of_optional(Row row, double bytes = 0) const {
    const vm::Price* price = find(row);
    return price ? vm::Cost::of(*price, bytes) : vm::Cost{};
  }
  // An engine has its own prices only for rows that differ from the default engine. Null: the row has no price.
  const vm::Price* find(Row row) const {
    const vm::Price* own = profile_.find(row.in(execution_));
    return own ? own : profile_.find(row.in({EngineId{}, execution_.backend}));
  }
  void miss(const std::string& name) { missing_.insert(name); }
  vm::CostRange of(const dif::Difo& difo, std::span<const vm::InstructionCount> instructions = {}) {
    return vm::price_difo(difo, profile_, sizes_, missing_, instructions, engine_folder(execution_.engine));
  }

  const vm::Profile& profile() const { return profile_; }
  const Execution& execution() const { return execution_; }
  const vm::Sizes& sizes() const { return sizes_; }
  const std::set<std::string>& missing() const { return missing_; }

  double entered = 0;  // frames of a stack that an agent walks and that the thread has entered since the last firing
  double loaded = 0;   // share of captured memory that an agent reads without system calls

 private:
  const vm::Profile& profile_;
  vm::Sizes sizes_;
  Execution execution_;
  std::set<std::string> missing_;
};

}  // namespace dvm::runtime
