#pragma once
// Recovers from a syntax error: leaves out the statement, predicate or member that contains it, and parses the item again. So one
// mistake causes one message and hides no other. Also names the tokens that were expected.

#include <antlr4-runtime.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/ast/ast.h"
#include "compiler/parse/token.h"

namespace dvm::compiler {

// The tokens of one item, for ANTLR's parser. Directives and the parts that were left out are not among them.
class ItemTokens : public antlr4::TokenStream {
 public:
  // Tokens `begin` to `end` of the file, followed by EOF.
  ItemTokens(std::vector<Token>& file, size_t begin, size_t end);

  // Leaves out the smallest part around token `at` of the file whose removal may make the item valid. False: there is none.
  bool leave_out(size_t at);
  // Adds the names in the rest of an item that cannot be parsed.
  void note_names();
  // Variables that the parts left out may declare. Later passes report no errors that depend on this.
  std::vector<std::pair<dif::Scope, std::string>> names;
  // The token before it; null: it is the first.
  const Token* before(const antlr4::Token& token) const;

  Token* LT(ssize_t k) override;
  size_t LA(ssize_t k) override { return LT(k)->type(); }
  Token* get(size_t i) const override { return i < tokens_.size() ? tokens_[i] : end_; }
  void consume() override { at_++; }
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return tokens_.size(); }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getSourceName() const override { return ""; }
  std::string getText(const antlr4::misc::Interval&) override { return ""; }
  std::string getText() override { return ""; }
  std::string getText(antlr4::RuleContext*) override { return ""; }
  std::string getText(antlr4::Token*, antlr4::Token*) override { return ""; }

 private:
  size_t kind(size_t i) const;
  size_t find(size_t kind, size_t from) const;
  bool is_clause() const;
  bool is_boundary(size_t i) const;
  bool take_away(size_t from, size_t to);
  bool take_header(size_t at, size_t body);
  bool take_part(size_t at);
  size_t end_of_block(size_t brace) const;
  size_t end_of_part(size_t from) const;
  size_t end_of_loop_header(size_t from) const;
  void note_name(size_t i);

  std::vector<Token*> tokens_;
  Token* end_;
  size_t at_ = 0;
};

// "expected ';' or an operator". Empty if that would not help.
std::string expected(const antlr4::misc::IntervalSet& kinds);

}  // namespace dvm::compiler
