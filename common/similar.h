#pragma once
// Similar names, for "did you mean".

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dvm {

// At most three candidates at a small edit distance from `name`, the nearest first.
std::vector<std::string> similar_names(std::string_view name, std::span<const std::string_view> candidates);

// The same as questions. Each name gets the prefix and suffix: "did you mean 'self->name'?"
std::vector<std::string> near_hints(std::string_view name, std::span<const std::string_view> candidates,
                                    std::string_view prefix = "", std::string_view suffix = "");

}  // namespace dvm
