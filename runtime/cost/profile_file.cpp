// Profiles as JSON. Covered by tests/unit/runtime/profile_file_test.cpp.

#include "runtime/cost/profile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "runtime/cost/rows.h"

namespace dvm::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

// "FILE:LINE:COLUMN: REASON", the line, and a caret below the column.
Error error_at(std::string_view text, const std::string& file, size_t byte, const std::string& reason) {
  const size_t at = std::min(byte, text.size());
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n') + 1;
  const std::string_view shown = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin).substr(0, 200);
  const size_t column = at - begin;
  return {fmt::format("{}:{}:{}: {}\n  {}\n  {:>{}}", file, line, column + 1, reason, shown, '^',
                      std::min(column, shown.size()) + 1)};
}

// Where the string ends that begins at a quote of a valid text.
size_t end_of_string(std::string_view text, size_t quote) {
  size_t at = quote + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at;
}

// A name in a valid text.
struct NamePlace {
  size_t begin, end;  // its quotes
  size_t value;       // where its value begins
  size_t depth;       // how many objects and lists it lies in
  size_t object;      // where the innermost of them begins
};

// Calls visit with each name, in their order.
template <typename Visit>
void visit_names(std::string_view text, Visit visit) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<size_t> open;
  for (size_t at = 0; at < text.size(); at++) {
    if (text[at] == '{' || text[at] == '[') open.push_back(at);
    if (text[at] == '}' || text[at] == ']') open.pop_back();
    if (text[at] != '"') continue;
    const size_t end = end_of_string(text, at), colon = text.find_first_not_of(kSpace, end + 1);
    if (colon < text.size() && text[colon] == ':')
      visit(NamePlace{at, end, text.find_first_not_of(kSpace, colon + 1), open.size(), open.back()});
    at = end;
  }
}

// Where the value stands in a valid text that the names lead to ("prices/opcode/add/m"), or the innermost one of them that is
// there.
size_t place_of(std::string_view text, std::string_view names) {
  size_t place = 0, found = 0;
  visit_names(text, [&](const NamePlace& name) {
    const size_t slash = std::min(names.find('/'), names.size());
    if (names.empty() || name.depth != found + 1) return;
    if (text.substr(name.begin + 1, name.end - name.begin - 1) != names.substr(0, slash)) return;
    place = name.value;
    names.remove_prefix(std::min(slash + 1, names.size())), found++;
  });
  return place;
}

// An object of a valid text has each name once: of two, JSON's readers would keep the last and say nothing. However it is
// written: "add" is "\u0061dd", too.
Status check_names(std::string_view text, const std::string& file) {
  std::map<std::pair<size_t, std::string>, size_t> places;  // by object and name
  std::vector<std::string> path;                            // those that the next name lies below; a list has none
  Status status;
  visit_names(text, [&](const NamePlace& name) {
    path.resize(name.depth - 1);
    path.push_back(Json::parse(text.substr(name.begin, name.end + 1 - name.begin)).get<std::string>());
    const auto [first, is_new] = places.emplace(std::pair(name.object, path.back()), name.begin);
    if (is_new || !status) return;
    const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(first->second), '\n') + 1;
    status = error_at(text, file, name.begin, fmt::format("{} is there twice: already in line {}", fmt::join(path, "/"), line));
  });
  return status;
}

// What is wrong in a text that is JSON: the error says where, by the names that lead there.
struct ProfileText {
  std::string_view text;
  const std::string& file;

  Error error(std::string_view names, const std::string& reason) const {
    return error_at(text, file, place_of(text, names), reason);
  }
};

// Two numbers that JSON cannot hold have texts of their own in no JSON file, so what is finite was a number.
Result<double> number(const Json& object, const std::string& folder, const char* name, const ProfileText& profile,
                      double otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  const std::string path = folder + name;
  if (!found->is_number()) return profile.error(path, fmt::format("{} is not a number", path));
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < 0) return profile.error(path, fmt::format("{} is {}: it must be 0 or more", path, value));
  return value;
}

Result<vm::Price> parse_price(const Json& object, const std::string& row, const ProfileText& profile) {
  vm::Price price;
  for (const auto& [name, place] : {std::pair("m", &price.m), {"n", &price.n}, {"spread", &price.spread}}) {
    Result<double> value = number(object, row + "/", name, profile, 0);
    if (!value) return value.error();
    *place = *value;
  }
  return price;
}

class Parsing {
 public:
  Parsing(const ProfileText& text, std::vector<std::string>& warnings) : text_(text), warnings_(warnings) {
    for (std::string& row : price_names()) known_.insert(std::move(row));
  }

  // path: "prices", or a folder or row in it.
  Status prices(const Json& folder, const std::string& path, vm::Profile& profile) {
    if (std::count(path.begin(), path.end(), '/') > 4) return text_.error(path, fmt::format("{} lies too deep", path));
    if (!folder.is_object()) return text_.error(path, fmt::format("{} is not an object", path));
    if (folder.contains("m")) return price(folder, path, profile);
    for (const auto& [name, inner] : folder.items())
      if (Status status = prices(inner, path + "/" + name, profile); !status) return status;
    return {};
  }

 private:
  Status price(const Json& object, const std::string& path, vm::Profile& profile) {
    Result<vm::Price> price = parse_price(object, path, text_);
    if (!price) return price.error();
    const std::string row = path.substr(std::min(path.find('/') + 1, path.size()));
    if (known_.contains(row))
      profile.set(vm::RowName::of_table(row), *price);
    else
      warnings_.push_back(fmt::format("{}: there is no {} here: its price is not used", text_.file, row));
    return {};
  }

  const ProfileText& text_;
  std::vector<std::string>& warnings_;
  std::unordered_set<std::string> known_;
};

Status check_version(const Json& root, const ProfileText& text) {
  const auto version = root.is_object() ? root.find("dvm_profile") : root.end();
  if (version == root.end()) return Error{fmt::format("{}: it is not a profile: \"dvm_profile\" is missing", text.file)};
  if (!version->is_number_integer() || version->get<int64_t>() != kVersion)
    return text.error("dvm_profile", fmt::format("its version is {}, this dvm reads version {}", version->dump(), kVersion));
  return {};
}

Result<std::string> text_of(const Json& object, const std::string& folder, const char* name, const ProfileText& text) {
  const auto found = object.find(name);
  if (found == object.end()) return Error{fmt::format("{}: \"{}{}\" is missing", text.file, folder, name)};
  if (!found->is_string()) return text.error(folder + name, fmt::format("{}{} is not a text", folder, name));
  return found->get<std::string>();
}

// Of a profile that was measured by dvm; a published one has it not.
Status parse_machine(const Json& root, const ProfileText& text, vm::Machine& machine) {
  if (!root.contains("made_on")) return {};
  const Json& made_on = root["made_on"];
  if (!made_on.is_object()) return text.error("made_on", "made_on is not an object");
  for (const auto& [name, place] : {std::pair("cpu", &machine.cpu), {"kernel", &machine.kernel}, {"dvm", &machine.version}}) {
    Result<std::string> found = text_of(made_on, "made_on/", name, text);
    if (!found) return found.error();
    *place = *found;
  }
  return {};
}

Status parse_quiet_core(const Json& root, const ProfileText& text, vm::QuietCore& quiet) {
  const auto found = root.find("quiet_core");
  if (found == root.end()) return {};
  if (!found->is_object()) return text.error("quiet_core", "quiet_core is not an object");
  for (const auto& [name, place] : {std::pair("near", &quiet.near), {"far", &quiet.far}}) {
    const Result<double> value = number(*found, "quiet_core/", name, text, 0);
    if (!value) return value.error();
    *place = *value;
  }
  return {};
}

Status parse_head(const Json& root, const ProfileText& text, vm::Profile& profile) {
  for (const auto& [name, place] : {std::pair("name", &profile.name), {"machine", &profile.machine}}) {
    Result<std::string> found = text_of(root, "", name, text);
    if (!found) return found.error();
    *place = *found;
  }
  Result<double> clock = number(root, "", "clock_hz", text, 0);
  if (!clock) return clock.error();
  if (*clock == 0) return Error{fmt::format("{}: \"clock_hz\" is missing or 0", text.file)};
  profile.clock_hz = *clock;
  const Result<double> speed = number(root, "", "core_speed", text, 0);
  if (!speed) return speed.error();
  profile.core_speed = *speed;
  const Result<double> disturbed = number(root, "", "disturbed", text, 0);
  if (!disturbed) return disturbed.error();
  if (*disturbed > 1) return text.error("disturbed", fmt::format("disturbed is {}: it is a part, at most 1", *disturbed));
  profile.disturbed = *disturbed;
  if (Status status = parse_quiet_core(root, text, profile.quiet_core); !status) return status;
  return {};
}

// Earlier versions say by "in_kernel" that all prices of firings are the kernel's.
Result<bool> is_of_kernel(const Json& root, const ProfileText& text) {
  const auto in_kernel = root.find("in_kernel");
  if (in_kernel == root.end()) return false;
  if (!in_kernel->is_boolean()) return text.error("in_kernel", "in_kernel is neither true nor false");
  return in_kernel->get<bool>();
}

vm::Profile moved_to_kernel(const vm::Profile& profile) {
  constexpr Execution kKernel = {Engine::interp, Backend::kernel};
  vm::Profile moved = profile;
  moved.clear_prices();
  for (const auto& [name, price] : profile.prices()) {
    const std::optional<Row> row = find_row(name);
    moved.set(row ? row->in(kKernel) : vm::RowName::of_table(name), price);
  }
  return moved;
}

Result<vm::Profile> parse_root(const Json& root, const ProfileText& text, std::vector<std::string>& warnings) {
  if (Status status = check_names(text.text, text.file); !status) return status.error();
  if (Status status = check_version(root, text); !status) return status.error();
  vm::Profile profile;
  if (Status head = parse_head(root, text, profile); !head) return head.error();
  if (Status made_on = parse_machine(root, text, profile.made_on); !made_on) return made_on.error();
  if (!root.contains("prices")) return Error{fmt::format("{}: \"prices\" is missing", text.file)};
  if (Status status = Parsing(text, warnings).prices(root["prices"], "prices", profile); !status) return status.error();
  const Result<bool> is_kernel = is_of_kernel(root, text);
  if (!is_kernel) return is_kernel.error();
  return *is_kernel ? moved_to_kernel(profile) : profile;
}

Json& folder_of(Json& prices, std::string_view row) {
  Json* folder = &prices;
  for (size_t slash; (slash = row.find('/')) != std::string_view::npos; row.remove_prefix(slash + 1))
    folder = &(*folder)[std::string(row.substr(0, slash))];
  return (*folder)[std::string(row)];
}

}  // namespace

Result<vm::Profile> parse_profile(std::string_view text, const std::string& file, std::vector<std::string>& warnings) {
  // The library takes it for the end, and what follows would be no valid text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    return error_at(text, file, nul, "a byte is 0, which no JSON has");
  try {
    return parse_root(Json::parse(text), {text, file}, warnings);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view reason = error.what();
    const size_t colon = reason.rfind(": ", reason.find(" - "));  // "[json.exception.parse_error.101] parse error at ...: REASON"
    return error_at(text, file, error.byte == 0 ? 0 : error.byte - 1,
                    std::string(colon == std::string_view::npos ? reason : reason.substr(colon + 2)));
  } catch (const nlohmann::json::out_of_range& error) {  // "... number overflow parsing 'NUMBER'"
    std::string_view shown = error.what();
    shown = shown.substr(std::min(shown.find('\'') + 1, shown.size()));
    shown = shown.substr(0, shown.find('\''));
    return error_at(text, file, text.find(shown), fmt::format("the number {} is too large", shown));
  } catch (const nlohmann::json::exception& error) {
    return Error{fmt::format("{}: {}", file, error.what())};
  }
}

std::string profile_text(const vm::Profile& profile) {
  Json root = {{"dvm_profile", kVersion}, {"name", profile.name}, {"machine", profile.machine}, {"clock_hz", profile.clock_hz}};
  if (profile.core_speed > 0) root["core_speed"] = profile.core_speed;
  const vm::QuietCore& quiet = profile.quiet_core;
  if (quiet != vm::QuietCore{}) root["quiet_core"] = {{"near", quiet.near}, {"far", quiet.far}};
  if (profile.disturbed > 0) root["disturbed"] = profile.disturbed;
  const vm::Machine& made_on = profile.made_on;
  if (made_on != vm::Machine{}) root["made_on"] = {{"cpu", made_on.cpu}, {"kernel", made_on.kernel}, {"dvm", made_on.version}};
  Json& prices = root["prices"] = Json::object();
  for (const std::string& row : price_names())
    if (const vm::Price* price = profile.find(vm::RowName::of_table(row)))
      folder_of(prices, row) = {{"m", price->m}, {"n", price->n}, {"spread", price->spread}};
  return root.dump(1) + "\n";
}

}  // namespace dvm::runtime
