#pragma once
// How lquantize(), llquantize() and stddev() update the words of a key's state. dvm and the code in traced threads, which links
// no library, share these functions.

#include <cstdint>

namespace dvm::dif {

constexpr uint64_t magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// The buckets are: below base; one for each step; at or above the limit. words: their number.
constexpr uint64_t lquantize_bucket(int64_t base, int64_t step, uint64_t words, int64_t value) {
  if (value < base) return 0;
  const uint64_t level = (static_cast<uint64_t>(value) - static_cast<uint64_t>(base)) / static_cast<uint64_t>(step);
  return 1 + (level < words - 2 ? level : words - 2);
}

// size * steps / divisor, rounded down; it must be below `steps`. Avoids a 128-bit division, which would need a library.
constexpr uint64_t steps_in(uint64_t size, uint64_t steps, uint64_t divisor) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(size) * steps;
  uint64_t low = 0, high = steps;  // low * divisor <= product < high * divisor
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    (static_cast<Wide>(middle) * divisor <= product ? low : high) = middle;
  }
  return low;
}

// The distance, in buckets, of a value from the bucket around zero. `most` is the distance of the outermost bucket.
constexpr uint64_t llquantize_distance(int64_t factor, int64_t low, int64_t high, int64_t steps, uint64_t most, uint64_t size) {
  uint64_t bottom = 1;
  for (int64_t m = 0; m < low; m++) bottom *= static_cast<uint64_t>(factor);
  if (size < bottom) return 0;
  int64_t m = low;
  for (; m <= high && size >= bottom * static_cast<uint64_t>(factor); m++) bottom *= static_cast<uint64_t>(factor);
  if (m > high) return most;
  const auto skipped = static_cast<uint64_t>((m - low) * (steps - steps / factor));
  const uint64_t step = steps_in(size, static_cast<uint64_t>(steps), bottom * static_cast<uint64_t>(factor));
  return skipped + step - static_cast<uint64_t>(steps / factor) + 1;
}

// The state is four words: the count, the total, and the total of squares, 128 bits, low word first.
constexpr void update_stddev(uint64_t* state, int64_t value) {
  __extension__ using Wide = unsigned __int128;
  const Wide square = static_cast<Wide>(magnitude(value)) * magnitude(value);
  const Wide total = (static_cast<Wide>(state[3]) << 64 | state[2]) + square;
  state[0]++;
  state[1] += static_cast<uint64_t>(value);
  state[2] = static_cast<uint64_t>(total);
  state[3] = static_cast<uint64_t>(total >> 64);
}

}  // namespace dvm::dif
