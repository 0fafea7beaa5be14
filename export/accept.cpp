// Tested by tests/unit/export/accept_test.cpp.

#include "export/accept.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

namespace dvm::exporting {
namespace {

// Takes what is before the next separator, without spaces around it.
std::string_view take(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!part.empty() && is_space(part.front())) part.remove_prefix(1);
  while (!part.empty() && is_space(part.back())) part.remove_suffix(1);
  return part;
}

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return made;
}

// 0 to 1; what is no number is not wanted.
double quality(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::clamp(value, 0.0, 1.0) : 0;
}

struct MediaRange {
  std::string type;
  std::string_view proto, encoding;
  double quality = 1;

  explicit MediaRange(std::string_view text) : type(lower(take(text, ';'))) {
    while (!text.empty()) {
      std::string_view value = take(text, ';');
      const std::string name = lower(take(value, '='));
      if (name == "proto") proto = value;
      if (name == "encoding") encoding = value;
      if (name == "q") quality = exporting::quality(value);
    }
  }
  bool is_protobuf() const {
    return type == "application/vnd.google.protobuf" && proto == "io.prometheus.client.MetricFamily" && encoding == "delimited";
  }
  bool is_text() const { return type == "text/plain"; }
};

}  // namespace

bool prefers_protobuf(std::string_view accept) {
  double protobuf = 0, text = 0;
  while (!accept.empty()) {
    const MediaRange range(take(accept, ','));
    if (range.is_protobuf()) protobuf = std::max(protobuf, range.quality);
    if (range.is_text()) text = std::max(text, range.quality);
  }
  return protobuf > 0 && protobuf >= text;
}

}  // namespace dvm::exporting
