// Splitting formats into conversions. Tests: tests/unit/compiler/literal_test.cpp.
#include "compiler/sema/format.h"

#include <fmt/format.h>

namespace dvm::compiler {

namespace {

constexpr std::string_view kFlags = "-+ #0'@?";
constexpr std::string_view kSizes = "hlLw";

size_t skip(std::string_view text, size_t i, std::string_view set) {
  const size_t end = text.find_first_not_of(set, i);
  return end == std::string_view::npos ? text.size() : end;
}

// A width or precision: digits or *.
size_t number(std::string_view text, size_t i, bool& dynamic) {
  if (i < text.size() && text[i] == '*') {
    dynamic = true;
    return i + 1;
  }
  return skip(text, i, "0123456789");
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
    const size_t flags = skip(format, i, kFlags);
    c.is_aggregation = format.substr(i, flags - i).find('@') != std::string_view::npos;
    i = number(format, flags, c.dynamic_width);
    if (i < format.size() && format[i] == '.') i = number(format, i + 1, c.dynamic_precision);
    const size_t sizes = skip(format, i, kSizes);
    if (sizes >= format.size()) {
      reason = fmt::format("format conversion #{} name expected before end of format string", conversions.size() + 1);
      return false;
    }
    c.letter = format[sizes];
    c.name = format.substr(i, sizes + 1 - i);
    i = sizes + 1;
    conversions.push_back(std::move(c));
  }
  return true;
}

}  // namespace dvm::compiler
