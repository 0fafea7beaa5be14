// Values as JSON. Tested by tests/runtime/scenarios/test_json.py.

#include "runtime/consumer/json_value.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "common/utf8.h"
#include "runtime/consumer/floating.h"
#include "runtime/consumer/typed.h"
#include "runtime/probe/aggregate.h"

namespace dvm::runtime {
namespace {

using dif::LayoutKind;
using Bytes = std::span<const std::byte>;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string hexadecimal(Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return text;
}

Json integer(uint64_t value, size_t bits, bool is_signed) {
  if (!is_signed || bits == 0 || bits > 64) return value;
  const auto shift = static_cast<unsigned>(64 - bits);
  return static_cast<int64_t>(value << shift) >> shift;
}

}  // namespace

Json json_of(const UserAddress& place, const MadePrinter& made) {
  Json object = {{"pid", place.pid}, {"address", fmt::format("0x{:x}", place.address)}};
  const auto symbol = made.find(place);
  if (!symbol) return object;
  object["module"] = symbol->module;
  if (!symbol->function.empty()) object["function"] = symbol->function;
  object["offset"] = place.address - (symbol->function.empty() ? symbol->module_address : symbol->address);
  return object;
}

namespace {

void add_place(Json& object, const SourcePlace& place) {
  if (place.file.empty() || place.line == 0) return;
  object["file"] = place.file;
  object["line"] = place.line;
}

Json frame_of(const UserAddress& place, bool is_caller, const MadePrinter& made) {
  Json frame = json_of(place, made);
  const std::vector<SourcePlace> source = made.source_of(place, is_caller);
  if (source.empty() || !frame.contains("function")) return frame;
  add_place(frame, source.back());
  for (size_t i = 0; i + 1 < source.size(); i++) {
    Json& inlined = frame["inlined"].emplace_back(Json{{"function", source[i].function}});
    add_place(inlined, source[i]);
  }
  return frame;
}

Json stack(const Datum& datum, const MadePrinter& made) {
  Json frames = Json::array();
  for (const UserAddress& place : frames_of(datum)) frames.push_back(frame_of(place, !frames.empty(), made));
  return {{"frames", frames}};
}

class TypedJson {
 public:
  explicit TypedJson(const dif::ValueLayout& layout) : layout_(layout) {}

  // bytes: of the record, or all.
  Json value(size_t index, Bytes bytes) const {
    const dif::LayoutNode& node = layout_[index];
    const Bytes own = part(bytes, node.offset, node.size == 0 ? UINT64_MAX : node.size);
    switch (node.kind) {
      case LayoutKind::integer:
      case LayoutKind::pointer:
      case LayoutKind::function_pointer:
      case LayoutKind::character:
        return integer(integer_at(node, own), node.bits != 0 ? node.bits : 8 * node.size, node.is_signed);
      case LayoutKind::floating:
        return floating(own);
      case LayoutKind::string:
        return text(own);
      case LayoutKind::array:
        return array(index, own);
      case LayoutKind::record:
        return record(index, own);
      case LayoutKind::enumeration:
        return enumeration(node, own);
      case LayoutKind::unknown:
        break;
    }
    return nullptr;
  }

 private:
  static Bytes part(Bytes bytes, uint64_t offset, uint64_t size) {
    if (offset > bytes.size()) return {};
    return bytes.subspan(offset, std::min<uint64_t>(size, bytes.size() - offset));
  }
  static std::string text(Bytes bytes) {
    const auto* begin = reinterpret_cast<const char*>(bytes.data());
    return {begin, ::strnlen(begin, bytes.size())};
  }
  static Json floating(Bytes bytes) { return bytes.size() <= sizeof(double) ? finite(floating_value(bytes)) : Json(nullptr); }
  static Json enumeration(const dif::LayoutNode& node, Bytes bytes) {
    const int64_t number = enumeration_at(node, bytes);
    const std::string name = enumerator_name(node, number);
    return name.empty() ? Json(number) : Json(name);
  }

  Json array(size_t index, Bytes bytes) const {
    const size_t element = index + 1;
    Json list = Json::array();
    if (element >= end_of(layout_, index) || layout_[element].size == 0) return list;
    const dif::LayoutNode& inner = layout_[element];
    if (inner.kind == LayoutKind::character && is_string(bytes)) return text(bytes);
    const uint64_t count = std::min<uint64_t>(layout_[index].count, bytes.size() / inner.size);
    for (uint64_t i = 0; i < count; i++) list.push_back(value(element, part(bytes, i * inner.size, inner.size)));
    return list;
  }

  Json record(size_t index, Bytes bytes) const {
    Json object = Json::object();
    for (size_t i = index + 1; i < end_of(layout_, index); i = end_of(layout_, i)) object[layout_[i].member] = value(i, bytes);
    return object;
  }

  const dif::ValueLayout& layout_;
};

// Both ends belong to a bucket; null: it has no end.
Json bucket(Json least, Json most, uint64_t count, int64_t normal) {
  return {{"min", std::move(least)}, {"max", std::move(most)}, {"count", normalized(static_cast<int64_t>(count), normal)}};
}

Json quantize_bucket(size_t i, uint64_t count, int64_t normal) {
  const int64_t value = quantize_value(static_cast<unsigned>(i));
  if (value == 0) return bucket(0, 0, count, normal);
  const bool is_end = i == 0 || i + 1 == kQuantizeBuckets;
  const Json far = is_end ? Json(nullptr) : Json(value > 0 ? 2 * value - 1 : 2 * value + 1);
  return value > 0 ? bucket(value, far, count, normal) : bucket(far, value, count, normal);
}

Json lquantize_bucket(size_t i, uint64_t count, const MergedAggregation& g) {
  const int64_t base = g.desc.parameters[0], step = g.desc.parameters.size() > 2 ? g.desc.parameters[2] : 1;
  if (i == 0) return bucket(nullptr, base - 1, count, g.normal);
  const int64_t least = base + (static_cast<int64_t>(i) - 1) * step;
  return bucket(least, i + 1 == g.words ? Json(nullptr) : Json(least + step - 1), count, g.normal);
}

// The ends of a bucket are where its label is and where that of the next is.
Json llquantize_bucket(size_t i, uint64_t count, const MergedAggregation& g) {
  const LogLinear shape(g.desc.parameters);
  const size_t zero = shape.zero_bucket();
  const auto end = static_cast<int64_t>(shape.power(shape.low));
  if (i == zero) return bucket(1 - end, end - 1, count, g.normal);
  const uint64_t distance = i > zero ? i - zero : zero - i;
  const Json near = log_linear_end(shape, distance),
             far = distance < zero ? Json(log_linear_end(shape, distance + 1) - 1) : Json(nullptr);
  if (i > zero) return bucket(near, far, count, g.normal);
  return bucket(far.is_null() ? far : Json(-far.get<int64_t>()), -near.get<int64_t>(), count, g.normal);
}

}  // namespace

Json json_of(const Datum& datum, const MadePrinter& made) {
  if (datum.is_made()) return dif::is_stack(datum.made_by) ? stack(datum, made) : json_of(place_of(datum), made);
  if (datum.is_string()) return std::string(datum.text());
  if (is_floating(*datum.type)) return finite(floating_value(datum.bytes));
  if (datum.is_integer()) return integer(datum.unsigned_value(), 8 * datum.bytes.size(), datum.type->is_signed);
  return {{"bytes", hexadecimal(datum.bytes)}};
}

Json key_of(const Datum& datum, const MadePrinter& made) {
  if (datum.is_made() || !datum.is_string()) return json_of(datum, made);
  const std::string_view text = datum.text();
  std::string shown = valid_utf8(text);
  if (shown == text) return shown;
  return {{"text", std::move(shown)}, {"bytes", hexadecimal(std::as_bytes(std::span(text)))}};
}

Json json_of(const dif::ValueLayout& layout, std::span<const std::byte> bytes) { return TypedJson(layout).value(0, bytes); }

Json json_of(const MergedAggregation& aggregation) {
  const dif::AggregationDesc& desc = aggregation.desc;
  Json object = {{"name", desc.name}, {"function", dif::find_aggregation(desc.function)->name}, {"normal", aggregation.normal}};
  if (!desc.parameters.empty()) object["parameters"] = desc.parameters;
  return object;
}

Json bucket_of(size_t i, uint64_t count, const MergedAggregation& g) {
  if (g.desc.function == dif::Action::agg_quantize) return quantize_bucket(i, count, g.normal);
  if (g.desc.function == dif::Action::agg_lquantize) return lquantize_bucket(i, count, g);
  return llquantize_bucket(i, count, g);
}

Json json_of(const MergedAggregation& aggregation, const MergedRow* row) {
  if (row == nullptr) return nullptr;
  if (!dif::find_aggregation(aggregation.desc.function)->histogram) return number_of(aggregation, *row);
  Json buckets = Json::array();
  for (size_t i = 0; i < row->state.size(); i++)
    if (row->state[i] != 0) buckets.push_back(bucket_of(i, row->state[i], aggregation));
  return {{"buckets", buckets}};
}

bool tells_state(const MergedAggregation& aggregation) {
  return aggregation.normal == 1 && (aggregation.words == 1 || dif::find_aggregation(aggregation.desc.function)->histogram);
}

Json state_of(const MergedAggregation& aggregation, const MergedRow* row) {
  if (row == nullptr || tells_state(aggregation)) return nullptr;
  Json words = Json::array();
  for (size_t i = 0; i < row->state.size(); i++)
    if (row->state[i] != 0) words.push_back({i, row->state[i]});
  return words;
}

}  // namespace dvm::runtime
