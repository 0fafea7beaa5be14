// Translators by their types. Tests: tests/golden/sema (tst.translator.d).
#include "compiler/sema/translators.h"

namespace dvm::compiler {

MemberTranslation* Translator::find(std::string_view member) {
  for (MemberTranslation& m : members)
    if (m.from->name == member) return &m;
  return nullptr;
}

Translator* Translators::find_exact(const Type* to, const Type* from) {
  for (Translator& t : all_)
    if (t.from == from && &resolve(*t.to) == &resolve(*to)) return &t;
  return nullptr;
}

}  // namespace dvm::compiler
