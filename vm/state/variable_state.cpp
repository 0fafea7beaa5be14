// The variables of one consumer. Covered by tests/unit/vm/state_test.cpp.

#include <algorithm>
#include <iterator>

#include "dvm/vm/set_global.h"
#include "vm/state/state.h"

namespace dvm::vm {

namespace {

bool is_before(std::string_view a, std::string_view b) { return a.data() < b.data(); }

}  // namespace

VariableState::Impl::Impl(std::span<const dif::Variable> variables, const StateLimits& limits)
    : strsize(limits.strsize),
      declared(variables.begin(), variables.end()),
      globals(variables, dif::Scope::global, limits.strsize, true),
      threads(variables, dif::Scope::thread, limits.strsize, false),
      dynamic(limits.dynvarsize),
      zeros(std::max({globals.largest(), threads.largest(), limits.strsize + 1})) {}

VariableState::VariableState(std::span<const dif::Variable> variables, const StateLimits& limits)
    : impl_(std::make_unique<Impl>(variables, limits)) {}
VariableState::~VariableState() = default;

void VariableState::share_strings(std::string_view table) {
  std::vector<std::string_view>& all = impl_->strings;
  if (table.empty()) return;
  const auto at = std::upper_bound(all.begin(), all.end(), table, is_before);
  const bool is_known = at != all.begin() && std::prev(at)->data() == table.data();
  if (!is_known) all.insert(at, table);
}

uint64_t VariableState::global(uint16_t id) const noexcept {
  const VariableSlot* slot = impl_->globals.find(id);
  return slot == nullptr ? 0 : slot->value;
}

void set_global(VariableState& variables, uint16_t id, uint64_t value) noexcept {
  if (VariableSlot* slot = variables.impl().globals.find(id)) slot->value = slot->converted(value);
}

uint64_t VariableState::dynamic_drops() const { return impl_->dynamic.drops(); }
size_t VariableState::live_dynamic() const { return impl_->dynamic.live(); }

// Arrays have any keys, so each variable is looked at.
void VariableState::forget_thread(int32_t tid) noexcept {
  if (impl_->dynamic.live() == 0) return;
  bool has_arrays = false;
  for (const dif::Variable& one : impl_->declared) {
    if (one.scope != dif::Scope::thread) continue;
    has_arrays |= one.kind == dif::VariableKind::array;
    impl_->dynamic.store({static_cast<uint16_t>(one.id), true, tid, {}}, 0);
  }
  if (has_arrays) impl_->dynamic.forget_thread(tid);
}

}  // namespace dvm::vm
