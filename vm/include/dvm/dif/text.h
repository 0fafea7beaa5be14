#pragma once
// DIF as text: the disassembler prints a DIFO as DTrace's -S does, the assembler reads that form back. The listing is the golden
// form of the compiler's tests and the input of the conformance tests.

#include <string>
#include <string_view>

#include "common/result.h"
#include "dvm/dif/difo.h"

namespace dvm::dif {

// A listing: header, one line an instruction, the variable table.
std::string disassemble(const Difo& difo);

// Errors name the line: "line 3: unknown mnemonic 'frob'".
Result<Difo> assemble(std::string_view text);

}  // namespace dvm::dif
