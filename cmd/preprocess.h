#pragma once
// -C: the C preprocessor of the system over a program, before it is compiled. Its line markers stay in the text; the compiler
// maps positions back by them.

#include <string>
#include <vector>

#include "common/result.h"
#include "dvm/compiler/compile.h"

namespace dvm::cmd {

// Replaces the text of `source` and keeps what it was. `arguments` are for cpp: -D, -U, -I, -H. What cpp has to say it says on
// standard error.
Status preprocess(compiler::Source& source, const std::vector<std::string>& arguments);

}  // namespace dvm::cmd
