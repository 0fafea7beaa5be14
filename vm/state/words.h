#pragma once
// Reads and writes text in words of 8 bytes, for speed. Probe context.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace dvm::vm {

template <class Integer>
uint64_t loaded(const char* from) noexcept {
  Integer value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// The last `rest` bytes (0 to 7) of a text as a word, padded with zeros. Reads nothing beyond the text.
inline uint64_t last_word(std::string_view text, size_t rest) noexcept {
  if (rest == 0) return 0;
  const char* end = text.data() + text.size();
  if (text.size() >= 8) return loaded<uint64_t>(end - 8) >> (64 - 8 * rest);
  if (rest >= 4) return loaded<uint32_t>(end - rest) | loaded<uint32_t>(end - 4) << (8 * (rest - 4));
  const char* begin = end - rest;
  return loaded<uint8_t>(begin) | loaded<uint8_t>(begin + rest / 2) << (8 * (rest / 2)) |
         loaded<uint8_t>(end - 1) << (8 * (rest - 1));
}

// The position of the first NUL from `at` on, or the size of the text.
[[gnu::noinline]] inline size_t length_from(std::string_view text, size_t at) noexcept {
  return std::min(text.size(), text.find('\0', at));
}

// The number of bytes before the first NUL, or the size of the text. Most texts are so short that a call of memchr() costs more.
[[gnu::always_inline]] inline size_t length_of(std::string_view text) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  constexpr size_t kShort = 64;
  const auto first_zero = [](uint64_t word) { return (word - kOnes) & ~word & kTops; };
  size_t at = 0;
  for (const size_t end = text.size() / 8 * 8; at < end; at += 8) {
    if (const uint64_t found = first_zero(loaded<uint64_t>(text.data() + at)); found != 0)
      return at + static_cast<size_t>(std::countr_zero(found)) / 8;
    if (at == kShort) return length_from(text, at);
  }
  const uint64_t last = last_word(text, text.size() - at);  // has a zero behind the text
  return at + static_cast<size_t>(std::countr_zero(first_zero(last))) / 8;
}

// Writes a text, at least one zero, and further zeros up to a whole word. Returns the number of bytes written. It writes whole
// words, because they are read again at once: store forwarding fails for a word that was written in pieces.
inline size_t store_in_words(std::string_view text, std::byte* to) noexcept {
  const size_t rest = text.size() % 8, whole = text.size() - rest;
  for (size_t at = 0; at < whole; at += 8) std::memcpy(to + at, text.data() + at, 8);
  const uint64_t last = last_word(text, rest);
  std::memcpy(to + whole, &last, sizeof(last));
  return whole + sizeof(last);
}

}  // namespace dvm::vm
