#pragma once
// Types that are named without being described: those of the script, then those of the traced program.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// "struct foo", "a.out`union u", "enum e": declared only, if neither the script nor the program defines it.
const Type* named_tag(const Specifiers& specifiers, std::string_view keyword, Session& session);
// "size_t", "libc.so.6`FILE".
const Type* named_type(const Specifiers& specifiers, Session& session);

// The module that a scope means: "pid123`libc" is libc of the process, "pid" any.
std::string target_module(const std::string& scope);

}  // namespace dvm::compiler
