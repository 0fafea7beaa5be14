#pragma once
// Turns declarations into types and symbols.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Declares the names that exist before any script: built-in variables, NULL.
void declare_built_ins(Session& session);

void declare(Declaration& declaration, Session& session);
void declare(InlineDecl& declaration, Session& session);
void declare(TranslatorDecl& declaration, Session& session);
void declare(ProviderDecl& declaration, Session& session);

// A name of the given type that stands for the argument of an inline or translator while its definition is checked.
std::string add_placeholder(const Type* type, Session& session);

// Checks that an id is left for a variable of that scope. False after a diagnostic.
bool has_room(dif::Scope scope, std::string_view name, Location where, Session& session);

}  // namespace dvm::compiler
