#pragma once
// Keys of aggregations as 8-byte words. Used by the aggregation buffer, which is probe context, and the consumer's tables.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace dvm::runtime {

inline uint64_t key_word(const std::byte* at) noexcept {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// The 128-bit product of two words, folded to 64 bits by xor.
inline uint64_t fold_product(uint64_t a, uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Hashes two words with one multiplication. Not safe against collisions: a traced program can choose keys that slow dvm down, but
// not the program itself.
inline uint64_t hash_key(uint32_t seed, std::span<const std::byte> key) noexcept {
  constexpr uint64_t kOdd1 = 0x9e3779b97f4a7c15, kOdd2 = 0xff51afd7ed558ccd;
  uint64_t hash = (seed + 1) * kOdd1;
  const std::byte* at = key.data();
  size_t left = key.size();
  for (; left >= 16; at += 16, left -= 16) hash = fold_product(hash ^ key_word(at), kOdd2 ^ key_word(at + 8));
  return left == 0 ? hash : fold_product(hash ^ key_word(at), kOdd2);
}

inline bool is_same_key(const std::byte* a, const std::byte* b, size_t bytes) noexcept {
  size_t at = 0;
  while (at < bytes && key_word(a + at) == key_word(b + at)) at += 8;
  return at == bytes;
}

}  // namespace dvm::runtime
