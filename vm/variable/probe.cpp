// The probe that fired, and the ECB. Covered by tests/conformance/variable.

#include "vm/state/address.h"
#include "vm/variable/getter.h"

namespace dvm::vm {

namespace {

// A name that the instrument left out reads as the empty string.
uint64_t text(const State& state, std::string_view name) {
  return address_of(name.data() ? static_cast<const void*>(name.data()) : state.variables.zeros.data());
}

}  // namespace

uint64_t var_out_of_bounds(State& state, uint64_t index) noexcept {
  state.set_fault(dif::Fault::badindex, index);
  return 0;
}

uint64_t var_epid(State& state, uint64_t) noexcept { return state.epid; }
uint64_t var_probeprov(State& state, uint64_t) noexcept { return text(state, state.firing->provider); }
uint64_t var_probemod(State& state, uint64_t) noexcept { return text(state, state.firing->module); }
uint64_t var_probefunc(State& state, uint64_t) noexcept { return text(state, state.firing->function); }
uint64_t var_probename(State& state, uint64_t) noexcept { return text(state, state.firing->name); }

}  // namespace dvm::vm
