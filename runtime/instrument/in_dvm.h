#pragma once
// The reasons why clauses run in dvm and not where their probe fires, made from in_dvm.def.

#include <cstdint>
#include <string_view>

namespace dvm::runtime {

enum class InDvm : uint8_t {
  nothing,  // they run where the probe fires
#define DVM_IN_DVM(name, text) name,
#include "runtime/instrument/in_dvm.def"
};

// Empty: nothing.
constexpr std::string_view text_of(InDvm reason) {
  constexpr std::string_view kTexts[] = {
      "",
#define DVM_IN_DVM(name, text) text,
#include "runtime/instrument/in_dvm.def"
  };
  return kTexts[static_cast<unsigned>(reason)];
}

}  // namespace dvm::runtime
