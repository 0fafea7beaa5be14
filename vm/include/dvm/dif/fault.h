#pragma once
// Faults, made from vm/dif/faults.def.

#include <array>
#include <cstdint>
#include <string_view>

namespace dvm::dif {

enum class Fault : uint8_t {
#define DVM_FAULT(number, name, message, text) name = number,
#include "vm/dif/faults.def"
};

struct FaultInfo {
  Fault id;
  std::string_view name;
  std::string_view message;
  std::string_view text;
};

inline constexpr std::array kFaults = {
#define DVM_FAULT(number, name, message, text) FaultInfo{Fault::name, #name, message, text},
#include "vm/dif/faults.def"
};

// The row of a fault; for an unknown number, the row "none".
constexpr const FaultInfo& info(Fault fault) {
  for (const FaultInfo& row : kFaults)
    if (row.id == fault) return row;
  return kFaults[0];
}

}  // namespace dvm::dif
