// Tested by tests/unit/view/folded_test.cpp.

#include "view/folded.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "dvm/dif/action.h"

namespace dvm::view {
namespace {

using runtime::MergedAggregation;

std::string text_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// FUNCTION, else MODULE+OFFSET, which is the same in every process, else the address.
std::string frame_name(const Json& frame) {
  if (!frame.is_object()) return frame.dump();
  const std::string function = text_at(frame, "function"), module = text_at(frame, "module"), address = text_at(frame, "address");
  if (!function.empty()) return function;
  const auto offset = frame.find("offset");
  if (!module.empty() && offset != frame.end() && offset->is_number_unsigned())
    return fmt::format("{}+0x{:x}", module, offset->get<uint64_t>());
  return module.empty() ? address : module + '`' + address;
}

// A frame of a process has its pid.
bool is_user_stack(const Json& stack) {
  const Json& frames = stack["frames"];
  return !frames.empty() && frames[0].is_object() && frames[0].value("pid", Json(0)) != Json(0);
}

// FILE:LINE of a frame or of an inlined function; empty: unknown.
std::string place_of(const Json& object) {
  const std::string file = text_at(object, "file");
  const auto line = object.find("line");
  return file.empty() || line == object.end() || !line->is_number_integer() ? "" : file + ':' + line->dump();
}

// A frame, and above it the functions that are inlined there.
void add_frame(const Json& frame, FrameKind kind, std::vector<Frame>& frames) {
  frames.push_back({frame_name(frame), kind, frame.is_object() ? place_of(frame) : ""});
  if (!frame.is_object() || !frame.contains("inlined") || !frame["inlined"].is_array()) return;
  const Json& inlined = frame["inlined"];
  for (size_t i = inlined.size(); i-- > 0;)
    if (inlined[i].is_object()) frames.push_back({text_at(inlined[i], "function"), FrameKind::inlined, place_of(inlined[i])});
}

void add_frames(const Json& stack, FrameKind kind, std::vector<Frame>& frames) {
  for (size_t i = stack["frames"].size(); i-- > 0;) add_frame(stack["frames"][i], kind, frames);
}

std::string key_text(const Json& key) {
  if (key.is_string()) return key.get<std::string>();
  if (!key.is_object()) return key.dump();
  for (const char* member : {"text", "bytes"})
    if (key.contains(member)) return text_at(key, member);
  return frame_name(key);
}

std::vector<Frame> frames_of(const Json& keys) {
  std::vector<Frame> frames;
  for (const Json& key : keys)
    if (!is_stack(key)) frames.push_back({key_text(key), FrameKind::key});
  for (const bool user : {true, false})
    for (const Json& key : keys)
      if (is_stack(key) && is_user_stack(key) == user) add_frames(key, user ? FrameKind::user : FrameKind::kernel, frames);
  return frames;
}

// A sum that does not fit stays at the end of the range.
void add(int64_t& sum, int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum))
    sum = value < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

int64_t weight_of(const MergedAggregation& aggregation, const runtime::MergedRow& row) {
  if (!dif::find_aggregation(aggregation.desc.function)->histogram) return runtime::number_of(aggregation, row);
  int64_t sum = 0;
  for (const uint64_t word : row.state) add(sum, static_cast<int64_t>(word));
  return sum;
}

bool has_stacks(const MergedAggregation& aggregation) {
  const auto rows = aggregation.rows.rows();
  return std::any_of(rows.begin(), rows.end(), [](const runtime::MergedRow* row) {
    const Json keys = Results::keys_of(*row);
    return std::any_of(keys.begin(), keys.end(), is_stack);
  });
}

// A terminal obeys control characters, those of two bytes too.
std::string without_separators(std::string name) {
  for (size_t i = 0; i < name.size(); i++) {
    const bool is_upper = name[i] == '\xc2' && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xa0;
    if (is_upper) name.erase(i, 1);
    if (is_upper || name[i] == ';' || static_cast<unsigned char>(name[i]) < ' ' || name[i] == '\x7f') name[i] = '_';
  }
  return name;
}

}  // namespace

std::string key_line(const Json& key) {
  if (!is_stack(key)) return key_text(key);
  std::string line;
  for (const Json& frame : key["frames"]) {
    const std::string module = frame.is_object() ? text_at(frame, "module") : "", name = frame_name(frame);
    const bool is_bare = module.empty() || name.starts_with(module + '`') || name.starts_with(module + "+0x");
    line += (line.empty() ? "" : ";") + (is_bare ? name : module + '`' + name);
  }
  return line;
}

std::vector<std::string> names_with_stacks(const Results& results) {
  std::vector<std::string> names;
  for (const MergedAggregation& one : results.aggregations())
    if (has_stacks(one)) names.push_back(one.desc.name);
  return names;
}

Result<std::string> choose_stacks(const Results& results, const std::string& name) {
  const std::vector<std::string> names = names_with_stacks(results);
  if (names.empty()) return Error{"no aggregation has a stack as a key"};
  if (name.empty() && names.size() > 1)
    return Error{fmt::format("@{} and @{} both have stacks as keys: name one of them", names[0], names[1])};
  if (name.empty() || std::find(names.begin(), names.end(), name) != names.end()) return name.empty() ? names[0] : name;
  return Error{fmt::format("there is no aggregation @{} with a stack as a key", name)};
}

std::vector<FoldedStack> fold(const Results& results, const std::string& name) {
  std::map<std::vector<Frame>, int64_t> weights;
  for (const MergedAggregation& one : results.aggregations()) {
    if (one.desc.name != name) continue;
    for (const runtime::MergedRow* row : one.rows.rows()) add(weights[frames_of(Results::keys_of(*row))], weight_of(one, *row));
  }
  std::vector<FoldedStack> stacks;
  for (auto& [frames, weight] : weights) stacks.push_back({frames, weight});
  return stacks;
}

std::string left_out_text(const std::vector<FoldedStack>& stacks, const std::string& name) {
  const auto count = std::count_if(stacks.begin(), stacks.end(), [](const FoldedStack& stack) { return stack.weight < 0; });
  return count == 0 ? ""
                    : fmt::format("{} stack{} of @{} {} left out: the value is below 0", count, count == 1 ? "" : "s", name,
                                  count == 1 ? "is" : "are");
}

std::string folded_lines(const std::vector<FoldedStack>& stacks) {
  std::map<std::vector<std::string>, int64_t> weights;
  for (const FoldedStack& stack : stacks) {
    std::vector<std::string> names;
    for (const Frame& frame : stack.frames) names.push_back(without_separators(frame.name));
    if (names.empty()) names.push_back("[no stack]");
    add(weights[names], stack.weight);
  }
  std::string text;
  for (const auto& [names, weight] : weights)
    if (weight > 0) text += fmt::format("{} {}\n", fmt::join(names, ";"), weight);
  return text;
}

}  // namespace dvm::view
