// The table of getters. Covered by tests/conformance/variable.

#include "vm/variable/getter.h"

#include <array>

#include "dvm/dif/variable.h"

namespace dvm::vm {

namespace {

#define DVM_GETTER_none(name) nullptr
#define DVM_GETTER_args(name) var_##name
#define DVM_GETTER_regs(name) var_##name
#define DVM_GETTER_clock(name) var_##name
#define DVM_GETTER_probe(name) var_##name
#define DVM_GETTER_process(name) var_##name
#define DVM_GETTER_kernel(name) var_##name
constexpr std::array<Getter, dif::kBuiltIns.size()> kGetters = {
#define DVM_VARIABLE(id, name, dname, kind, type, family, text) DVM_GETTER_##family(name),
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
