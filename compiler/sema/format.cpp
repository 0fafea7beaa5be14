// Splitting formats into conversions. Tests: tests/unit/compiler/literal_test.cpp.
#include "compiler/sema/format.h"

#include <fmt/format.h>

#include <utility>

namespace dvm::compiler {

namespace {

constexpr std::string_view kModifiers = "-+ #0123456789'@?.*";
constexpr std::string_view kSizes = "hlLw";

// Flags, width, precision and @, in any order. False: twice the same, with the reason.
bool add_modifier(char c, Conversion& conversion, bool& has_point, std::string& reason) {
  if (c == '@') conversion.is_aggregation = true;
  if (c == '.' && std::exchange(has_point, true)) return reason = "has more than one '.' specified", false;
  if (c != '*') return true;
  bool& dynamic = has_point ? conversion.dynamic_precision : conversion.dynamic_width;
  if (!std::exchange(dynamic, true)) return true;
  reason = fmt::format("has more than one '*' specified for the output {}", has_point ? "precision" : "width");
  return false;
}

// The conversion behind a %, which ends at `i`. False: why it is none.
bool read_conversion(std::string_view format, size_t& i, Conversion& c, std::string& reason) {
  bool has_point = false;
  for (; i < format.size(); i++) {
    if (kSizes.find(format[i]) != std::string_view::npos)
      c.name += format[i];
    else if (kModifiers.find(format[i]) == std::string_view::npos)
      break;
    else if (!add_modifier(format[i], c, has_point, reason))
      return false;
  }
  if (i == format.size()) return reason = "name expected before end of format string", false;
  if (format[i] == '$') return reason = "uses unsupported positional format (%n$)", false;
  if (format[i] == '%') return reason = "cannot be combined with other format flags: %%", false;
  c.letter = format[i++];
  c.name += c.letter;
  return true;
}

}  // namespace

bool parse_format(std::string_view format, std::vector<Conversion>& conversions, std::string& reason) {
  for (size_t i = format.find('%'); i != std::string_view::npos; i = format.find('%', i)) {
    i++;
    if (i < format.size() && format[i] == '%') {
      i++;
      continue;
    }
    Conversion c;
    if (!read_conversion(format, i, c, reason)) {
      reason = fmt::format("format conversion #{} {}", conversions.size() + 1, reason);
      return false;
    }
    conversions.push_back(std::move(c));
  }
  return true;
}

}  // namespace dvm::compiler
