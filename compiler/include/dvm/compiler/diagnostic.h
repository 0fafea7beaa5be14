#pragma once
// Diagnostics for callers of the compiler. Only compiler/diagnostic makes them; render() turns them into text.

#include <span>
#include <string>
#include <vector>

namespace dvm::compiler {

enum class Severity { error, warning };

struct Diagnostic {
  Severity severity = Severity::error;
  std::string tag;      // D_SYNTAX, ...
  std::string message;  // as dtrace words it; may span lines
  std::string file;
  // "action list" or "predicate", if it lies inside of one. dtrace names it for a program of -n.
  std::string region;
  unsigned line = 1;        // from 1
  unsigned column = 1;      // from 1, in bytes
  unsigned length = 1;      // of the marked range, in bytes, at least 1
  std::string source_line;  // text of that line, without its newline

  std::string origin;                      // file of the line, if it was included or named by #line; else empty
  std::vector<std::string> included_from;  // "x.d, line 3", nearest first

  std::string written;             // the line before the preprocessor ran, if it differs from source_line
  unsigned order = 0;              // line of the compiled text, from 1; unlike `line`, #line does not change it
  std::vector<std::string> hints;  // "did you mean 'timestamp'?"
};

}  // namespace dvm::compiler
