#pragma once
// What __attribute__ says about the layout, as numbers.

#include "compiler/sema/session.h"

namespace dvm::compiler {

struct LayoutRules {
  bool is_packed = false;
  uint64_t alignment = 1;  // at least
};

LayoutRules layout_rules(const LayoutAttributes& attributes, Session& s);
// Those of a member, whose type may have some too.
LayoutRules layout_rules(const LayoutAttributes& a, const LayoutAttributes& b, Session& s);
// The type that a typedef names: a vector, or with another alignment.
const Type* attributed_type(const Type* type, const LayoutAttributes& attributes, Session& s);

}  // namespace dvm::compiler
