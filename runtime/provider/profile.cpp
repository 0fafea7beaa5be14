// The profile provider: tick-N fires on one CPU, profile-N on every CPU, N a rate or an interval. The probes are made when a
// description names them; a pattern means those that DTrace has from the start. Covered by
// tests/unit/instrument/providers_test.cpp.

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <charconv>

#include "runtime/catalog/catalog.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kShortest = 200'000;  // ns; dtrace refuses rates above 5000 hz

struct RateUnit {
  std::string_view suffix;
  uint64_t ns;  // 0: a rate
};

constexpr RateUnit kUnits[] = {
    {"", 0},
    {"hz", 0},
    {"ns", 1},
    {"nsec", 1},
    {"us", 1'000},
    {"usec", 1'000},
    {"ms", 1'000'000},
    {"msec", 1'000'000},
    {"s", 1'000'000'000},
    {"sec", 1'000'000'000},
    {"m", 60'000'000'000},
    {"min", 60'000'000'000},
    {"h", 3'600'000'000'000},
    {"hour", 3'600'000'000'000},
    {"d", 86'400'000'000'000},
    {"day", 86'400'000'000'000},
};

// Upper and lower case are the same, as in options.
bool is_suffix_of(std::string_view text, const RateUnit& unit) {
  return text.size() == unit.suffix.size() && strncasecmp(text.data(), unit.suffix.data(), text.size()) == 0;
}

// The period of "997", "997hz", "10ms", ...; 0: not of that form, or out of range.
uint64_t parse_period(std::string_view text) {
  uint64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0) return 0;
  std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
  const RateUnit* unit =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const RateUnit& u) { return is_suffix_of(suffix, u); });
  if (unit == std::end(kUnits)) return 0;
  if (unit->ns == 0) return 1'000'000'000 / number;
  uint64_t ns = 0;
  return __builtin_mul_overflow(number, unit->ns, &ns) || ns > INT64_MAX ? 0 : ns;
}

constexpr std::string_view kUsual[] = {"profile-97",   "profile-199",  "profile-499", "profile-997", "profile-1999",
                                       "profile-4001", "profile-4999", "tick-1",      "tick-10",     "tick-100",
                                       "tick-500",     "tick-1000",    "tick-5000"};

bool is_of_every_cpu(const dif::ProbeDesc& description) { return description.name.starts_with("profile-"); }

bool is_timer(const dif::ProbeDesc& description) { return description.name.starts_with("tick-") || is_of_every_cpu(description); }

// "profile:::", "prof*:::tick-*", "tick-*"; not a description that leaves both the provider and the name open.
bool means_usual(const dif::ProbeDesc& description) {
  const bool names_provider = !description.provider.empty() && description.provider != "*";
  return (names_provider || is_timer(description)) && glob_match(description.provider, "profile") && description.module.empty() &&
         description.function.empty() && is_glob(description.name);
}

// True if the name has the right form; its period may still be invalid.
bool names_timer(const dif::ProbeDesc& description) {
  return is_timer(description) && glob_match(description.provider, "profile") && description.module.empty() &&
         description.function.empty() && !is_glob(description.name);
}

class ProfileProvider : public Provider {
 public:
  std::string_view name() const override { return "profile"; }

  Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) override {
    if (means_usual(description))
      for (const std::string_view usual : kUsual)
        if (glob_match(description.name, usual)) (void)add(std::string(usual), catalog);
    if (!names_timer(description) || add(description.name, catalog)) return {};
    return refuse(description.name);
  }

 private:
  // False: its period is invalid.
  static bool add(const std::string& name, Catalog& catalog) {
    const std::optional<TimerSite> timer = timer_of({"profile", "", "", name});
    if (timer) catalog.add(Probe{.provider = "profile", .name = name, .site = *timer});
    return timer.has_value();
  }

  static Discovery refuse(const std::string& name) {
    Discovery result;
    result.tag = "D_PDESC_ZERO";
    result.reason = fmt::format(
        "probe '{}' is not a rate or interval of at least 200 us (write tick-5000hz, profile-997, tick-10ms, tick-1s, tick-2min)",
        name);
    return result;
  }
};

}  // namespace

std::optional<TimerSite> timer_of(const dif::ProbeDesc& description) {
  if (!names_timer(description)) return {};
  const uint64_t period = parse_period(std::string_view(description.name).substr(description.name.find('-') + 1));
  if (period < kShortest) return {};
  return TimerSite{period, is_of_every_cpu(description)};
}

std::vector<std::string> timer_names(const std::string& begin) {
  std::vector<std::string> names;
  for (const std::string_view usual : kUsual)
    if (usual.starts_with(begin)) names.emplace_back(usual);
  const size_t unit_at = begin.find_last_of("0123456789") + 1;
  if (unit_at == 0) return names;
  for (const RateUnit& unit : kUnits) {
    std::string name = begin.substr(0, unit_at).append(unit.suffix);
    if (name.starts_with(begin) && timer_of({"profile", "", "", name})) names.push_back(std::move(name));
  }
  return names;
}

std::unique_ptr<Provider> make_profile_provider() { return std::make_unique<ProfileProvider>(); }

}  // namespace dvm::runtime
