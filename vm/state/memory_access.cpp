// The regions, in the order of how often they are meant. Covered by tests/unit/vm/memory_access_test.cpp.

#include "vm/state/memory_access.h"

#include <algorithm>

#include "common/hot.h"
#include "vm/state/words.h"

namespace dvm::vm {

namespace {

// The part of a region from an address on; an empty span when the address is not inside.
template <class Byte>
std::span<Byte> from(std::span<Byte> region, uint64_t address) noexcept {
  const uint64_t at = address - address_of(region.data());
  return at < region.size() ? region.subspan(at) : std::span<Byte>{};
}

std::span<const std::byte> literals(State& state, uint64_t address) noexcept {
  return state.difo ? from(std::as_bytes(std::span(state.difo->strings)), address) : std::span<const std::byte>{};
}

// Of the tables, which do not overlap, the last that begins at the address or before it.
std::span<const std::byte> shared_string(const State& state, uint64_t address) noexcept {
  const auto& all = state.variables.strings;
  auto it = std::upper_bound(all.begin(), all.end(), address,
                             [](uint64_t at, std::string_view table) { return at < address_of(table.data()); });
  return it == all.begin() ? std::span<const std::byte>{} : from(std::as_bytes(std::span(*--it)), address);
}

std::span<const std::byte> read_only(State& state, uint64_t address) noexcept {
  if (const auto found = literals(state, address); !found.empty()) return found;
  if (const auto found = from(std::span<const std::byte>(state.variables.zeros), address); !found.empty()) return found;
  return shared_string(state, address);
}

std::span<const std::byte> names(const Firing& firing, uint64_t address) noexcept {
  for (const std::string_view name : {firing.function, firing.execname, firing.name, firing.module, firing.provider}) {
    if (name.data() == nullptr) continue;
    const std::span<const char> with_nul(name.data(), name.size() + 1);
    if (const auto found = from(std::as_bytes(with_nul), address); !found.empty()) return found;
  }
  return {};
}

// Bytes of the traced process that stay where they are until the clause ends.
const std::byte* target_bytes(State& state, uint64_t address, uint64_t size) noexcept {
  if (const auto found = captured_at(state, address).bytes; found.size() >= size) return found.data();
  std::byte* to = address == 0 ? nullptr : allocate_scratch(state, size);
  if (to && read_target(state, address, {to, size})) return to;
  state.set_fault(dif::Fault::badaddr, address);
  return nullptr;
}

std::optional<std::string_view> target_string(State& state, uint64_t address, size_t limit) noexcept {
  const auto captured = captured_string(state, address, limit);
  return captured ? captured : late_string(state, address, limit);
}

// Strings lie in the string table, in scratch, in a variable, or among the names of the firing. Short of these, anywhere.
DVM_HOT Loadable string_region(State& state, uint64_t address) noexcept {
  if (const auto found = literals(state, address); !found.empty()) return {found, false};
  for (const std::span<std::byte> region : {state.scratch.used(), state.variables.globals.storage(), state.locals.storage()})
    if (const auto found = from(region, address); !found.empty()) return {found, false};
  if (state.firing)
    if (const auto found = names(*state.firing, address); !found.empty()) return {found, false};
  return {};
}

// Apart, so that the usual way saves no registers.
[[gnu::noinline]] DVM_HOT size_t copy_found_in_words(State& state, uint64_t address, size_t most, std::byte* to) noexcept {
  const auto found = string_at(state, address);
  return found ? store_in_words(found->substr(0, most), to) : 0;
}

}  // namespace

std::span<std::byte> storable(State& state, uint64_t address) noexcept {
  for (const std::span<std::byte> region :
       {state.scratch.used(), state.variables.globals.storage(), state.locals.storage(), state.variables.dynamic.memory()})
    if (const auto found = from(region, address); !found.empty()) return found;
  return {};
}

DVM_HOT Loadable loadable(State& state, uint64_t address) noexcept {
  if (const auto found = storable(state, address); !found.empty()) return {found, false};
  if (const auto found = read_only(state, address); !found.empty()) return {found, false};
  if (!state.firing) return {};
  for (const CapturedMemory& memory : state.firing->memory)
    if (const auto found = from(memory.bytes, address); !found.empty()) return {found, memory.is_string};
  return {names(*state.firing, address), false};
}

const std::byte* load_bytes(State& state, uint64_t address, uint64_t size) noexcept {
  if (size == 0) return state.variables.zeros.data();
  if (!is_d_memory(address)) [[unlikely]]
    return target_bytes(state, address, size);
  const auto found = loadable(state, address).bytes;
  if (found.size() >= size) return found.data();
  state.set_fault(dif::Fault::badaddr, address);
  return nullptr;
}

std::byte* store_bytes(State& state, uint64_t address, uint64_t size) noexcept {
  const auto found = storable(state, address);
  if (!found.empty() && found.size() >= size) return found.data();
  state.set_fault(dif::Fault::badaddr, address);
  return nullptr;
}

DVM_HOT std::optional<std::string_view> string_at(State& state, uint64_t address, size_t limit) noexcept {
  if (!is_d_memory(address)) [[unlikely]]
    return target_string(state, address, limit);
  if (address == address_of(state.text)) return std::string_view(state.text, std::min(state.text_size, limit));
  Loadable found = string_region(state, address);
  if (found.bytes.empty()) found = loadable(state, address);
  const size_t length = std::min(limit, found.bytes.size());
  if (length != 0 || (limit == 0 && !found.bytes.empty())) {
    const char* text = reinterpret_cast<const char*>(found.bytes.data());
    const void* nul = std::memchr(text, 0, length);
    if (nul) return std::string_view(text, static_cast<size_t>(static_cast<const char*>(nul) - text));
    if (length == limit || found.ends_string) return std::string_view(text, length);
  }
  state.set_fault(dif::Fault::badaddr, address);
  return std::nullopt;
}

bool read_target(State& state, uint64_t address, std::span<std::byte> to) noexcept {
  if (address == 0 || is_d_memory(address)) return to.empty();
  if (const auto found = captured_at(state, address).bytes; found.size() >= to.size()) {
    if (!to.empty()) std::memcpy(to.data(), found.data(), to.size());
    return true;
  }
  return state.host != nullptr && state.host->read(address, to);
}

bool write_target(State& state, uint64_t address, std::span<const std::byte> from) noexcept {
  if (from.empty()) return true;
  state.wrote_target = true;
  if (address != 0 && !is_d_memory(address) && state.host != nullptr && state.host->write(address, from)) return true;
  state.set_fault(dif::Fault::badaddr, address);
  return false;
}

std::optional<std::string_view> late_string(State& state, uint64_t address, size_t limit) noexcept {
  std::byte* to = allocate_scratch(state, limit + 1);
  if (!to) return std::nullopt;
  const std::span text(reinterpret_cast<char*>(to), limit);
  const bool possible = address != 0 && !is_d_memory(address) && state.host != nullptr;
  const std::ptrdiff_t read = possible ? state.host->read_string(address, text) : -1;
  if (read < 0) {
    state.set_fault(dif::Fault::badaddr, address);
    return std::nullopt;
  }
  const size_t size = std::min(static_cast<size_t>(read), limit);
  to[size] = std::byte{0};
  state.scratch.trim(to + size + 1);
  return std::string_view(text.data(), size);
}

bool copy_bytes(State& state, uint64_t address, std::span<std::byte> to) noexcept {
  if (!is_d_memory(address)) {
    if (read_target(state, address, to)) return true;
    state.set_fault(dif::Fault::badaddr, address);
    return false;
  }
  const std::byte* from = load_bytes(state, address, to.size());
  if (from && !to.empty()) std::memmove(to.data(), from, to.size());
  return from != nullptr;
}

bool copy_string(State& state, uint64_t address, std::span<std::byte> to) noexcept {
  const auto text = string_at(state, address);
  if (!text) return false;
  const size_t size = std::min(text->size(), to.size());
  if (size != 0) std::memcpy(to.data(), text->data(), size);
  if (size < to.size()) to[size] = std::byte{0};
  return true;
}

std::byte* allocate_scratch(State& state, uint64_t size) noexcept {
  std::byte* at = state.scratch.allocate(size);
  if (!at) state.set_fault(dif::Fault::noscratch);
  return at;
}

uint64_t scratch_string(State& state, std::string_view text) noexcept {
  text = text.substr(0, state.variables.strsize);
  std::byte* at = allocate_scratch(state, text.size() + 1);
  if (!at) return 0;
  if (!text.empty()) std::memcpy(at, text.data(), text.size());
  at[text.size()] = std::byte{0};
  return address_of(at);
}

// The public functions of MachineState.
bool MachineState::copy_string(uint64_t value, std::span<std::byte> to) noexcept { return vm::copy_string(*impl_, value, to); }
size_t MachineState::copy_string_in_words(uint64_t value, size_t most, std::byte* to) noexcept {
  const State& state = *impl_;
  if (state.text != nullptr && value == address_of(state.text)) [[likely]]
    return store_in_words({state.text, std::min(state.text_size, most)}, to);
  return copy_found_in_words(*impl_, value, most, to);
}

bool MachineState::copy_bytes(uint64_t value, std::span<std::byte> to) noexcept { return vm::copy_bytes(*impl_, value, to); }

}  // namespace dvm::vm
