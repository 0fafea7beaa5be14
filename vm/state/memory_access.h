#pragma once
// Values to pointers: every load, store and copy that DIF asks for is checked here against the regions of machine_state.h.
// An address of the traced process (address.h) can be loaded from too: it is read as copyin() does, into scratch if nothing was
// captured there. What fails sets the fault badaddr with the address as its value and returns null or nothing. Probe context.

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

// Copies what load_bytes() and string_at() would point to, without their way through scratch; a string ends with as many zeros
// as it leaves room.
bool copy_bytes(State& state, uint64_t address, std::span<std::byte> to) noexcept;
bool copy_string(State& state, uint64_t address, std::span<std::byte> to) noexcept;

// Memory of the traced process: what was captured, else a late read. False: not readable, or D memory.
bool read_target(State& state, uint64_t address, std::span<std::byte> to) noexcept;
// Copies bytes to the traced process. What was captured of it is not looked at again in this firing.
bool write_target(State& state, uint64_t address, std::span<const std::byte> from) noexcept;
// The captured bytes from this address on, the most that any one capture holds; empty if there are none.
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
// A captured string that can be handed out where it lies: it ends where a string of at most `limit` characters would.
[[gnu::always_inline]] inline std::optional<std::string_view> captured_string(const State& state, uint64_t address,
                                                                              size_t limit) noexcept {
  const std::span<const std::byte> found = captured_at(state, address).bytes;
  if (found.empty()) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(found.data()), std::min(found.size(), limit));
  const size_t length = length_of(text);
  return length < text.size() || length == limit ? std::optional(text.substr(0, length)) : std::nullopt;
}
// Reads the string now, into scratch, with a NUL behind it.
std::optional<std::string_view> late_string(State& state, uint64_t address, size_t limit) noexcept;

// 8-aligned scratch; null and the fault noscratch when there is none left.
std::byte* allocate_scratch(State& state, uint64_t size) noexcept;
// A copy of the text in scratch, cut at strsize; 0 and a fault when there is no room.
uint64_t scratch_string(State& state, std::string_view text) noexcept;

template <class T>
uint64_t load_target(State& state, uint64_t address) noexcept {
  T value{};
  if (!read_target(state, address, std::as_writable_bytes(std::span(&value, 1)))) state.set_fault(dif::Fault::badaddr, address);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

// No address needs to be aligned, as with DTrace on x86.
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
