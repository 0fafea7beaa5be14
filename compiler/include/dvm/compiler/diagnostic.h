#pragma once
// What the compiler found wrong with a script, for callers. Made only inside compiler/diagnostic, rendered only by render().

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
  std::string region;              // "action list" or "predicate", where it lies inside one; dtrace names it for a program of -n
  unsigned line = 1;               // from 1
  unsigned column = 1;             // from 1, in bytes
  unsigned length = 1;             // of the marked range, in bytes, at least 1
  std::string source_line;         // text of that line, without its newline
  std::vector<std::string> hints;  // "did you mean 'timestamp'?"
};

}  // namespace dvm::compiler
