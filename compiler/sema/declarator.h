#pragma once
// C's declarations: specifiers to a base type, declarators to a type derived from it, and the layout of structures.

#include "compiler/sema/session.h"

namespace dvm::compiler {

inline constexpr uint64_t kMaxObject = 16 << 20;      // bytes of one variable
inline constexpr uint64_t kMaxType = (1u << 31) - 1;  // of one object elsewhere

const Type* base_type(Specifiers& specifiers, Session& session);
// Skips the first `skip` derivations, which were for the caller.
const Type* derive_type(const Type* base, Declarator& declarator, size_t skip, Session& session);
// The type that is named; the error type after a diagnostic.
const Type* type_of(TypeName& name, Session& session);

// Rules for the parameters of one kind of declaration.
struct PrototypeRules {
  const char* kind;  // "array", "function", "probe input"
  bool may_vary = false;
  bool may_be_void = false;
  bool needs_names = false;
};
inline constexpr PrototypeRules kArrayPrototype{"array"};
inline constexpr PrototypeRules kFunctionPrototype{"function", true, true};

struct PrototypeTypes {
  std::vector<const Type*> types;  // none for (void); "..." is left out
  bool varies = false;
  bool is_void = false;
  bool failed = false;  // diagnosed
};
// Names must differ, or where there are `formals`, be among theirs.
PrototypeTypes prototype_types(const std::vector<Parameter>& parameters, const PrototypeRules& rules,
                               const std::vector<Parameter>* formals, Location where, Session& session);

}  // namespace dvm::compiler
