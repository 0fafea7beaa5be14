#pragma once
// What is done about a syntax error: the statement, predicate or member that has it is left out and its item is parsed again, so
// that one mistake costs one message and hides no other; and the words for what was expected there.

#include <antlr4-runtime.h>

#include <string>
#include <utility>
#include <vector>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

// Tokens of one item, by their indices in the stream, without those that are hidden.
class ItemTokens {
 public:
  ItemTokens(antlr4::BufferedTokenStream& stream, size_t begin, size_t end);

  // Hides the smallest part around token `at` without which the item may be D. False: there is none.
  bool leave_out(size_t at);
  // Names of variables in what was left out: what is said of them later is not sure.
  std::vector<std::pair<dif::Scope, std::string>> names;

 private:
  size_t kind(size_t i) const;
  size_t find(size_t kind, size_t from) const;
  bool is_clause() const;
  bool is_boundary(size_t i) const;
  bool hide(size_t from, size_t to);
  bool hide_header(size_t at, size_t body);
  bool hide_part(size_t at);
  size_t end_of_block(size_t brace) const;
  size_t end_of_part(size_t from) const;
  void note_name(size_t i);

  std::vector<antlr4::Token*> tokens_;
};

// "expected ';' or an operator"; empty if that would say nothing.
std::string expected(const antlr4::misc::IntervalSet& kinds);

}  // namespace dvm::compiler
