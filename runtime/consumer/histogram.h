#pragma once
// Distributions as text: a header, then one line a bucket with a bar of 40 columns. Of all buckets those from one before the
// first that is not empty to one after the last are drawn.

#include <cstdint>
#include <span>
#include <string>

namespace dvm::runtime {

void append_quantize(std::string& out, std::span<const uint64_t> state, int64_t normal);
void append_lquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal);
void append_llquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal);

// value / normal; by 0: the value. The one quotient that does not fit stays at the end of the range.
int64_t normalized(int64_t value, int64_t normal);

}  // namespace dvm::runtime
