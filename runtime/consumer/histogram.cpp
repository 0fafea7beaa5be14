// Drawing distributions. Tested by tests/unit/runtime/histogram_test.cpp.

#include "runtime/consumer/histogram.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>

#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

constexpr int kBar = 40;

struct Range {
  size_t first, last;
};

// The buckets to draw; `empty` if all are empty.
Range drawn(std::span<const uint64_t> state, Range empty) {
  size_t first = 0, last = state.size() - 1;
  while (first < state.size() && state[first] == 0) first++;
  if (first == state.size()) return empty;
  while (state[last] == 0) last--;
  return {first > 0 ? first - 1 : 0, last + 1 < state.size() ? last + 1 : last};
}

class Drawing {
 public:
  Drawing(std::string& out, std::span<const uint64_t> state, Range range, int64_t normal)
      : out_(out), state_(state), range_(range), normal_(normal) {
    for (size_t i = range.first; i <= range.last; i++) {
      auto count = static_cast<int64_t>(state[i]);
      total_ += std::fabs(static_cast<long double>(count));
      negatives_ |= count < 0;
      positives_ |= count > 0;
    }
  }

  // label(i): text before the bar; empty: no such bucket.
  void draw(const std::function<std::string(size_t)>& label) {
    out_ += fmt::format("\n{:>16} {:>41} {:<9}\n", "value", "------------- Distribution -------------", "count");
    for (size_t i = range_.first; i <= range_.last; i++) {
      std::string text = label(i);
      if (!text.empty()) out_ += fmt::format("{:>16} {} {:<9}\n", text, bar(i), normalized(count(i), normal_));
    }
  }

 private:
  int64_t count(size_t i) const { return static_cast<int64_t>(state_[i]); }

  size_t length(size_t i, int full) const {
    if (total_ == 0) return 0;
    return static_cast<size_t>(std::fabs(static_cast<long double>(count(i))) * full / total_ + 0.5L);
  }

  // Counts below zero (negative increments) grow to the left; where both signs occur, the middle is the axis.
  std::string bar(size_t i) const {
    if (!negatives_) return fmt::format("|{:<40}", std::string(positives_ ? length(i, kBar) : 0, '@'));
    if (!positives_) return fmt::format("{:>40}|", std::string(length(i, kBar), '@'));
    std::string at(length(i, kBar / 2), '@');
    return count(i) > 0 ? fmt::format("{:>20}|{:<20}", "", at) : fmt::format("{:>20}|{:<20}", at, "");
  }

  std::string& out_;
  std::span<const uint64_t> state_;
  Range range_;
  int64_t normal_;
  long double total_ = 0;
  bool positives_ = false, negatives_ = false;
};

// Labels of the positive half of llquantize(), by distance from the bucket around zero; empty: a bucket that no integer falls in.
class LogLinearLabels {
 public:
  explicit LogLinearLabels(const LogLinear& shape) : shape_(shape) {}

  uint64_t lower_end(uint64_t distance) const {
    if (distance >= shape_.zero_bucket()) return shape_.power(shape_.high + 1);
    uint64_t per = static_cast<uint64_t>(shape_.per_magnitude());
    int64_t magnitude = shape_.low + static_cast<int64_t>((distance - 1) / per);
    uint64_t step = (distance - 1) % per + static_cast<uint64_t>(shape_.steps / shape_.factor);
    __extension__ using Wide = unsigned __int128;
    Wide scaled = static_cast<Wide>(step) * shape_.power(magnitude + 1);
    return static_cast<uint64_t>((scaled + static_cast<uint64_t>(shape_.steps) - 1) / static_cast<uint64_t>(shape_.steps));
  }

  // With more steps than integers, only the bucket that bucket_of() picks for its lower end is real.
  bool is_real(uint64_t distance) const {
    return shape_.bucket_of(static_cast<int64_t>(lower_end(distance))) == shape_.zero_bucket() + distance;
  }

 private:
  LogLinear shape_;
};

std::string zero_label(const LogLinear& shape, bool negatives_drawn) {
  uint64_t bottom = shape.power(shape.low);
  if (bottom == 1) return "0";
  return (negatives_drawn ? "abs() < " : "< ") + std::to_string(bottom);
}

}  // namespace

int64_t normalized(int64_t value, int64_t normal) {
  if (normal == 0) return value;
  if (normal == -1) return value == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : -value;
  return value / normal;
}

void append_quantize(std::string& out, std::span<const uint64_t> state, int64_t normal) {
  Drawing(out, state, drawn(state, {kQuantizeZero - 1, kQuantizeZero + 1}), normal).draw([](size_t i) {
    return fmt::format("{}", quantize_value(static_cast<unsigned>(i)));
  });
}

void append_lquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal) {
  int64_t base = parameters[0], step = parameters.size() > 2 ? parameters[2] : 1;
  auto levels = static_cast<int64_t>(state.size()) - 2;
  Drawing(out, state, drawn(state, {0, 2}), normal).draw([&](size_t bucket) {
    auto i = static_cast<int64_t>(bucket);
    if (i == 0) return fmt::format("< {}", base);
    if (i == levels + 1) return fmt::format(">= {}", base + levels * step);
    return fmt::format("{}", base + (i - 1) * step);
  });
}

void append_llquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal) {
  LogLinear shape(parameters);
  LogLinearLabels labels(shape);
  size_t zero = shape.zero_bucket();
  Range range = drawn(state, {zero, zero + 2});
  auto is_real = [&](size_t i) { return i == zero || labels.is_real(i > zero ? i - zero : zero - i); };
  while (range.first > 0 && !is_real(range.first)) range.first--;
  while (range.last < state.size() - 1 && !is_real(range.last)) range.last++;
  Drawing(out, state, range, normal).draw([&](size_t i) -> std::string {
    if (i == zero) return zero_label(shape, range.first < zero);
    if (!is_real(i)) return "";
    uint64_t distance = i > zero ? i - zero : zero - i;
    std::string_view sign = i < zero ? "-" : "";
    std::string_view open_end = distance < zero ? "" : i > zero ? ">= " : "<= ";
    return fmt::format("{}{}{}", open_end, sign, labels.lower_end(distance));
  });
}

}  // namespace dvm::runtime
