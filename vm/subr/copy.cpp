// Memory: scratch, and that of the traced process as it was captured, or else its present contents. Covered by
// tests/conformance/subr.

#include <algorithm>
#include <cstring>
#include <span>

#include "vm/subr/subr.h"

namespace dvm::vm {

namespace {

// A length, and strsize too, counts the NUL.
size_t characters_of(uint64_t length, size_t strsize) {
  const uint64_t bytes = std::min<uint64_t>(length, strsize);
  return bytes == 0 ? 0 : bytes - 1;
}

// Scratch of a size that the script has chosen, with room for something behind it.
std::byte* request_scratch(State& state, uint64_t size, uint64_t behind) noexcept {
  if (state.scratch.request(size)) return allocate_scratch(state, std::max(size, size + behind));
  state.set_fault(dif::Fault::noscratch);
  return nullptr;
}

// What is cut by a length of its own must end there for every reader.
[[gnu::noinline]] uint64_t address_of_cut(State& state, std::string_view text) noexcept {
  return text.size() < state.variables.strsize ? scratch_string(state, text) : address_of(text.data());
}

[[gnu::noinline]] uint64_t late_copy(State& state, uint64_t address, size_t limit) noexcept {
  const auto text = late_string(state, address, limit);
  if (!text) return 0;
  state.units += text->size() + 1;
  return address_of(text->data());
}

// Copies memory of the traced process to a place that may be written.
bool copy_target(State& state, uint64_t address, std::byte* to, uint64_t size) noexcept {
  if (read_target(state, address, {to, size})) {
    state.units += size;
    return true;
  }
  state.set_fault(dif::Fault::badaddr, address);
  return false;
}

}  // namespace

uint64_t subr_alloca(State& state) noexcept { return address_of(request_scratch(state, argument(state, 0), 0)); }

uint64_t subr_copyin(State& state) noexcept {
  const uint64_t size = argument(state, 1);
  std::byte* to = request_scratch(state, size, 1);
  if (!to || !copy_target(state, argument(state, 0), to, size)) return 0;
  to[size] = std::byte{0};  // stringof(copyin(buffer, size)) ends with the copy, not with what scratch held before
  return address_of(to);
}

uint64_t subr_copyinstr(State& state) noexcept {
  const uint64_t address = argument(state, 0);
  const size_t strsize = state.variables.strsize;
  const size_t limit = characters_of(argument_count(state) > 1 ? argument(state, 1) : strsize, strsize);
  const auto captured = captured_string(state, address, limit);
  if (!captured) return late_copy(state, address, limit);
  state.units += captured->size() + 1;
  if (captured->size() == limit) return address_of_cut(state, *captured);
  state.text = captured->data(), state.text_size = captured->size();
  return address_of(captured->data());
}

uint64_t subr_copyinto(State& state) noexcept {
  const uint64_t size = argument(state, 1);
  if (size == 0) return 0;
  std::byte* to = store_bytes(state, argument(state, 2), size);
  if (to) copy_target(state, argument(state, 0), to, size);
  return 0;
}

uint64_t subr_copyout(State& state) noexcept {
  const uint64_t size = argument(state, 2);
  const std::byte* from = load_bytes(state, argument(state, 0), size);
  if (from && write_target(state, argument(state, 1), {from, size})) state.units += size;
  return 0;
}

// The NUL is written too, if there is room for it.
uint64_t subr_copyoutstr(State& state) noexcept {
  const auto text = string_argument(state, 0);
  std::byte* with_nul = text ? allocate_scratch(state, text->size() + 1) : nullptr;
  if (!with_nul) return 0;
  if (!text->empty()) std::memcpy(with_nul, text->data(), text->size());
  with_nul[text->size()] = std::byte{0};
  write_target(state, argument(state, 1), {with_nul, std::min<uint64_t>(text->size() + 1, argument(state, 2))});
  return 0;
}

uint64_t subr_bcopy(State& state) noexcept {
  const uint64_t size = argument(state, 2);
  if (size == 0) return 0;
  const std::byte* from = load_bytes(state, argument(state, 0), size);
  std::byte* to = from ? store_bytes(state, argument(state, 1), size) : nullptr;
  if (!to) return 0;
  std::memmove(to, from, size);
  state.units += size;
  return 0;
}

// The stack has the form that runtime/probe/actions.h records.
uint64_t subr_dvm_ustack(State& state) noexcept {
  const uint64_t frames = std::min<uint64_t>(argument(state, 0), UINT32_MAX), size = (frames + 1) * sizeof(uint64_t);
  std::byte* to = request_scratch(state, size, 0);
  if (!to) return 0;
  const auto pid = static_cast<uint64_t>(state.firing->pid);
  const std::span<const uint64_t> stack = state.firing->user_stack().first(std::min(state.firing->user_stack().size(), frames));
  std::memset(to, 0, size);
  std::memcpy(to, &pid, sizeof(pid));
  if (!stack.empty()) std::memcpy(to + sizeof(pid), stack.data(), stack.size_bytes());
  return address_of(to);
}

}  // namespace dvm::vm
