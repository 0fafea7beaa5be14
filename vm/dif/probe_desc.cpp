// Splitting and joining probe descriptions. Tests: tests/unit/vm/probe_desc_test.cpp.
#include "dvm/dif/probe_desc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace dvm::dif {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

std::optional<ProbeDesc> parse_probe_desc(std::string_view text) {
  ProbeDesc desc;
  for (std::string* field : {&desc.name, &desc.function, &desc.module, &desc.provider}) {
    const size_t colon = text.rfind(':');
    *field = text.substr(colon == std::string_view::npos ? 0 : colon + 1);
    if (colon == std::string_view::npos) return desc;
    text = text.substr(0, colon);
  }
  return {};
}

std::string spell(const ProbeDesc& d) { return fmt::format("{}:{}:{}:{}", d.provider, d.module, d.function, d.name); }

std::optional<std::string> expand_macros(std::string_view text, const MacroValue& value) {
  std::string expanded;
  size_t done = 0;
  for (size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', done)) {
    const std::string_view rest = text.substr(at + 1);
    const auto in_name = !rest.empty() && is_digit(rest[0]) ? is_digit : is_word;
    const auto name = rest.substr(0, static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), in_name) - rest.begin()));
    const auto part = name.empty() ? std::optional<std::string>("$") : value(name, at);
    if (!part) return {};
    expanded += text.substr(done, at - done);
    expanded += *part;
    done = at + 1 + name.size();
  }
  return expanded + std::string(text.substr(done));
}

}  // namespace dvm::dif
