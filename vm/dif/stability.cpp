// Attributes and versions as text. Covered by tests/unit/vm/stability_test.cpp.

#include "dvm/dif/stability.h"

#include <fmt/format.h>

#include <charconv>

#include "dvm/dif/versions.h"

namespace dvm::dif {

namespace {

bool same(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

template <class Names>
bool find(const Names& names, std::string_view name, uint8_t& position) {
  const auto it = std::find_if(names.begin(), names.end(), [&](const char* known) { return same(known, name); });
  position = static_cast<uint8_t>(it - names.begin());
  return it != names.end();
}

struct Version {
  uint32_t major, minor, micro;
};
constexpr Version kVersions[] = {{1, 0, 0},  {1, 1, 0},  {1, 2, 0},  {1, 2, 1},  {1, 2, 2}, {1, 3, 0}, {1, 4, 0},
                                 {1, 4, 1},  {1, 5, 0},  {1, 6, 0},  {1, 6, 1},  {1, 6, 2}, {1, 6, 3}, {1, 6, 4},
                                 {1, 7, 0},  {1, 7, 1},  {1, 8, 0},  {1, 8, 1},  {1, 9, 0}, {1, 9, 1}, {1, 10, 0},
                                 {1, 11, 0}, {1, 12, 0}, {1, 12, 1}, {1, 13, 0}, {2, 0, 0}};

constexpr uint32_t number_of(const Version& v) { return v.major << 24 | v.minor << 12 | v.micro; }

struct Since {
  std::string_view name;
  Version version;
};
constexpr Since kSince[] = {
#define DVM_SINCE(name, major, minor, micro) {#name, {major, minor, micro}},
#include "versions.def"
};

}  // namespace

std::optional<Attributes> parse_attributes(std::string_view text) {
  const size_t first = text.find('/'), second = text.find('/', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  Attributes a;
  if (!find(kStabilities, text.substr(0, first), a.name) ||
      !find(kStabilities, text.substr(first + 1, second - first - 1), a.data) || !find(kClasses, text.substr(second + 1), a.cls))
    return std::nullopt;
  return a;
}

std::string print(const Attributes& a) {
  return fmt::format("{}/{}/{}", kStabilities[a.name], kStabilities[a.data], kClasses[a.cls]);
}

std::optional<uint32_t> parse_version(std::string_view text) {
  uint32_t parts[3] = {};
  constexpr uint32_t kMost[] = {0xff, 0xfff, 0xfff};
  for (size_t i = 0; i < 3; i++) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts[i]);
    if (error != std::errc() || parts[i] > kMost[i]) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return i == 0 ? std::nullopt : std::optional(number_of({parts[0], parts[1], parts[2]}));
    if (text[0] != '.') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

std::string print_version(uint32_t v) {
  const std::string text = fmt::format("{}.{}", v >> 24, v >> 12 & 0xfff);
  return v & 0xfff ? fmt::format("{}.{}", text, v & 0xfff) : text;
}

std::vector<std::string> known_versions() {
  std::vector<std::string> all;
  for (const Version& version : kVersions) all.push_back(print_version(number_of(version)));
  return all;
}

uint32_t introduced_in(std::string_view name) {
  const auto row = std::find_if(std::begin(kSince), std::end(kSince), [&](const Since& s) { return s.name == name; });
  return row == std::end(kSince) ? number_of(kVersions[0]) : number_of(row->version);
}

bool is_known_version(uint32_t version) {
  return std::any_of(std::begin(kVersions), std::end(kVersions), [&](const Version& v) { return number_of(v) == version; });
}

}  // namespace dvm::dif
