// The table of subroutines. Covered by tests/conformance/subr.

#include "vm/subr/subr.h"

#include <array>

namespace dvm::vm {

namespace {

constexpr std::array<Subr, dif::kSubroutineCount> kSubrs = {
#define DVM_SUBR(number, name, ...)                                \
  []() -> Subr {                                                   \
    if constexpr (info(dif::Subroutine::name).unsupported.empty()) \
      return subr_##name;                                          \
    else                                                           \
      return nullptr;                                              \
  }(),
#include "vm/dif/subroutines.def"
};

}  // namespace

Subr subr_of(unsigned number) { return number < kSubrs.size() ? kSubrs[number] : nullptr; }

}  // namespace dvm::vm
