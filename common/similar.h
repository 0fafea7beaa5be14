#pragma once
// Near names, for "did you mean".

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dvm {

// At most three candidates, the nearest first, that become `name` by few insertions, deletions or changes of a letter.
std::vector<std::string> similar_names(std::string_view name, std::span<const std::string_view> candidates);

// The same as questions, each name with what belongs around it: "did you mean 'self->name'?"
std::vector<std::string> near_hints(std::string_view name, std::span<const std::string_view> candidates,
                                    std::string_view prefix = "", std::string_view suffix = "");

}  // namespace dvm
