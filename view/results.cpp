// Tested by tests/unit/view/results_test.cpp and tests/runtime/scenarios/test_views.py.

#include "view/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dvm/dif/action.h"
#include "runtime/probe/aggregate.h"

namespace dvm::view {
namespace {

using runtime::MergedAggregation;

const std::set<std::string> kLosses = {"drop", "error", "errors", "late", "notice"};

// The key in the table: the text of the keys, filled up to whole words.
std::string key_bytes(const Json& keys) {
  std::string bytes = keys.dump();
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

const dif::AggregationInfo* function_named(const std::string& name) {
  for (const dif::AggregationInfo& row : dif::kAggregations)
    if (row.name == name) return &row;
  return nullptr;
}

// From "states": [[index, word], ...].
Status read_state(const Json& pairs, std::vector<uint64_t>& words) {
  for (const Json& pair : pairs) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() || !pair[1].is_number_integer())
      return Error{"a state is not a list of [index, word]"};
    const auto index = pair[0].get<uint64_t>();
    if (index >= words.size()) return Error{fmt::format("a state has no word {}", index)};
    words[index] = pair[1].get<uint64_t>();
  }
  return {};
}

std::string bounds_of(const Json& bucket) { return bucket["min"].dump() + ' ' + bucket["max"].dump(); }

// The numbers of the buckets of a distribution, by their bounds.
std::map<std::string, size_t> bucket_numbers(const MergedAggregation& aggregation) {
  std::map<std::string, size_t> numbers;
  if (!dif::find_aggregation(aggregation.desc.function)->histogram) return numbers;
  for (size_t i = 0; i < aggregation.words; i++) numbers.emplace(bounds_of(runtime::bucket_of(i, 1, aggregation)), i);
  return numbers;
}

Status read_buckets(const std::map<std::string, size_t>& numbers, const Json& value, std::vector<uint64_t>& words) {
  if (!value.is_object() || !value.contains("buckets") || !value["buckets"].is_array())
    return Error{"a distribution has no buckets"};
  for (const Json& bucket : value["buckets"]) {
    if (!bucket.is_object() || !bucket.contains("min") || !bucket.contains("max") || !bucket.contains("count") ||
        !bucket["count"].is_number_integer())
      return Error{"a bucket is not {min, max, count}"};
    const auto found = numbers.find(bounds_of(bucket));
    if (found == numbers.end()) return Error{fmt::format("the distribution has no bucket {}", bucket.dump())};
    words[found->second] = bucket["count"].get<uint64_t>();
  }
  return {};
}

// The first value of a row, as the words that made it.
Status read_words(const MergedAggregation& aggregation, const std::map<std::string, size_t>& buckets, const Json& row,
                  std::vector<uint64_t>& words) {
  if (!runtime::tells_state(aggregation)) {
    if (!row.contains("states") || !row["states"].is_array() || row["states"].size() != 1 || !row["states"][0].is_array())
      return Error{fmt::format("the rows of @{} have no states, which {}() needs: they come from an older dvm",
                               aggregation.desc.name, dif::find_aggregation(aggregation.desc.function)->name)};
    return read_state(row["states"][0], words);
  }
  const Json& value = row["values"][0];
  if (dif::find_aggregation(aggregation.desc.function)->histogram) return read_buckets(buckets, value, words);
  if (!value.is_number_integer()) return Error{"a value is not an integer"};
  words[0] = value.get<uint64_t>();
  return {};
}

// Integers as the consumer orders them, without their sign; stacks by their first frame that differs; everything else by its
// text.
bool is_before(const Json& a, const Json& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); i++) {
    if (a[i] == b[i]) continue;
    if (is_stack(a[i]) && is_stack(b[i])) return is_before(a[i]["frames"], b[i]["frames"]);
    if (a[i].is_number_integer() && b[i].is_number_integer()) return a[i].get<uint64_t>() < b[i].get<uint64_t>();
    if (a[i].is_string() && b[i].is_string()) return a[i].get_ref<const std::string&>() < b[i].get_ref<const std::string&>();
    return a[i].dump() < b[i].dump();
  }
  return a.size() < b.size();
}

// An integer or a string; empty: what may stand for either, as bytes and symbols do.
std::string_view kind_of(const Json& key) { return key.is_number_integer() ? "an integer" : key.is_string() ? "a string" : ""; }

// Keys of one script have one type in all rows.
Status check_keys(const std::string& name, const Json& known, const Json& keys) {
  if (keys.size() != known.size())
    return Error{fmt::format("@{} has {} keys here and {} in a row before", name, keys.size(), known.size())};
  for (size_t i = 0; i < keys.size(); i++) {
    const std::string_view was = kind_of(known[i]), is = kind_of(keys[i]);
    if (was != is && !was.empty() && !is.empty())
      return Error{fmt::format("key {} of @{} is {} here and {} in a row before", i + 1, name, is, was)};
  }
  return {};
}

// How deep the brackets of a text nest outside of strings.
size_t depth_of(std::string_view text) {
  size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); at++) {
    const char c = text[at];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      at += c == '\\';
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      depth--;
    }
  }
  return deepest;
}

// Null for what is no JSON, or nested deeper than any result.
Json parse(const std::string& text) {
  constexpr size_t kDeepest = 32;
  if (depth_of(text) > kDeepest) return {};
  Json line = Json::parse(text, nullptr, false);
  if (line.is_discarded()) line = nullptr;
  return line;
}

bool has_list(const Json& object, const char* name) { return object.contains(name) && object[name].is_array(); }

Result<dif::AggregationDesc> read_description(const Json& described) {
  if (!described.is_object() || !described.value("name", Json()).is_string() ||
      !described.value("function", Json()).is_string() || !described.value("normal", Json()).is_number_integer())
    return Error{"an aggregation is not {name, function, normal}"};
  const auto function = described["function"].get<std::string>();
  const dif::AggregationInfo* info = function_named(function);
  if (!info) return Error{fmt::format("there is no aggregating function {}()", function)};
  dif::AggregationDesc desc;
  desc.name = described["name"].get<std::string>();
  desc.function = info->id;
  for (const Json& parameter : described.value("parameters", Json::array())) {
    if (!parameter.is_number_integer()) return Error{fmt::format("a parameter of {}() is not an integer", function)};
    desc.parameters.push_back(parameter.get<int64_t>());
  }
  return desc;
}

// "lquantize(-100, 100, 7), normalized by 3".
std::string text_of(const dif::AggregationDesc& desc, int64_t normal) {
  const std::string text = fmt::format("{}({})", dif::find_aggregation(desc.function)->name, fmt::join(desc.parameters, ", "));
  return normal == 1 ? text : fmt::format("{}, normalized by {}", text, normal);
}

}  // namespace

bool is_stack(const Json& key) { return key.is_object() && key.contains("frames") && key["frames"].is_array(); }

Status Results::add(const std::string& name, std::istream& lines) {
  std::string text;
  bool is_empty = true, has_aggregation = false;
  size_t ends = 0;
  for (size_t number = 1; std::getline(lines, text); number++) {
    if (text.empty()) continue;
    is_empty = false;
    const Json line = parse(text);
    const std::string type = line.is_object() && line.value("type", Json()).is_string() ? line["type"].get<std::string>() : "";
    if (type.empty())
      return Error{fmt::format(
          "{}:{}: this is not a line of dvm run --json (-o FILE keeps its lines apart from the output of the traced program)",
          name, number)};
    has_aggregation |= type == "aggregation";
    ends += type == "exit";
    if (kLosses.contains(type)) losses_.push_back(line), losses_.back()["run"] = name;
    if (type != "aggregation") continue;
    if (Status added = add_aggregation(line); !added) return Error{fmt::format("{}:{}: {}", name, number, added.error().message)};
  }
  if (is_empty) return Error{fmt::format("{} is empty: this is not output of dvm run --json", name)};
  if (!has_aggregation)
    return Error{
        fmt::format("{} holds no aggregation: those that printa() has printed are records, which cannot be merged", name)};
  if (ends == 0) unfinished_.push_back(name);
  if (ends > 1) repeated_.emplace_back(name, ends);
  return {};
}

Status Results::add_aggregation(const Json& line) {
  if (!has_list(line, "aggregations") || line["aggregations"].size() != 1 || !has_list(line, "rows"))
    return Error{"an aggregation has no aggregations or no rows"};
  Result<MergedAggregation*> aggregation = declare(line["aggregations"][0]);
  if (!aggregation) return aggregation.error();
  for (const Json& row : line["rows"])
    if (Status added = add_row(**aggregation, row); !added) return added;
  return {};
}

Result<MergedAggregation*> Results::declare(const Json& described) {
  Result<dif::AggregationDesc> desc = read_description(described);
  if (!desc) return desc.error();
  const auto normal = described["normal"].get<int64_t>();
  for (MergedAggregation& known : all_) {
    if (known.desc.name != desc->name) continue;
    if (known.desc.function == desc->function && known.desc.parameters == desc->parameters && known.normal == normal)
      return &known;
    return Error{fmt::format("@{} is {} here and {} in a run before", desc->name, text_of(*desc, normal),
                             text_of(known.desc, known.normal))};
  }
  const unsigned words = runtime::aggregation_words(desc->function, desc->parameters);
  if (words == 0) return Error{fmt::format("the parameters of @{} are invalid", desc->name)};
  MergedAggregation& added = all_.emplace_back();
  runtime::define(added, *desc, words, runtime::find_aggregate(desc->function)->initial);
  added.normal = normal;
  buckets_.emplace(desc->name, bucket_numbers(added));
  return &added;
}

Status Results::add_row(MergedAggregation& aggregation, const Json& row) {
  if (!row.is_object() || !has_list(row, "keys") || !has_list(row, "values") || row["values"].size() != 1)
    return Error{"a row is not {keys, values}"};
  const Json& first_keys = first_keys_.try_emplace(aggregation.desc.name, row["keys"]).first->second;
  if (Status sound = check_keys(aggregation.desc.name, first_keys, row["keys"]); !sound) return sound;
  std::vector<uint64_t> words(aggregation.words, 0);
  if (Status read = read_words(aggregation, buckets_.at(aggregation.desc.name), row, words); !read) return read;
  const std::string key = key_bytes(row["keys"]);
  runtime::merge(aggregation, key, words);
  return {};
}

Json Results::keys_of(const runtime::MergedRow& row) { return Json::parse(row.key.substr(0, row.key.find('\0'))); }

std::vector<Results::KeyedRow> Results::rows(const MergedAggregation& aggregation) {
  std::vector<KeyedRow> list;
  for (const runtime::MergedRow* row : aggregation.rows.rows()) list.push_back({keys_of(*row), row});
  std::sort(list.begin(), list.end(), [](const KeyedRow& a, const KeyedRow& b) {
    const int order = runtime::compare_values(a.row, b.row);
    return order != 0 ? order < 0 : is_before(a.keys, b.keys);
  });
  return list;
}

}  // namespace dvm::view
