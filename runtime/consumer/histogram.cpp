// Drawing distributions. Tested by tests/unit/runtime/histogram_test.cpp.

#include "runtime/consumer/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "common/utf8.h"
#include "runtime/consumer/datum.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

constexpr int kBar = 40;

struct BucketRange {
  size_t first, last;
};

// The buckets to draw; `empty` if all are empty.
BucketRange drawn(std::span<const uint64_t> state, BucketRange empty) {
  size_t first = 0, last = state.size() - 1;
  while (first < state.size() && state[first] == 0) first++;
  if (first == state.size()) return empty;
  while (state[last] == 0) last--;
  return {first > 0 ? first - 1 : 0, last + 1 < state.size() ? last + 1 : last};
}

class HistogramDrawing {
 public:
  HistogramDrawing(std::string& out, std::span<const uint64_t> state, BucketRange range, int64_t normal, const BarStyle& style)
      : out_(out), state_(state), range_(range), normal_(normal), bars_(style) {
    for (size_t i = range.first; i <= range.last; i++) bars_.add(count(i));
  }

  // label(i): text before the bar; empty: no such bucket.
  void draw(const std::function<std::string(size_t)>& label) {
    append_bar_header(out_, "value", 16);
    for (size_t i = range_.first; i <= range_.last; i++) {
      std::string text = label(i);
      if (!text.empty()) out_ += fmt::format("{:>16} {} {:<9}\n", text, bars_.bar(count(i)), normalized(count(i), normal_));
    }
  }

 private:
  int64_t count(size_t i) const { return static_cast<int64_t>(state_[i]); }

  std::string& out_;
  std::span<const uint64_t> state_;
  BucketRange range_;
  int64_t normal_;
  Bars bars_;
};

// Labels of the positive half of llquantize(), by distance from the bucket around zero; empty: a bucket that no integer falls in.
class LogLinearLabels {
 public:
  explicit LogLinearLabels(const LogLinear& shape) : shape_(shape) {}

  uint64_t lower_end(uint64_t distance) const { return log_linear_end(shape_, distance); }

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

// The width that dtrace assumes for a label.
int digits(int64_t value) {
  int count = value < 0 ? 2 : 1;
  const uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  for (uint64_t power = 10; size > power && power <= UINT64_MAX / 10; power *= 10) count++;
  return std::max(count, 4);
}

}  // namespace

void Bars::add(int64_t count) {
  const long double size = std::fabs(static_cast<long double>(count));
  constexpr long double kZoomed = 0.95L;  // of the columns, for the longest bar
  total_ = style_.zoom ? std::max(total_, size / kZoomed) : total_ + size;
  negatives_ |= count < 0;
  positives_ |= count > 0;
}

long double Bars::part(int64_t count, unsigned of) const {
  return total_ == 0 ? 0 : std::fabs(static_cast<long double>(count)) * of / total_;
}

std::string Bars::columns(int64_t count, unsigned of) const {
  return std::string(static_cast<size_t>(part(count, of) + 0.5L), '@');
}

// U+2588 is a full column, U+258F its eighth.
std::string Bars::eighths(int64_t count) const {
  const long double length = part(count, kBar);
  const auto whole = static_cast<unsigned>(length);
  const auto rest = static_cast<unsigned>((length - whole) * 8);
  std::string text;
  for (unsigned i = 0; i < whole; i++) append_utf8(text, 0x2588);
  if (rest != 0) append_utf8(text, 0x2590 - rest);
  return text.append(kBar - whole - (rest != 0), ' ');
}

std::string Bars::bar(int64_t count) const {
  if (!negatives_ && positives_ && style_.utf8) return "|" + eighths(count);
  if (!negatives_) return fmt::format("|{:<40}", columns(count, kBar));
  if (!positives_) return fmt::format("{:>40}|", columns(count, kBar));
  const std::string at = columns(count, kBar / 2);
  return count > 0 ? fmt::format("{:>20}|{:<20}", "", at) : fmt::format("{:>20}|{:<20}", at, "");
}

std::string Bars::character(int64_t count) const {
  constexpr std::string_view kLevels = "__xxxxXX", kNegative = "vvvvVV";
  const auto level = [&](size_t levels) { return static_cast<size_t>(part(count, static_cast<unsigned>(levels) - 1) + 0.5L); };
  if (count == 0) return " ";
  if (count < 0) return {kNegative[level(kNegative.size())]};
  if (!style_.utf8_packed) return {kLevels[level(kLevels.size())]};
  std::string block;
  append_utf8(block, static_cast<uint32_t>(0x2581 + level(8)));
  return block;
}

void append_bar_header(std::string& out, const char* what, int width) {
  append(out, "\n%*s %41s %-9s\n", width, what, "------------- Distribution -------------", "count");
}

PackedBuckets packed_quantize(std::span<const std::span<const uint64_t>> states) {
  size_t first = kQuantizeBuckets, last = 0;
  for (const std::span<const uint64_t> state : states)
    for (size_t i = 0; i < state.size(); i++)
      if (state[i] != 0) first = std::min(first, i), last = std::max(last, i);
  if (first > last) first = last = kQuantizeZero;
  if (first != 0 && first != kQuantizeZero) first--;
  if (last + 1 < kQuantizeBuckets) last++;
  return {first, last, quantize_value(static_cast<unsigned>(first)), quantize_value(static_cast<unsigned>(last)), false};
}

PackedBuckets packed_lquantize(std::span<const int64_t> parameters, size_t count) {
  const int64_t step = parameters.size() > 2 ? parameters[2] : 1;
  return {0, count - 1, parameters[0], parameters[0] + static_cast<int64_t>(count - 2) * step, true};
}

void append_packed_header(std::string& out, const PackedBuckets& buckets, int key_width) {
  const int least = buckets.is_linear ? 7 : digits(buckets.least), most = buckets.is_linear ? 8 : digits(buckets.most);
  const std::string ruler(buckets.last - buckets.first + 1, '-');
  append(out, "\n%*s %*s .%s. %*s | count\n", key_width, key_width > 0 ? "key" : "", least, "min", ruler.c_str(), -most, "max");
}

void append_packed(std::string& out, const PackedBuckets& buckets, std::span<const uint64_t> state, const BarStyle& style) {
  Bars bars(style);
  long double total = 0;
  for (size_t i = buckets.first; i <= buckets.last; i++) bars.add(static_cast<int64_t>(state[i]));
  for (size_t i = buckets.first; i <= buckets.last; i++) total += static_cast<long double>(static_cast<int64_t>(state[i]));
  if (buckets.is_linear)
    append(out, "%8s :", fmt::format("< {}", buckets.least).c_str());
  else
    append(out, " %*lld :", digits(buckets.least), static_cast<long long>(buckets.least));
  for (size_t i = buckets.first; i <= buckets.last; i++) out += bars.character(static_cast<int64_t>(state[i]));
  const std::string most = fmt::format("{}{}", buckets.is_linear ? ">= " : "", buckets.most);
  append(out, ": %*s | %lld\n", buckets.is_linear ? -8 : -digits(buckets.most), most.c_str(), static_cast<long long>(total));
}

uint64_t log_linear_end(const LogLinear& shape, uint64_t distance) {
  if (distance >= shape.zero_bucket()) return shape.power(shape.high + 1);
  uint64_t per = static_cast<uint64_t>(shape.per_magnitude());
  int64_t magnitude = shape.low + static_cast<int64_t>((distance - 1) / per);
  uint64_t step = (distance - 1) % per + static_cast<uint64_t>(shape.steps / shape.factor);
  if (step == 0) return shape.power(magnitude);
  __extension__ using Product = unsigned __int128;
  Product scaled = static_cast<Product>(step) * shape.power(magnitude + 1);
  return static_cast<uint64_t>((scaled + static_cast<uint64_t>(shape.steps) - 1) / static_cast<uint64_t>(shape.steps));
}

int64_t normalized(int64_t value, int64_t normal) {
  if (normal == 0) return value;
  if (normal == -1) return value == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : -value;
  return value / normal;
}

void append_quantize(std::string& out, std::span<const uint64_t> state, int64_t normal, const BarStyle& style) {
  HistogramDrawing(out, state, drawn(state, {kQuantizeZero - 1, kQuantizeZero + 1}), normal, style).draw([](size_t i) {
    return fmt::format("{}", quantize_value(static_cast<unsigned>(i)));
  });
}

void append_lquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal,
                      const BarStyle& style) {
  int64_t base = parameters[0], step = parameters.size() > 2 ? parameters[2] : 1;
  auto levels = static_cast<int64_t>(state.size()) - 2;
  HistogramDrawing(out, state, drawn(state, {0, 2}), normal, style).draw([&](size_t bucket) {
    auto i = static_cast<int64_t>(bucket);
    if (i == 0) return fmt::format("< {}", base);
    if (i == levels + 1) return fmt::format(">= {}", base + levels * step);
    return fmt::format("{}", base + (i - 1) * step);
  });
}

void append_llquantize(std::string& out, std::span<const uint64_t> state, std::span<const int64_t> parameters, int64_t normal,
                       const BarStyle& style) {
  LogLinear shape(parameters);
  LogLinearLabels labels(shape);
  size_t zero = shape.zero_bucket();
  BucketRange range = drawn(state, {zero, zero + 2});
  auto is_real = [&](size_t i) { return i == zero || labels.is_real(i > zero ? i - zero : zero - i); };
  while (range.first > 0 && !is_real(range.first)) range.first--;
  while (range.last < state.size() - 1 && !is_real(range.last)) range.last++;
  HistogramDrawing(out, state, range, normal, style).draw([&](size_t i) -> std::string {
    if (i == zero) return zero_label(shape, range.first < zero);
    if (!is_real(i)) return "";
    uint64_t distance = i > zero ? i - zero : zero - i;
    std::string_view sign = i < zero ? "-" : "";
    std::string_view open_end = distance < zero ? "" : i > zero ? ">= " : "<= ";
    return fmt::format("{}{}{}", open_end, sign, labels.lower_end(distance));
  });
}

}  // namespace dvm::runtime
