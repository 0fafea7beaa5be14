#pragma once
// Translators define how a structure is made from a value of another type, member by member.
//
//   translator out_t < struct in *P > { size = P->len * 8; };
//
// The expression `xlate <out_t *> (p)->size` becomes `p->len * 8`: only the selected member is evaluated. The assignment
// `this->o = xlate <out_t> (p)` fills a structure in scratch. Members that the translator does not define are 0.

#include <deque>
#include <string>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/types/type.h"
#include "dvm/dif/stability.h"

namespace dvm::compiler {

struct MemberTranslation {
  const TranslatorMember* from = nullptr;  // the AST outlives the translators
  const Field* field = nullptr;
  bool is_broken = false;     // an error in its definition was reported
  bool is_expanding = false;  // its definition is being expanded, to detect recursion
};

struct Translator {
  const Type* to = nullptr;
  const Type* from = nullptr;
  std::string parameter;
  dif::Attributes attributes;  // #pragma D attributes ... translator
  std::vector<MemberTranslation> members;

  MemberTranslation* find(std::string_view member);
};

class Translators {
 public:
  Translator& add(Translator translator) { return all_.emplace_back(std::move(translator)); }
  // The translator declared for exactly these types, or null.
  Translator* find_exact(const Type* to, const Type* from);
  // Candidates in the order of their declaration.
  std::deque<Translator>& all() { return all_; }
  // The name of a clause-local variable that no script can spell.
  std::string fresh_name() { return "%x" + std::to_string(count_++); }

 private:
  std::deque<Translator> all_;
  unsigned count_ = 0;
};

}  // namespace dvm::compiler
