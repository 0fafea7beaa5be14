#pragma once
// Text to AST. This is the only folder that includes ANTLR, and its exceptions end here.
//
//   text ── Lexer ──> tokens, cut into items ── DParser, item by item ──> rules ── Builder ──> AST
//
// An item is a clause, a declaration or a directive. The lexer finds its end (a ';' or the '}' of a clause outside all braces),
// so a syntax error stays in its item. There the statement that contains it is left out, and the rest is parsed again
// (recover.h).
//
// An item is parsed with ANTLR's fast SLL prediction and, if that fails, again with full LL, whose errors are reported. Matcher
// and Predictor walk ANTLR's automata without its locks, and tokens and their stream are our own (token.h, recover.h). ANTLR's
// runtime took two thirds of the compile time.
//
// kMaxDepth limits how deep rules nest, because the recursion here and in all later passes follows the depth of the tree.

#include "compiler/ast/ast.h"
#include "compiler/diagnostic/diagnostics.h"
#include "compiler/parse/type_names.h"

namespace dvm::compiler {

// The AST of everything that could be parsed; the rest is diagnosed.
TranslationUnit parse(const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics);

}  // namespace dvm::compiler
