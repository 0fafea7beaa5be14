#pragma once
// Completion and hovering: the texts that an editor shows for the names in a script.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/lsp/document.h"
#include "cmd/lsp/language.h"
#include "cmd/lsp/words.h"

namespace dvm::cmd::lsp {

// Names that may be put where the cursor is: of the language, the libraries and the script, each once. A name is spelled without
// what stands before it already, such as self-> or struct.
std::vector<LanguageWord> offered_names(const std::vector<compiler::NameDesc>& known, std::string_view text, const Cursor& cursor,
                                        size_t offset);

// Null: there is none.
const compiler::NameDesc* find_name(const std::vector<compiler::NameDesc>& known, std::string_view name);

}  // namespace dvm::cmd::lsp
