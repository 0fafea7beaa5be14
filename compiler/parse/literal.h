#pragma once
// Parses literals.

#include <memory>
#include <string>

#include "compiler/ast/ast.h"
#include "compiler/diagnostic/diagnostics.h"

namespace dvm::compiler {

// "0x1fUL": the bases of C. Of its suffixes, u must come before l.
std::unique_ptr<Integer> parse_integer(std::string_view text, Location where, Diagnostics& diagnostics);

// "'ab'": up to eight characters, the first in the highest byte. Unlike in C, none is negative.
std::unique_ptr<Integer> parse_character(std::string_view text, Location where, Diagnostics& diagnostics);

// A quoted literal without its quotes and with its escapes resolved. Unknown escapes stay unchanged, also \', which
// DTrace does not know; \x without digits is a NUL. The value ends at a NUL, as D's strings do.
std::string unescape(std::string_view quoted);

}  // namespace dvm::compiler
