// The thread that fired and its process. Covered by tests/conformance/variable.

#include "vm/state/address.h"
#include "vm/state/memory_access.h"
#include "vm/variable/getter.h"

namespace dvm::vm {

namespace {

constexpr uint64_t kPerProcess = 16;  // elements of dvm_proc_number[] and dvm_proc_text[]

uint64_t extend(int64_t value) { return static_cast<uint64_t>(value); }

uint64_t path(State& state, std::string_view known) { return scratch_string(state, known.empty() ? "<unknown>" : known); }

}  // namespace

uint64_t var_ppid(State& state, uint64_t) noexcept { return extend(state.host->ppid()); }
uint64_t var_uid(State& state, uint64_t) noexcept { return extend(state.host->uid()); }
uint64_t var_gid(State& state, uint64_t) noexcept { return extend(state.host->gid()); }

uint64_t var_process_ids(State& state, uint64_t index) noexcept { return extend(state.host->process_number(index)); }

uint64_t var_file_number(State& state, uint64_t index) noexcept { return extend(state.host->file_number(index)); }
uint64_t var_file_text(State& state, uint64_t index) noexcept {
  const std::string_view text = state.host->file_text(index);
  return scratch_string(state, text.empty() ? "<none>" : text);
}

uint64_t var_proc_number(State& state, uint64_t index) noexcept {
  const int64_t number = state.host->proc_number(index);
  if (number == Host::kNoNumber) state.set_fault(dif::Fault::badaddr, index / kPerProcess);
  return extend(number);
}
uint64_t var_proc_text(State& state, uint64_t index) noexcept {
  const std::string_view text = state.host->proc_text(index);
  if (text.data() == nullptr) state.set_fault(dif::Fault::badaddr, index / kPerProcess);
  return scratch_string(state, text);
}

uint64_t var_execname(State& state, uint64_t) noexcept {
  const char* name = state.firing->execname.data();
  return address_of(name ? static_cast<const void*>(name) : state.variables.zeros.data());
}

uint64_t var_cwd(State& state, uint64_t) noexcept { return path(state, state.host->working_directory()); }
uint64_t var_root(State& state, uint64_t) noexcept { return path(state, state.host->root_directory()); }
uint64_t var_zonename(State& state, uint64_t) noexcept { return scratch_string(state, "global"); }
uint64_t var_chip(State& state, uint64_t) noexcept { return extend(state.host->chip_of(state.firing->cpu)); }
uint64_t var_lgrp(State& state, uint64_t) noexcept { return extend(state.host->node_of(state.firing->cpu)); }

uint64_t var_execargs(State& state, uint64_t index) noexcept {
  const std::string_view line = state.host->command_line();
  return line.empty() ? var_execname(state, index) : scratch_string(state, line);
}

}  // namespace dvm::vm
