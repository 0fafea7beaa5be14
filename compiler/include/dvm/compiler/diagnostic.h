#pragma once
// Diagnostics as callers get them. Only compiler/diagnostic makes them, and only render() turns them into text.

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
  std::string region;       // "action list" or "predicate", where it lies inside one; dtrace names it for a program of -n
  unsigned line = 1;        // from 1
  unsigned column = 1;      // from 1, in bytes
  unsigned length = 1;      // of the marked range, in bytes, at least 1
  std::string source_line;  // text of that line, without its newline
  std::string origin;       // file of the line, where that is not the source itself: included, or named by #line
  std::vector<std::string> included_from;  // "x.d, line 3", nearest first
  std::string written;                     // the line before the preprocessor, where it differs from source_line
  unsigned order = 0;                      // line of the text that was compiled, which counts on where `line` does not
  std::vector<std::string> hints;          // "did you mean 'timestamp'?"
};

}  // namespace dvm::compiler
