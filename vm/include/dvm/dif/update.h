#pragma once
// How aggregating functions update the words of a key's state: a template for each row of vm/dif/updates.def. Engines instantiate
// them for integers (IntegerWords) and for values in generated code (vm/engine/llvm/body.cpp).
//
// Words provides constant(), get(), set(), add(), choose(), less() for signed numbers, and leading_zeros(), which is 64 for 0. N
// is its number type.

#include <cstdint>

namespace dvm::dif {

inline constexpr unsigned kQuantizeZero = 63;  // the bucket of 0
inline constexpr unsigned kQuantizeMost = 62;  // the largest power of two that has a bucket of its own

// The bucket of 2^n is kQuantizeZero + 1 + n, that of -2^n is kQuantizeZero - 1 - n. 0 counts as 2^-1.
template <class Words, class N>
N quantize_bucket(Words words, N value) {
  const N zero = words.constant(0), most = words.constant(kQuantizeMost);
  const auto is_negative = words.less(value, zero);
  const N log = words.constant(63) - words.leading_zeros(words.choose(is_negative, zero - value, value));
  const N capped = words.choose(words.less(most, log), most, log);
  return words.choose(is_negative, words.constant(kQuantizeZero - 1) - capped, words.constant(kQuantizeZero + 1) + capped);
}

template <class Words, class N>
void update_count(Words words, N, N) {
  words.add(words.constant(0), words.constant(1));
}
template <class Words, class N>
void update_sum(Words words, N value, N) {
  words.add(words.constant(0), value);
}
template <class Words, class N>
void update_min(Words words, N value, N) {
  const N known = words.get(words.constant(0));
  words.set(words.constant(0), words.choose(words.less(value, known), value, known));
}
template <class Words, class N>
void update_max(Words words, N value, N) {
  const N known = words.get(words.constant(0));
  words.set(words.constant(0), words.choose(words.less(known, value), value, known));
}
template <class Words, class N>
void update_avg(Words words, N value, N) {
  words.add(words.constant(0), words.constant(1));
  words.add(words.constant(1), value);
}
template <class Words, class N>
void update_quantize(Words words, N value, N increment) {
  words.add(quantize_bucket(words, value), increment);
}

// The words of a state as integers.
struct IntegerWords {
  uint64_t* state;

  static uint64_t constant(uint64_t number) { return number; }
  uint64_t get(uint64_t index) const { return state[index]; }
  void set(uint64_t index, uint64_t value) const { state[index] = value; }
  void add(uint64_t index, uint64_t amount) const { state[index] += amount; }
  static bool less(uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b); }
  static uint64_t choose(bool condition, uint64_t a, uint64_t b) { return condition ? a : b; }
  static uint64_t leading_zeros(uint64_t n) { return n == 0 ? 64 : static_cast<uint64_t>(__builtin_clzll(n)); }
};

}  // namespace dvm::dif
