#pragma once
// Replaces parts of a text.

#include <string>
#include <string_view>

namespace dvm {

// The text with `by` in each place of `what`, which is not empty.
inline std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

}  // namespace dvm
