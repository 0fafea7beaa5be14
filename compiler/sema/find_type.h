#pragma once
// Looks up types by name: first those of the script, then those of the traced program.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// "struct foo", "a.out`union u", "enum e". The type is incomplete if neither the script nor the program defines it.
const Type* named_tag(const Specifiers& specifiers, std::string_view keyword, Session& session);
// "size_t", "libc.so.6`FILE".
const Type* named_type(const Specifiers& specifiers, Session& session);

// The module that a scope names: "pid123`libc" is libc of the process, "pid" any module.
std::string target_module(const std::string& scope);

}  // namespace dvm::compiler
