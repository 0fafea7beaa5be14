#pragma once
// Extends DLexer: finds the ends of items and the identifiers that name types, and reports malformed tokens.

#include <string>
#include <vector>

#include "compiler/diagnostic/diagnostics.h"
#include "compiler/parse/matcher.h"
#include "compiler/parse/token.h"
#include "compiler/parse/type_names.h"

namespace dvm::compiler {

class Lexer : public grammar::DLexer {
 public:
  Lexer(const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics);

  // All tokens except blanks and comments. The last one is EOF.
  std::vector<Token> run();
  // Index of the last token of each item.
  const std::vector<size_t>& item_ends() const { return item_ends_; }

 private:
  Token scan();
  void take(Token t);
  void take_attribute(Token t);
  bool begins_another_clause(const Token& t) const;
  Token type_or_probe(const Token& probe);
  Token with_template_arguments(const Token& name);
  static size_t scoped_type(std::string_view text);
  bool declares(const Token& t) const;
  bool begins_specifiers(const Token& t) const;
  bool begins_declaration(const Token& t) const;
  bool ends_type(size_t kind) const;
  void classify(Token& t) const;
  void name_argument(Token& t) const;
  bool is_foreign_name(const Token& t) const;
  bool is_foreign_type(const Token& t) const;
  bool is_in_header(const Token& t) const;
  bool is_pointed_at(const Token& t) const;
  bool is_first_in_line(const Token& t) const;
  bool follows_tag() const;
  void follow_braces(size_t kind);
  void follow_typedef(const Token& t);
  void follow_pragma(std::string_view text);
  void check(const Token& t);
  void check_comment(const Token& t);
  void check_open(const Token& t);
  void end_item();

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  TypeNames& type_names_;
  Matcher matcher_;
  size_t at_ = 0;  // where the next token begins
  std::vector<Token> tokens_;
  std::vector<size_t> item_ends_;
  size_t previous_ = 0;  // type of the last token
  bool after_type_ = false;
  unsigned depth_ = 0;   // of braces
  unsigned parens_ = 0;  // that are open in these braces
  bool in_item_ = false;
  bool in_clause_ = false;
  bool in_typedef_ = false;
  unsigned open_line_ = 0;        // of the last unterminated literal
  bool swallowed_brace_ = false;  // that literal contains the '}' that ends its clause
  std::string candidate_;         // last identifier of a typedef outside braces
};

}  // namespace dvm::compiler
