#pragma once
// -C: the C preprocessor of the system over a program, before it is compiled. Its line markers stay in the text; the compiler
// maps positions back by them.

#include <cstdint>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/compiler/compile.h"

namespace dvm::cmd {

struct Preprocessor {
  std::string program = "cpp";
  std::vector<std::string> arguments;  // -D, -U, -I, -H
  uint32_t version = 0;                // of D, as dif::parse_version() has it
};

// Replaces the text of `source` and keeps the original. Messages of cpp go to `messages`, or to standard error if that is null.
Status preprocess(compiler::Source& source, const Preprocessor& preprocessor, std::string* messages = nullptr);

}  // namespace dvm::cmd
