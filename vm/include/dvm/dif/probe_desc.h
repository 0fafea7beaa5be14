#pragma once
// Probe descriptions as text: "pid$target:a.out:main:entry". Missing fields are those on the left. Macros are expanded. Within
// double quotes every character belongs to the field, as in pid$target:a.out:"ns::max<int>":entry, and macros are not expanded.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::dif {

// "entry" is a name, "f:entry" a function and a name. Nothing if there are more than four fields.
std::optional<ProbeDesc> parse_probe_desc(std::string_view text);

// "provider:module:function:name", with quotes around fields that need them.
std::string spell(const ProbeDesc& desc);

// Position of the first of these characters outside quotes, from a position on; npos: there is none.
size_t find_unquoted(std::string_view text, std::string_view characters, size_t from = 0);
// The fields as written, at least one.
std::vector<std::string_view> split_fields(std::string_view text);
// quoted() adds quotes if the field has characters that need them; unquoted() removes them.
std::string quoted(std::string_view field);
std::string unquoted(std::string_view field);

// Returns the value of a macro. name: without the $. at: offset of the macro in the text. Nothing ends the expansion.
using MacroValue = std::function<std::optional<std::string>(std::string_view name, size_t at)>;
// Replaces $name and $1 by their values. A name ends before the first character that cannot be in one. A number consists of
// digits only: in pid$1foo, the macro is $1.
std::optional<std::string> expand_macros(std::string_view text, const MacroValue& value);

}  // namespace dvm::dif
