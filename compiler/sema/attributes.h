#pragma once
// Evaluates the layout attributes of __attribute__.

#include "compiler/sema/session.h"

namespace dvm::compiler {

struct LayoutRules {
  bool is_packed = false;
  uint64_t alignment = 1;  // the least alignment, in bytes
};

LayoutRules layout_rules(const LayoutAttributes& attributes, Session& s);
// The union of the attributes of a member and of its type.
LayoutRules layout_rules(const LayoutAttributes& a, const LayoutAttributes& b, Session& s);
// The type that a typedef names: a vector, or with another alignment.
const Type* attributed_type(const Type* type, const LayoutAttributes& attributes, Session& s);

}  // namespace dvm::compiler
