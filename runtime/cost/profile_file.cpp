// Profiles as JSON. Covered by tests/unit/runtime/profile_file_test.cpp.

#include "runtime/cost/profile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_set>

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

// Two numbers that JSON cannot hold have texts of their own in no JSON file, so what is finite was a number.
Result<double> number(const Json& object, const char* name, const std::string& where, double otherwise) {
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  if (!found->is_number()) return Error{fmt::format("{}: \"{}\" is not a number", where, name)};
  const double value = found->get<double>();
  if (!std::isfinite(value) || value < 0) return Error{fmt::format("{}: \"{}\" is {}: it must be 0 or more", where, name, value)};
  return value;
}

Result<vm::Price> parse_price(const Json& object, const std::string& where) {
  vm::Price price;
  for (const auto& [name, place] : {std::pair("m", &price.m), {"n", &price.n}, {"spread", &price.spread}}) {
    Result<double> value = number(object, name, where, 0);
    if (!value) return value.error();
    *place = *value;
  }
  return price;
}

class Parsing {
 public:
  Parsing(const std::string& file, std::vector<std::string>& warnings) : file_(file), warnings_(warnings) {
    for (std::string& row : price_rows()) known_.insert(std::move(row));
  }

  Status prices(const Json& folder, const std::string& path, vm::Profile& profile) {
    if (std::count(path.begin(), path.end(), '/') > 2) return Error{fmt::format("{}: \"{}\" lies too deep", file_, path)};
    if (!folder.is_object()) return Error{fmt::format("{}: \"{}\" is not an object", file_, path)};
    if (folder.contains("m")) return price(folder, path, profile);
    for (const auto& [name, inner] : folder.items())
      if (Status status = prices(inner, path.empty() ? name : path + "/" + name, profile); !status) return status;
    return {};
  }

 private:
  Status price(const Json& object, const std::string& row, vm::Profile& profile) {
    Result<vm::Price> price = parse_price(object, fmt::format("{}: price of {}", file_, row));
    if (!price) return price.error();
    if (known_.count(row))
      profile.set(row, *price);
    else
      warnings_.push_back(fmt::format("{}: there is no {} here: its price is not used", file_, row));
    return {};
  }

  const std::string& file_;
  std::vector<std::string>& warnings_;
  std::unordered_set<std::string> known_;
};

Status check_version(const Json& root, const std::string& file) {
  const auto version = root.is_object() ? root.find("dvm_profile") : root.end();
  if (version == root.end()) return Error{fmt::format("{}: it is not a profile: \"dvm_profile\" is missing", file)};
  if (!version->is_number_integer() || version->get<int64_t>() != kVersion)
    return Error{fmt::format("{}: its version is {}, this dvm reads version {}", file, version->dump(), kVersion)};
  return {};
}

Result<std::string> text_of(const Json& root, const char* name, const std::string& file) {
  const auto found = root.find(name);
  if (found == root.end() || !found->is_string()) return Error{fmt::format("{}: \"{}\" is missing, or not a text", file, name)};
  return found->get<std::string>();
}

// Of a profile that was measured by dvm; a published one has it not.
Status parse_machine(const Json& root, const std::string& file, vm::Machine& machine) {
  if (!root.contains("made_on")) return {};
  const Json& made_on = root["made_on"];
  if (!made_on.is_object()) return Error{fmt::format("{}: \"made_on\" is not an object", file)};
  for (const auto& [name, place] : {std::pair("cpu", &machine.cpu), {"kernel", &machine.kernel}, {"dvm", &machine.version}}) {
    Result<std::string> text = text_of(made_on, name, file);
    if (!text) return text.error();
    *place = *text;
  }
  return {};
}

Result<vm::Profile> parse_root(const Json& root, const std::string& file, std::vector<std::string>& warnings) {
  if (Status status = check_version(root, file); !status) return status.error();
  vm::Profile profile;
  for (const auto& [name, place] : {std::pair("name", &profile.name), {"machine", &profile.machine}}) {
    Result<std::string> text = text_of(root, name, file);
    if (!text) return text.error();
    *place = *text;
  }
  if (Status made_on = parse_machine(root, file, profile.made_on); !made_on) return made_on.error();
  Result<double> clock = number(root, "clock_hz", file, 0);
  if (!clock) return clock.error();
  if (*clock == 0) return Error{fmt::format("{}: \"clock_hz\" is missing or 0", file)};
  profile.clock_hz = *clock;
  if (const auto in_kernel = root.find("in_kernel"); in_kernel != root.end()) {
    if (!in_kernel->is_boolean()) return Error{fmt::format("{}: \"in_kernel\" is neither true nor false", file)};
    profile.in_kernel = in_kernel->get<bool>();
  }
  if (!root.contains("prices")) return Error{fmt::format("{}: \"prices\" is missing", file)};
  if (Status status = Parsing(file, warnings).prices(root["prices"], "", profile); !status) return status.error();
  return profile;
}

Json& folder_of(Json& prices, std::string_view row) {
  Json* folder = &prices;
  for (size_t slash; (slash = row.find('/')) != std::string_view::npos; row.remove_prefix(slash + 1))
    folder = &(*folder)[std::string(row.substr(0, slash))];
  return (*folder)[std::string(row)];
}

}  // namespace

Result<vm::Profile> parse_profile(std::string_view text, const std::string& file, std::vector<std::string>& warnings) {
  try {
    return parse_root(Json::parse(text), file, warnings);
  } catch (const nlohmann::json::parse_error& error) {
    const std::string_view reason = error.what();
    const size_t colon = reason.rfind(": ", reason.find(" - "));  // "[json.exception.parse_error.101] parse error at ...: REASON"
    return error_at(text, file, error.byte == 0 ? 0 : error.byte - 1,
                    std::string(colon == std::string_view::npos ? reason : reason.substr(colon + 2)));
  } catch (const nlohmann::json::exception& error) {
    return Error{fmt::format("{}: {}", file, error.what())};
  }
}

std::string profile_text(const vm::Profile& profile) {
  Json root = {{"dvm_profile", kVersion}, {"name", profile.name}, {"machine", profile.machine}, {"clock_hz", profile.clock_hz}};
  if (profile.in_kernel) root["in_kernel"] = true;
  const vm::Machine& made_on = profile.made_on;
  if (made_on != vm::Machine{}) root["made_on"] = {{"cpu", made_on.cpu}, {"kernel", made_on.kernel}, {"dvm", made_on.version}};
  Json& prices = root["prices"];
  for (const std::string& row : price_rows())
    if (const vm::Price* price = profile.find(row))
      folder_of(prices, row) = {{"m", price->m}, {"n", price->n}, {"spread", price->spread}};
  return root.dump(1) + "\n";
}

}  // namespace dvm::runtime
