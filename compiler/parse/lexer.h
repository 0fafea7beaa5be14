#pragma once
// DLexer with what its grammar leaves out: where items end, which identifiers name types, and errors of single tokens.

#include <string>
#include <vector>

#include "DLexer.h"
#include "compiler/diagnostic/diagnostics.h"
#include "compiler/parse/parse.h"

namespace dvm::compiler {

class Lexer : public grammar::DLexer {
 public:
  Lexer(antlr4::CharStream* input, const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics);

  std::unique_ptr<antlr4::Token> nextToken() override;
  // Index of the last token of each item.
  const std::vector<size_t>& item_ends() const { return item_ends_; }

 private:
  static size_t scoped_type(std::string_view text);
  std::unique_ptr<antlr4::Token> type_or_probe(std::unique_ptr<antlr4::Token> probe);
  bool begins_declaration(const antlr4::Token& t) const;
  bool ends_type(size_t kind) const;
  void classify(antlr4::WritableToken& t);
  bool is_word(const antlr4::Token& t) const;
  bool is_pointed_at(const antlr4::Token& t) const;
  bool is_first_in_line(const antlr4::Token& t) const;
  bool follows_tag() const;
  void follow_braces(size_t kind);
  void follow_typedef(const antlr4::Token& t);
  void check(const antlr4::Token& t);
  void check_comment(const antlr4::Token& t);
  void check_open(const antlr4::Token& t);
  void end_item();
  std::string text(const antlr4::Token& t) const;
  Location where(const antlr4::Token& t) const;

  const SourceFile& file_;
  Diagnostics& diagnostics_;
  TypeNames& type_names_;
  std::vector<size_t> item_ends_;
  size_t index_ = 0;     // of the next token on the default channel or off it
  size_t previous_ = 0;  // type of the last token on the default channel
  bool after_type_ = false;
  unsigned depth_ = 0;  // of braces
  bool in_item_ = false;
  bool in_clause_ = false;
  bool in_typedef_ = false;
  unsigned open_line_ = 0;        // of the last literal that was left open
  bool swallowed_brace_ = false;  // by such a one: the '}' that ends a clause
  std::string candidate_;         // last identifier of a typedef outside braces
};

}  // namespace dvm::compiler
