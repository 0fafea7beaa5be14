#pragma once
// Probe descriptions as text: "pid$target:a.out:main:entry". Fields are given from the right; macros stand for values.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "dvm/dif/program.h"

namespace dvm::dif {

// Fields that are missing are missing on the left: "entry" is a name, "f:entry" a function and a name. Nothing: more than four.
std::optional<ProbeDesc> parse_probe_desc(std::string_view text);

// "provider:module:function:name".
std::string spell(const ProbeDesc& desc);

// What a macro stands for, by its name without the $, which is at `at` of the text. Nothing ends the expansion.
using MacroValue = std::function<std::optional<std::string>(std::string_view name, size_t at)>;
// The text with values in the place of $name and $1. A name runs to the first character that cannot be in one, a number over
// digits only: pid$1foo names $1.
std::optional<std::string> expand_macros(std::string_view text, const MacroValue& value);

}  // namespace dvm::dif
