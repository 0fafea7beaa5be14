// Covered by tests/runtime/scenarios/test_preprocessor.py.
#include "compiler/parse/foreign_name.h"

#include <algorithm>

#include "DLexer.h"

namespace dvm::compiler {

namespace {

using D = grammar::DLexer;

constexpr std::string_view kWords[] = {"string",   "self",       "this",  "counter",  "import",   "probe",
                                       "provider", "translator", "xlate", "stringof", "offsetof", "userland"};

// The first sign after the word; a letter stands for any word.
char next_sign(std::string_view rest) {
  const size_t at = rest.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : rest[at];
}

bool is_one_of(char sign, std::string_view signs) { return sign != '\0' && signs.find(sign) != std::string_view::npos; }

}  // namespace

bool is_word_of_d(std::string_view word) { return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords); }

bool is_name_of_c(const WordPlace& place) {
  const char next = next_sign(place.rest);
  const bool ends_declarator = is_one_of(next, ";,)[:=_");  // "_": of __attribute__
  if (place.after_type || place.previous == D::STAR) return ends_declarator || (place.after_type && next == '(');
  if (place.previous == D::COMMA) return !place.in_parens && (ends_declarator || next == '}');
  if (place.previous == D::LBRACE) return is_one_of(next, ",=}");
  if (place.previous == D::SEMI) return next == '=';  // of a translator
  if (place.previous == D::ASSIGN) return is_one_of(next, ",}");
  return place.previous == D::LBRACKET && next == ']';
}

}  // namespace dvm::compiler
