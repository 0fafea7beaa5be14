#pragma once
// Declarations in the syntax of C: the base type of specifiers, the type that a declarator derives from it, and the layout of
// structures.

#include "compiler/sema/session.h"

namespace dvm::compiler {

inline constexpr uint64_t kMaxObject = 16 << 20;      // bytes of one variable
inline constexpr uint64_t kMaxType = (1u << 31) - 1;  // bytes of any other object

const Type* base_type(Specifiers& specifiers, Session& session);
// Skips the first `skip` derivations, which the caller has handled.
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
// The names of the parameters must differ. If `formals` is given, they must be among its names.
PrototypeTypes prototype_types(const std::vector<Parameter>& parameters, const PrototypeRules& rules,
                               const std::vector<Parameter>* formals, Location where, Session& session);

}  // namespace dvm::compiler
