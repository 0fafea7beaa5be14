#pragma once
// Prints distributions: a header, then one line for each bucket, with a bar of 40 columns. The buckets from the one before the
// first that is not empty to the one after the last are shown. A packed distribution is one line with a character for each
// bucket.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/probe/aggregate.h"

namespace dvm::runtime {

// Options aggzoom and encoding.
struct BarStyle {
  bool zoom = false;         // the longest bar fills the columns; otherwise all of them together do
  bool utf8 = false;         // bars in eighths of a column
  bool utf8_packed = false;  // the characters of packed distributions
};

// The bars of one distribution. First add() all counts, then get the bar of each.
class Bars {
 public:
  explicit Bars(const BarStyle& style) : style_(style) {}
  void add(int64_t count);
  // Bars of negative counts (from negative increments) grow to the left. If both signs occur, the axis is in the middle.
  std::string bar(int64_t count) const;
  // The same as one character.
  std::string character(int64_t count) const;

 private:
  long double part(int64_t count, unsigned of) const;
  std::string columns(int64_t count, unsigned of) const;
  std::string eighths(int64_t count) const;

  BarStyle style_;
  long double total_ = 0;
  bool positives_ = false, negatives_ = false;
};

// The header above the bars. what: the title of the first column, which is `width` wide.
void append_bar_header(std::string& out, const char* what, int width);

void append_quantize(std::string& out, std::span<const uint64_t> state, int64_t normal, const BarStyle& style = {});
void append_lquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal,
                      const BarStyle& style = {});
void append_llquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal,
                       const BarStyle& style = {});

// Option aggpack: all rows of an aggregation show the same buckets, under one header.
struct PackedBuckets {
  size_t first, last;
  int64_t least, most;  // their labels
  bool is_linear;
};
// The buckets that any of the states needs.
PackedBuckets packed_quantize(std::span<const std::span<const uint64_t>> states);
PackedBuckets packed_lquantize(std::span<const int64_t> parameters, size_t count);
void append_packed_header(std::string& out, const PackedBuckets& buckets, int key_width);
void append_packed(std::string& out, const PackedBuckets& buckets, std::span<const uint64_t> state, const BarStyle& style);

// The bound nearer to zero of a bucket of llquantize(), given its distance in buckets from the one around zero.
uint64_t log_linear_end(const LogLinear& shape, uint64_t distance);

// value / normal; the value itself if normal is 0. The one quotient that overflows becomes the largest number.
int64_t normalized(int64_t value, int64_t normal);

}  // namespace dvm::runtime
