#pragma once
// Looking prices up, with those that are missing remembered: what has no price costs nothing, and whoever asks says so.

#include <set>
#include <span>
#include <string>

#include "dvm/vm/path_cost.h"

namespace dvm::runtime {

class Prices {
 public:
  explicit Prices(const vm::Profile& profile, const vm::Sizes& sizes = {}) : profile_(profile), sizes_(sizes) {}

  vm::Cost of(const std::string& row, double bytes = 0) {
    if (const vm::Price* price = profile_.find(row)) return vm::Cost::of(*price, bytes);
    missing_.insert(row);
    return {};
  }
  // Of a row that not every profile has to have.
  vm::Cost of_optional(const std::string& row, double bytes = 0) const {
    const vm::Price* price = profile_.find(row);
    return price ? vm::Cost::of(*price, bytes) : vm::Cost{};
  }
  vm::CostRange of(const dif::Difo& difo, std::span<const vm::InstructionCount> instructions = {}) {
    return vm::price_difo(difo, profile_, sizes_, missing_, instructions);
  }

  const vm::Profile& profile() const { return profile_; }
  const vm::Sizes& sizes() const { return sizes_; }
  const std::set<std::string>& missing() const { return missing_; }

 private:
  const vm::Profile& profile_;
  vm::Sizes sizes_;
  std::set<std::string> missing_;
};

}  // namespace dvm::runtime
