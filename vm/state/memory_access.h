#pragma once
// Values to pointers: every load, store and copy that DIF asks for is checked here against the regions of machine_state.h.
// What fails sets the fault badaddr with the address as its value and returns null or nothing. Probe context.

#include <cstring>
#include <optional>
#include <string_view>

#include "vm/state/machine_state.h"

namespace dvm::vm {

// Bytes from an address to the end of the region it lies in; empty outside all regions.
struct Loadable {
  std::span<const std::byte> bytes;
  bool ends_string = false;  // the end of the region ends a string too, as where a captured string was cut
};
Loadable loadable(State& state, uint64_t address) noexcept;
std::span<std::byte> storable(State& state, uint64_t address) noexcept;

// The address as a pointer to so many bytes, or null and a fault.
const std::byte* load_bytes(State& state, uint64_t address, uint64_t size) noexcept;
std::byte* store_bytes(State& state, uint64_t address, uint64_t size) noexcept;

// The string at an address, without its NUL: it ends there or after `limit` bytes.
std::optional<std::string_view> string_at(State& state, uint64_t address, size_t limit) noexcept;
inline std::optional<std::string_view> string_at(State& state, uint64_t address) noexcept {
  return string_at(state, address, state.variables.strsize);
}

// Memory of the traced process: what was captured, else a late read.
bool read_target(State& state, uint64_t address, std::span<std::byte> to) noexcept;
// The captured bytes from this address on, the most that any one capture holds; empty if there are none.
Loadable captured_at(const State& state, uint64_t address) noexcept;

// 8-aligned scratch; null and the fault noscratch when there is none left.
std::byte* allocate_scratch(State& state, uint64_t size) noexcept;
// A copy of the text in scratch, cut at strsize; 0 and a fault when there is no room.
uint64_t scratch_string(State& state, std::string_view text) noexcept;

template <class T>
uint64_t load_value(State& state, uint64_t address) noexcept {
  if (address % sizeof(T) != 0) {
    state.set_fault(dif::Fault::badalign, address);
    return 0;
  }
  T value{};
  if (const std::byte* at = load_bytes(state, address, sizeof(T))) std::memcpy(&value, at, sizeof(T));
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

template <class T>
void store_value(State& state, uint64_t address, uint64_t value) noexcept {
  if (address % sizeof(T) != 0) return state.set_fault(dif::Fault::badalign, address);
  const T narrow = static_cast<T>(value);
  if (std::byte* at = store_bytes(state, address, sizeof(T))) std::memcpy(at, &narrow, sizeof(T));
}

template <class T>
uint64_t load_target(State& state, uint64_t address) noexcept {
  T value{};
  if (!read_target(state, address, std::as_writable_bytes(std::span(&value, 1)))) state.set_fault(dif::Fault::badaddr, address);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

}  // namespace dvm::vm
