// Numbers and their text. Covered by tests/conformance/subr.

#include <iterator>

#include "vm/subr/subr.h"

namespace dvm::vm {

namespace {

constexpr unsigned kMaxBase = 36;

// Value of a digit, or kMaxBase when it is none.
unsigned digit_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A') + 10;
  return kMaxBase;
}

// The optional base, 10 without it; 0 and the fault illop when there is no such base.
unsigned base_argument(State& state) noexcept {
  if (argument_count(state) < 2) return 10;
  const uint64_t base = argument(state, 1);
  if (base >= 2 && base <= kMaxBase) return static_cast<unsigned>(base);
  state.set_fault(dif::Fault::illop);
  return 0;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

uint64_t digits_value(std::string_view text, unsigned base) {
  uint64_t value = 0;
  for (const char c : text) {
    const unsigned digit = digit_value(c);
    if (digit >= base) break;
    value = value * base + digit;
  }
  return value;
}

}  // namespace

// A generator that depends on nothing but the firings, so that a recording replays the same.
uint64_t subr_rand(State& state) noexcept {
  uint64_t z = state.random += 0x9e3779b97f4a7c15u + state.firing->timestamp;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return (z ^ z >> 31) >> 32;
}

// Only base 10 knows a sign; 16 is written with 0x and 8 with 0 before it.
uint64_t subr_lltostr(State& state) noexcept {
  const unsigned base = base_argument(state);
  if (base == 0) return 0;
  const bool negative = base == 10 && signed_argument(state, 0) < 0;
  uint64_t value = negative ? 0 - argument(state, 0) : argument(state, 0);
  const bool octal = base == 8 && value != 0;
  char buffer[68];
  char* at = std::end(buffer);
  do *--at = "0123456789abcdefghijklmnopqrstuvwxyz"[value % base];
  while ((value /= base) != 0);
  if (base == 16) *--at = 'x';
  if (base == 16 || octal) *--at = '0';
  if (negative) *--at = '-';
  return scratch_string(state, {at, static_cast<size_t>(std::end(buffer) - at)});
}

uint64_t subr_strtoll(State& state) noexcept {
  const unsigned base = base_argument(state);
  const auto whole = base ? string_argument(state, 0) : std::nullopt;
  if (!whole) return 0;
  std::string_view text = *whole;
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  const uint64_t value = digits_value(text, base);
  return negative ? 0 - value : value;
}

uint64_t subr_progenyof(State& state) noexcept {
  return state.host->descends_from(static_cast<int32_t>(argument(state, 0))) ? 1 : 0;
}

// Device numbers as the kernel packs them into 32 bits: the lower 20 are the minor number.
uint64_t subr_getmajor(State& state) noexcept { return (argument(state, 0) & 0xffffffff) >> 20; }

uint64_t subr_getminor(State& state) noexcept { return argument(state, 0) & 0xfffff; }

}  // namespace dvm::vm
