// Values of options as dtrace reads them. Covered by tests/unit/vm/options_test.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "common/similar.h"
#include "dvm/dif/option.h"
#include "dvm/dif/stability.h"

namespace dvm::dif {

namespace {

struct Suffix {
  std::string_view text;
  uint64_t factor;
};

constexpr Suffix kSizes[] = {{"", 1}, {"k", 1ull << 10}, {"m", 1ull << 20}, {"g", 1ull << 30}, {"t", 1ull << 40}};
constexpr uint64_t kSecond = 1'000'000'000;
constexpr Suffix kTimes[] = {{"ns", 1},
                             {"nsec", 1},
                             {"us", 1000},
                             {"usec", 1000},
                             {"ms", 1'000'000},
                             {"msec", 1'000'000},
                             {"s", kSecond},
                             {"sec", kSecond},
                             {"m", 60 * kSecond},
                             {"min", 60 * kSecond},
                             {"h", 3600 * kSecond},
                             {"hour", 3600 * kSecond},
                             {"d", 86400 * kSecond},
                             {"day", 86400 * kSecond}};

bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); i++)
    if ((a[i] >= 'A' && a[i] <= 'Z' ? a[i] - 'A' + 'a' : a[i]) != b[i]) return false;
  return true;
}

struct Quantity {
  uint64_t number = 0;
  std::string_view suffix;
};

// "10ms" as 10 and "ms"; 0x and a leading 0 as in C.
std::optional<Quantity> split(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X"))
    base = 16, text.remove_prefix(2);
  else if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
    base = 8;
  Quantity quantity;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.number, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  quantity.suffix = text.substr(static_cast<size_t>(end - text.data()));
  return quantity;
}

// The product, when an option can hold it.
std::optional<int64_t> scaled(uint64_t number, uint64_t factor) {
  uint64_t product;
  if (__builtin_mul_overflow(number, factor, &product) || product > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(product);
}

std::optional<int64_t> size_value(std::string_view text) {
  const auto quantity = split(text);
  if (!quantity) return std::nullopt;
  for (const Suffix& suffix : kSizes)
    if (same(quantity->suffix, suffix.text)) return scaled(quantity->number, suffix.factor);
  return std::nullopt;
}

// strsize has room for a character and its NUL.
constexpr int64_t kLeastString = 2;

// In nanoseconds; without a suffix, and with hz, so often a second. 0: as often as possible.
std::optional<int64_t> rate_value(std::string_view text) {
  const auto quantity = split(text);
  if (!quantity) return std::nullopt;
  if (quantity->suffix.empty() || same(quantity->suffix, "hz")) {
    if (quantity->number > kSecond) return std::nullopt;
    return quantity->number == 0 ? 0 : static_cast<int64_t>(kSecond / quantity->number);
  }
  for (const Suffix& suffix : kTimes)
    if (same(quantity->suffix, suffix.text)) return scaled(quantity->number, suffix.factor);
  return std::nullopt;
}

std::optional<int64_t> number_value(std::string_view text) {
  const auto quantity = split(text);
  if (!quantity || !quantity->suffix.empty()) return std::nullopt;
  return scaled(quantity->number, 1);
}

std::optional<int64_t> flag_value(std::string_view text) {
  for (const std::string_view word : {"", "on", "yes", "true", "enable", "enabled", "set", "1"})
    if (same(text, word)) return 1;
  for (const std::string_view word : {"off", "no", "false", "disable", "disabled", "unset", "0"})
    if (same(text, word)) return 0;
  const auto number = number_value(text);
  return number ? std::optional<int64_t>(*number != 0) : std::nullopt;
}

// The number of the word among the kind's.
std::optional<int64_t> word_value(std::string_view words, std::string_view text) {
  for (int64_t number = 0; !words.empty(); number++) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (text == word) return number;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return std::nullopt;
}

std::optional<int64_t> version_value(std::string_view text) {
  const auto version = parse_version(text);
  return version && is_known_version(*version) ? std::optional<int64_t>(*version) : std::nullopt;
}

std::optional<int64_t> attributes_value(std::string_view text) {
  const auto attributes = parse_attributes(text);
  return attributes ? std::optional(pack(*attributes)) : std::nullopt;
}

std::optional<int64_t> value_of(OptionKind kind, std::string_view text) {
  if (const auto word = word_value(info(kind).words, text)) return word;
  switch (kind) {
    case OptionKind::size:
      return size_value(text);
    case OptionKind::rate:
      return rate_value(text);
    case OptionKind::number:
      return number_value(text);
    case OptionKind::flag:
      return flag_value(text);
    case OptionKind::bare:
      return text.empty() ? std::optional<int64_t>(1) : std::nullopt;
    case OptionKind::text:
      return text.empty() ? std::nullopt : std::optional<int64_t>(1);
    case OptionKind::version:
      return version_value(text);
    case OptionKind::attributes:
      return attributes_value(text);
    default:
      return std::nullopt;
  }
}

// Why an option may not be set from there.
Error misplaced(OptionTime from) {
  if (from == OptionTime::dynamic) return {"Operation illegal when tracing is active"};
  return {"Option cannot be used from within a D program"};
}

}  // namespace

Options::Options() {
  for (unsigned i = 0; i < kOptionCount; i++) values_[i] = kOptions[i].standard;
}

// What is unsupported may still be set to what it is anyway.
Status Options::set(std::string_view name, std::string_view value, OptionTime from) {
  const OptionInfo* row = find_option(name);
  if (!row) return Error{"Invalid option name"};
  if (from < row->when) return misplaced(from);
  if (row->kind == OptionKind::version) {
    const auto version = parse_version(value);
    if (!version) return Error{"Version is not properly formatted or is too large"};
    if (!is_known_version(*version)) return Error{"Requested version is not supported by compiler"};
  }
  const auto read = value_of(row->kind, value);
  const bool is_short = row->id == Option::strsize && read && *read < kLeastString;
  if (!read || is_short || (row->most >= 0 && *read > row->most)) return Error{"Invalid value for specified option"};
  if (!row->unsupported.empty() && *read != row->standard) return Error{std::string(row->unsupported)};
  values_[static_cast<unsigned>(row->id)] = *read;
  if (row->kind == OptionKind::text) texts_[static_cast<unsigned>(row->id)].emplace_back(value);
  return {};
}

uint64_t scratch_size(const Options& options) {
  constexpr int64_t kLeast = 64 << 10;
  const int64_t size = options[Option::scratchsize];
  const int64_t bytes = size < 0 ? std::max(kLeast, 16 * options[Option::strsize]) : size;
  return static_cast<uint64_t>((bytes + 7) & ~int64_t{7});
}

std::vector<std::string> option_words(const OptionInfo& option) {
  if (option.kind == OptionKind::version) return known_versions();
  std::vector<std::string> all;
  for (std::string_view words = info(option.kind).words; !words.empty();) {
    all.emplace_back(words.substr(0, words.find(' ')));
    words.remove_prefix(std::min(words.size(), all.back().size() + 1));
  }
  return all;
}

std::vector<std::string> option_hints(std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionInfo& row : kOptions) {
    const std::string least = row.id == Option::strsize ? fmt::format(", at least {}", kLeastString) : "";
    const std::string most = row.most >= 0 ? fmt::format(", at most {}", row.most) : "";
    if (row.name == name) return {fmt::format("{} takes {}{}{}", name, info(row.kind).expected, least, most)};
    names.push_back(row.name);
  }
  std::vector<std::string> hints;
  for (const std::string& near : similar_names(name, names)) hints.push_back(fmt::format("did you mean '{}'?", near));
  return hints;
}

}  // namespace dvm::dif
