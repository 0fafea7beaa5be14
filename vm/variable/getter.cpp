// The table of getters, and those of variables that are a member of the firing. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

#include <array>

#include "dvm/dif/variable.h"

namespace dvm::vm {

#define DVM_FIELD(name, member) \
  uint64_t var_##name(State& state, uint64_t) noexcept { return static_cast<uint64_t>(state.firing->member); }
#include "vm/variable/fields.def"

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
