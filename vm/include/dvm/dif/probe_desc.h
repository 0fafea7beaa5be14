#pragma once
// Probe descriptions as text: "pid$target:a.out:main:entry". Fields are given from the right; macros stand for values. Within
// double quotes every character belongs to the field, as in pid$target:a.out:"ns::max<int>":entry, and nothing is a macro.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::dif {

// Fields that are missing are missing on the left: "entry" is a name, "f:entry" a function and a name. Nothing: more than four.
std::optional<ProbeDesc> parse_probe_desc(std::string_view text);

// "provider:module:function:name", with quotes around what needs them.
std::string spell(const ProbeDesc& desc);

// Position of the first of these characters outside quotes, from a position on; npos: there is none.
size_t find_unquoted(std::string_view text, std::string_view characters, size_t from = 0);
// The fields as they are written, at least one.
std::vector<std::string_view> split_fields(std::string_view text);
// A field in quotes if it has characters that need them, and without its quotes.
std::string quoted(std::string_view field);
std::string unquoted(std::string_view field);

// What a macro stands for, by its name without the $, which is at `at` of the text. Nothing ends the expansion.
using MacroValue = std::function<std::optional<std::string>(std::string_view name, size_t at)>;
// The text with values in the place of $name and $1. A name runs to the first character that cannot be in one, a number over
// digits only: pid$1foo names $1.
std::optional<std::string> expand_macros(std::string_view text, const MacroValue& value);

}  // namespace dvm::dif
