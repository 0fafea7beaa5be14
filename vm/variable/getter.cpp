// The table of getters. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

#include <array>

#include "dvm/dif/variable.h"

namespace dvm::vm {

namespace {

constexpr std::array<Getter, dif::kBuiltIns.size()> kGetters = {
#define DVM_VARIABLE(id, name, dname, kind, type, family, ...)              \
  []() -> Getter {                                                          \
    if constexpr (dif::VariableFamily::family != dif::VariableFamily::none) \
      return var_##name;                                                    \
    else                                                                    \
      return nullptr;                                                       \
  }(),
#include "vm/dif/variables.def"
};

}  // namespace

unsigned built_in_position(unsigned id) {
  unsigned at = 0;
  while (at < dif::kBuiltIns.size() && static_cast<unsigned>(dif::kBuiltIns[at].id) != id) at++;
  return at;
}

Getter getter_of(unsigned id) {
  const unsigned at = built_in_position(id);
  return at < kGetters.size() ? kGetters[at] : nullptr;
}

}  // namespace dvm::vm
