// Profiles as JSON. Covered by tests/unit/runtime/profile_file_test.cpp.

#include "runtime/cost/profile_file.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "common/clock.h"
#include "common/columns.h"
#include "common/own_build.h"
#include "dvm/vm/cost.h"
#include "runtime/cost/rows.h"

namespace dvm::runtime {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr size_t kDeepest = 6;                                              // objects around a figure of a price
constexpr std::string_view kOld = "consumer/look", kNew = "consumer/poll";  // with what follows: rows that had another name

// "FILE:LINE:COLUMN: REASON", the line, and a caret below the column.
Error error_at(std::string_view text, const std::string& file, size_t byte, const std::string& reason) {
  const size_t at = std::min(byte, text.size());
  const size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n') + 1;
  const std::string_view shown = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin).substr(0, 200);
  const size_t column = at - begin;
  return {fmt::format("{}:{}:{}: {}\n  {}\n  {:>{}}", file, line, column + 1, reason, shown, '^',
                      terminal_columns(shown.substr(0, column)) + 1)};
}

// Whether n counts variables that exist, of those that are looked up: finding one may cost less than finding none.
bool counts_found(std::string_view row) {
  return std::any_of(dif::kOpcodes.begin(), dif::kOpcodes.end(), [row](const dif::OpcodeInfo& opcode) {
    return opcode.cost == dif::CostClass::found && row.ends_with(fmt::format("opcode/{}", opcode.mnemonic));
  });
}

// Reads a profile. Throws Error, or what the library throws.
class Parsing {
 public:
  Parsing(std::string_view text, const std::string& file, std::vector<std::string>& warnings)
      : text_(text), file_(file), warnings_(warnings), stream_(std::string(text)) {
    root_ = Json::parse(stream_, [this](int depth, Json::parse_event_t event, const Json& parsed) {
      note(static_cast<size_t>(depth), event, parsed);
      return true;
    });
    for (std::string& row : price_names()) known_.insert(std::move(row));
  }

  vm::Profile profile() {
    check_version();
    read("name", profile_.name), read("machine", profile_.machine);
    if (read("clock_hz", profile_.clock_hz); profile_.clock_hz == 0) throw missing("clock_hz", " or 0");
    read("core_speed", profile_.core_speed);
    if (read("disturbed", profile_.disturbed); profile_.disturbed > 1)
      throw wrong("disturbed", fmt::format("is {}: it is a part, at most 1", profile_.disturbed));
    read("quiet_core/near", profile_.quiet_core.near), read("quiet_core/far", profile_.quiet_core.far);
    vm::Machine& machine = profile_.made_on;
    read("made_on/cpu", machine.cpu), read("made_on/kernel", machine.kernel), read("made_on/dvm", machine.version);
    read("made_on/build", machine.build, false);
    if (!root_.contains("prices")) throw missing("prices");
    read_prices(root_["prices"], "prices");
    return std::move(profile_);
  }

 private:
  Error wrong(const std::string& path, const std::string& reason) const {
    return error_at(text_, file_, place_of(path), path + " " + reason);
  }
  Error missing(const std::string& path, const char* more = "") const {
    return {fmt::format("{}: \"{}\" is missing{}", file_, path, more)};
  }

  // Notes where the value of each name begins. An object has each name once, however it is written ("add" is "\u0061dd", too):
  // JSON readers would keep the last one.
  void note(size_t depth, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) places_.emplace_back();
    if (event == Json::parse_event_t::object_end) places_.pop_back();
    if (event != Json::parse_event_t::key) return;
    path_.resize(depth - 1);  // a list has no name
    path_.push_back(parsed.get<std::string>());
    const auto names = [&] { return fmt::format("{}", fmt::join(path_, "/")); };
    const auto end = static_cast<size_t>(stream_.tellg());
    size_t begin = text_.rfind('"', end - 2);
    while (text_[begin - 1] == '\\') begin = text_.rfind('"', begin - 1);
    if (depth <= kDeepest) values_.emplace(names(), text_.find_first_not_of(" \t\r\n:", end));
    const auto [first, is_new] = places_.back().emplace(path_.back(), begin);
    if (is_new) return;
    const auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(first->second), '\n') + 1;
    throw error_at(text_, file_, begin, fmt::format("{} is there twice: already in line {}", names(), line));
  }

  // The place of the value that names lead to ("prices/opcode/add/m"), or of the innermost one that exists.
  size_t place_of(const std::string& names) const {
    if (const auto found = values_.find(names); found != values_.end()) return found->second;
    const size_t slash = names.rfind('/');
    return slash == std::string::npos ? 0 : place_of(names.substr(0, slash));
  }

  void check_version() const {
    const auto version = root_.is_object() ? root_.find("dvm_profile") : root_.end();
    if (version == root_.end()) throw Error{fmt::format("{}: it is not a profile: \"dvm_profile\" is missing", file_)};
    if (!version->is_number_integer() || version->get<int64_t>() != kVersion)
      throw error_at(text_, file_, place_of("dvm_profile"),
                     fmt::format("its version is {}, this dvm reads version {}", version->dump(), kVersion));
  }

  // Null: it is missing. What is_needed may only be missing together with the object around it.
  const Json* find(const std::string& path, bool is_needed) const {
    const Json::json_pointer place("/" + path), around = place.parent_pointer();
    if (!root_.contains(around)) return nullptr;
    if (!root_.at(around).is_object()) throw wrong(around.to_string().substr(1), "is not an object");
    if (root_.contains(place)) return &root_.at(place);
    if (is_needed) throw missing(path);
    return nullptr;
  }
  void read(const std::string& path, std::string& into, bool is_needed = true) const {
    const Json* found = find(path, is_needed);
    if (found && !found->is_string()) throw wrong(path, "is not a text");
    if (found) into = found->get<std::string>();
  }
  // A missing number leaves what is there.
  void read(const std::string& path, double& into) const {
    if (const Json* found = find(path, false)) into = number(*found, path);
  }
  double number(const Json& json, const std::string& path, double least = 0) const {
    if (!json.is_number()) throw wrong(path, "is not a number");
    const auto value = json.get<double>();
    if (!std::isfinite(value) || value < least) throw wrong(path, fmt::format("is {}: it must be {} or more", value, least));
    return value;
  }

  // path: "prices", or a folder or row in it.
  void read_prices(const Json& folder, const std::string& path) {
    if (std::ranges::count(path, '/') > 4) throw wrong(path, "lies too deep");
    if (!folder.is_object()) throw wrong(path, "is not an object");
    if (folder.contains("m")) return read_price(folder, path);
    for (const auto& [name, inner] : folder.items()) read_prices(inner, path + "/" + name);
  }
  void read_price(const Json& object, const std::string& path) {
    vm::Price price;
    std::string row = path.substr(std::min(path.find('/') + 1, path.size()));
    if (row.starts_with(kOld)) row.replace(0, kOld.size(), kNew);
    const auto read_part = [&](const char* name, double& part, double least) {
      if (object.contains(name)) part = number(object[name], path + "/" + name, least);
    };
    read_part("m", price.m, 0);
    read_part("n", price.n, counts_found(row) ? -price.m : 0);
    read_part("spread", price.spread, 0);
    if (known_.contains(row))
      profile_.set(vm::RowName::of_table(row), price);
    else
      warnings_.push_back(fmt::format("{}: there is no {} here: its price is not used", file_, row));
  }

  std::string_view text_;
  const std::string& file_;
  std::vector<std::string>& warnings_;
  std::istringstream stream_;
  Json root_;
  std::unordered_set<std::string> known_;
  std::vector<std::string> path_;                      // the last name, behind those around it
  std::vector<std::map<std::string, size_t>> places_;  // of names in the objects that are open
  std::map<std::string, size_t> values_;               // where they begin, by the names that lead to them
  vm::Profile profile_;
};

constexpr double kSameClock = 0.01;  // cycle counters of one machine differ by less, from one measurement to the next

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  return "unknown CPU";
}

}  // namespace

Result<vm::Profile> parse_profile(std::string_view text, const std::string& file, std::vector<std::string>& warnings) {
  // The library takes it for the end, and what follows would be no valid text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    return error_at(text, file, nul, "a byte is 0, which no JSON has");
  try {
    return Parsing(text, file, warnings).profile();
  } catch (const Error& error) {
    return error;
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
  if (!made_on.build.empty()) root["made_on"]["build"] = made_on.build;
  Json& prices = root["prices"] = Json::object();
  for (const std::string& row : price_names())
    if (const vm::Price* price = profile.find(vm::RowName::of_table(row)))
      prices[Json::json_pointer("/" + row)] = {{"m", price->m}, {"n", price->n}, {"spread", price->spread}};
  return root.dump(1) + "\n";
}

vm::Machine this_machine(std::string version) {
  utsname system{};
  uname(&system);
  return {cpu_name(), fmt::format("{} {}", system.sysname, system.release), std::move(version), own_build_id()};
}

std::string text_of(const vm::Machine& machine) {
  return fmt::format("{}, {}, dvm {}", machine.cpu, machine.kernel, machine.version);
}

double tick_rate(uint64_t interval) {
  const uint64_t begin = read_clock(CLOCK_MONOTONIC_RAW), first = vm::read_ticks();
  uint64_t now = begin;
  while (now - begin < interval) now = read_clock(CLOCK_MONOTONIC_RAW);
  return static_cast<double>(vm::read_ticks() - first) / static_cast<double>(now - begin) * 1e9;
}

std::vector<std::string> machine_differences(const vm::Profile& profile, const vm::Machine& here, double clock_hz) {
  std::vector<std::string> differences;
  const auto compare = [&](const char* what, const std::string& there, const std::string& now) {
    if (!there.empty() && there != now) differences.push_back(fmt::format("its {} is {}, here {}", what, there, now));
  };
  compare("CPU", profile.made_on.cpu, here.cpu);
  compare("kernel", profile.made_on.kernel, here.kernel);
  compare("dvm", profile.made_on.version, here.version);
  if (!profile.made_on.cpu.empty() && std::abs(profile.clock_hz - clock_hz) > kSameClock * clock_hz)
    differences.push_back(
        fmt::format("its clock runs at {:.3f} GHz, here at {:.3f} GHz", profile.clock_hz / 1e9, clock_hz / 1e9));
  return differences;
}

}  // namespace dvm::runtime
