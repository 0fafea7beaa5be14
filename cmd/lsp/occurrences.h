#pragma once
// Finds the places where a script names its variables, aggregations, inlines, types and translators.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::cmd::lsp {

struct Occurrence {
  size_t begin = 0, size = 0;  // of the name without self->, this->, @ or struct
  bool declares = false;       // it is assigned there, or declared outside of clauses
};

// The name that the word around an offset means: "x", "self->x", "@x" or "struct x"; empty: none that a script could declare.
std::string name_at(std::string_view text, size_t offset);

// Where a text means this name. Members of that name, fields of probe descriptions, comments, quotes and directives of the
// preprocessor do not mean it.
std::vector<Occurrence> occurrences(std::string_view text, std::string_view name);

// The first line with a directive that has the name, which may be a macro that uses it; 0: there is none.
size_t directive_with(std::string_view text, std::string_view name);

// The first that declares it, a translator before others; null: the script only uses it.
const Occurrence* declaration(std::string_view text, const std::vector<Occurrence>& all);

// The name without self->, this->, @ or struct.
std::string_view bare_name(std::string_view name);
// A word that may be a name; it may still be one of the language.
bool is_identifier(std::string_view name);

}  // namespace dvm::cmd::lsp
