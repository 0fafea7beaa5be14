#pragma once
// -C: the C preprocessor of the system over a program, before it is compiled. Its line markers stay in the text; the compiler
// maps positions back by them.

#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/compiler/compile.h"

namespace dvm::cmd {

struct Preprocessor {
  std::string program = "cpp";
  std::vector<std::string> arguments;  // -D, -U, -I, -H
};

// Replaces the text of `source` and keeps what it was. What cpp has to say it says in `messages`, or, if that is null, on
// standard error.
Status preprocess(compiler::Source& source, const Preprocessor& preprocessor, std::string* messages = nullptr);

}  // namespace dvm::cmd
