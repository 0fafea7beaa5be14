#pragma once
// Distributions as text: a header, then one line a bucket with a bar of 40 columns. Of all buckets those from one before the
// first that is not empty to one after the last are drawn; or, packed, one line with a character a bucket.

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

// The bars of one drawing: first all counts, then the bar of each.
class Bars {
 public:
  explicit Bars(const BarStyle& style) : style_(style) {}
  void add(int64_t count);
  // Counts below zero (negative increments) grow to the left; where both signs occur, the middle is the axis.
  std::string bar(int64_t count) const;
  // The same in one character.
  std::string character(int64_t count) const;

 private:
  long double part(int64_t count, unsigned of) const;
  std::string columns(int64_t count, unsigned of) const;
  std::string eighths(int64_t count) const;

  BarStyle style_;
  long double total_ = 0;
  bool positives_ = false, negatives_ = false;
};

// The line above bars; what: of the column that is `width` wide.
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

// Of llquantize(): the end that is nearer to zero of the bucket so many from the one around zero.
uint64_t log_linear_end(const LogLinear& shape, uint64_t distance);

// value / normal; by 0: the value. The one quotient that does not fit stays at the end of the range.
int64_t normalized(int64_t value, int64_t normal);

}  // namespace dvm::runtime
