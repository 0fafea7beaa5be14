#pragma once
// The stages of an account, made from stages.def.

#include <array>
#include <cstdint>
#include <string_view>

#include "dvm/vm/cost.h"

namespace dvm::runtime {

enum class Stage : uint8_t {
#define DVM_STAGE(name, text) name,
#include "runtime/probe/stages.def"
};

struct StageInfo {
  Stage id;
  std::string_view name;
  std::string_view text;
};

inline constexpr std::array kStages = {
#define DVM_STAGE(name, text) StageInfo{Stage::name, #name, text},
#include "runtime/probe/stages.def"
};

class Stages {
 public:
  vm::Tally& operator[](Stage stage) { return tallies_[static_cast<size_t>(stage)]; }
  const vm::Tally& operator[](Stage stage) const { return tallies_[static_cast<size_t>(stage)]; }

  Stages& operator+=(const Stages& more) {
    for (size_t i = 0; i < tallies_.size(); i++) tallies_[i] += more.tallies_[i];
    return *this;
  }

 private:
  std::array<vm::Tally, kStages.size()> tallies_{};
};

}  // namespace dvm::runtime
