#pragma once
// A .scripts file holds scripts with what they print, by subject.
//
//   # a comment, before the first case
//   === name of the case
//   the script
//   ---
//   what it prints: results, then the lines of standard error
//
// Two rounds of firings meet each script, on these probes and in this order (engine_scripts_test.cpp):
//   f:entry of thread 101, f:entry of thread 102, g:return of 101, g:return of 102

#include <string>
#include <vector>

namespace dvm::test {

struct ScriptCase {
  std::string name;  // of its file and its own, as GoogleTest admits it
  std::string script, output;
};

// All that lie in tests/engines. Throws where a file is not of this form.
std::vector<ScriptCase> read_script_cases();
// Puts other outputs in, in the order of read_script_cases().
void write_outputs(const std::vector<ScriptCase>& cases);

}  // namespace dvm::test
