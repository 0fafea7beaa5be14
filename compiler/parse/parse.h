#pragma once
// Text to AST. This is the only folder that includes ANTLR, and its exceptions end here.
//
//   text ── Lexer ──> tokens, cut into items ── DParser, item by item ──> rules ── Builder ──> AST
//
// An item is a clause, a declaration or a directive. The lexer knows where one ends (a ';' or the '}' of a clause outside all
// braces), so a syntax error stays in its item; there the statement that has it is left out and the rest is read again
// (recover.h). An item is parsed with ANTLR's fast SLL prediction and, if that fails, again with full LL, whose errors are
// reported. ANTLR decides by automata that it makes as it goes; Matcher and Predictor walk them without its locks, and tokens and
// the stream of them are our own (token.h, recover.h): its runtime took two thirds of the time of compiling. How deep rules may
// nest is limited (kMaxDepth): recursion here and in all later passes follows the depth of the tree.

#include "compiler/ast/ast.h"
#include "compiler/diagnostic/diagnostics.h"
#include "compiler/parse/type_names.h"

namespace dvm::compiler {

// The AST of everything that could be parsed; the rest is diagnosed.
Unit parse(const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics);

}  // namespace dvm::compiler
