// Implicit conversions. Tests: tests/golden/sema.
#include "compiler/sema/convert.h"

#include "compiler/sema/fold_constants.h"

namespace dvm::compiler {

ExprPtr convert(ExprPtr e, const Type* type) {
  if (e->type == type || is_error(e->type) || is_error(type)) return e;
  if (e->kind == ExprKind::Translate) {  // to the same structure, by another name
    e->type = type;
    return e;
  }
  const bool to_string = is_string(type) && (is_char_pointer(e->type) || e->is_zero_constant),
             from_string = is_pointer(type) && is_string(e->type);
  if (!to_string && !from_string && (!is_scalar(e->type) || !is_scalar(type))) return e;
  auto cast = std::make_unique<Cast>(e->where);
  cast->type = type;
  cast->is_user = is_pointer(type) && e->is_user;
  cast->operand = std::move(e);
  if (ExprPtr folded = fold(*cast)) return folded;
  return cast;
}

}  // namespace dvm::compiler
