#pragma once
// Text to AST. This is the only folder that includes ANTLR, and its exceptions end here.
//
//   text ── Lexer ──> tokens, cut into items ── DParser, item by item ──> rules ── Builder ──> AST
//
// An item is a clause, a declaration or a directive. The lexer finds its end (a ';' or the '}' of a clause outside all braces),
// so a syntax error stays in its item. There the statement that contains it is left out, and the rest is parsed again
// (recover.h).
//
// An item is parsed with ANTLR's fast SLL prediction and, if that fails, again with full LL, whose errors are reported. For
// speed, Matcher and Predictor run ANTLR's automata without its locks, and dvm has its own tokens and token stream (token.h,
// recover.h).
//
// kMaxDepth limits the nesting of rules, because the parser and all later passes recurse into the tree.

#include "compiler/ast/ast.h"
#include "compiler/diagnostic/diagnostics.h"
#include "compiler/parse/type_names.h"

namespace dvm::compiler {

// The AST of everything that could be parsed; the rest is diagnosed.
TranslationUnit parse(const SourceFile& file, TypeNames& type_names, Diagnostics& diagnostics);

}  // namespace dvm::compiler
