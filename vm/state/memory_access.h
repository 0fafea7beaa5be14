#pragma once
// Turns values of DIF into pointers. Every load, store and copy is checked here against the regions that state.h lists. Loads
// from an address of the traced process (address.h) are allowed too: they work as copyin() does, through scratch if the memory
// was not captured. On failure, functions set the fault badaddr, with the address as its value, and return null or nothing. Probe
// context.

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "vm/state/address.h"
#include "vm/state/state.h"
#include "vm/state/words.h"

namespace dvm::vm {

// Bytes from an address of D memory to the end of the region it lies in; empty outside all regions.
struct Loadable {
  std::span<const std::byte> bytes;
  bool ends_string = false;  // a string may end at the end of the region, because a captured string was cut there
};
Loadable loadable(State& state, uint64_t address) noexcept;
std::span<std::byte> storable(State& state, uint64_t address) noexcept;

// A pointer to `size` bytes at the address. Null: a fault is set.
const std::byte* load_bytes(State& state, uint64_t address, uint64_t size) noexcept;
std::byte* store_bytes(State& state, uint64_t address, uint64_t size) noexcept;

// The string at an address, without its NUL, or its first `limit` bytes.
std::optional<std::string_view> string_at(State& state, uint64_t address, size_t limit) noexcept;
inline std::optional<std::string_view> string_at(State& state, uint64_t address) noexcept {
  return string_at(state, address, state.variables.strsize);
}

// Copy the bytes or string at an address, without using scratch. The room behind a string is filled with zeros.
bool copy_bytes(State& state, uint64_t address, std::span<std::byte> to) noexcept;
bool copy_string(State& state, uint64_t address, std::span<std::byte> to) noexcept;

// Copies memory of the traced process: captured memory or, if there is none, by a late read. False: not readable, or D memory.
bool read_target(State& state, uint64_t address, std::span<std::byte> to) noexcept;
// Copies bytes to the traced process. Captured memory is not used any more in this firing.
bool write_target(State& state, uint64_t address, std::span<const std::byte> from) noexcept;
// The captured bytes from this address on, of the capture that has most of them. Empty: nothing was captured there.
inline Loadable captured_at(const State& state, uint64_t address) noexcept {
  Loadable best;
  if (!state.firing || state.wrote_target) return best;
  for (const CapturedMemory& memory : state.firing->memory) {
    const uint64_t at = address - memory.address;
    if (!memory.is_file && at < memory.bytes.size() && memory.bytes.size() - at > best.bytes.size())
      best = {memory.bytes.subspan(at), memory.is_string};
  }
  return best;
}
// A captured string, without copying it. Nothing if its end, the NUL or `limit` characters, was not captured.
[[gnu::always_inline]] inline std::optional<std::string_view> captured_string(const State& state, uint64_t address,
                                                                              size_t limit) noexcept {
  const std::span<const std::byte> found = captured_at(state, address).bytes;
  if (found.empty()) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(found.data()), std::min(found.size(), limit));
  const size_t length = length_of(text);
  return length < text.size() || length == limit ? std::optional(text.substr(0, length)) : std::nullopt;
}
// Copies a string of the traced process to scratch by a late read, and ends it with a NUL.
std::optional<std::string_view> late_string(State& state, uint64_t address, size_t limit) noexcept;

// Allocates scratch, 8-aligned. Null: there is not enough, and the fault noscratch is set.
std::byte* allocate_scratch(State& state, uint64_t size) noexcept;
// A copy of the text in scratch, cut at strsize. 0: there is no room, and a fault is set.
uint64_t scratch_string(State& state, std::string_view text) noexcept;

template <class T>
uint64_t load_target(State& state, uint64_t address) noexcept {
  T value{};
  if (!read_target(state, address, std::as_writable_bytes(std::span(&value, 1)))) state.set_fault(dif::Fault::badaddr, address);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

// Addresses need not be aligned, as in DTrace on x86.
template <class T>
uint64_t load_value(State& state, uint64_t address) noexcept {
  if (!is_d_memory(address)) return load_target<T>(state, address);
  T value{};
  if (const std::byte* at = load_bytes(state, address, sizeof(T))) std::memcpy(&value, at, sizeof(T));
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

template <class T>
void store_value(State& state, uint64_t address, uint64_t value) noexcept {
  const T narrow = static_cast<T>(value);
  if (std::byte* at = store_bytes(state, address, sizeof(T))) std::memcpy(at, &narrow, sizeof(T));
}

}  // namespace dvm::vm
