#pragma once
// DIF as text: the disassembler prints a DIFO as DTrace's -S does, the assembler reads that form back. The listing is the golden
// form of the compiler's tests and the input of the conformance tests.

#include <string>
#include <string_view>

#include "dvm/common/result.h"
#include "dvm/dif/difo.h"

namespace dvm::dif {

// A listing: header, one line an instruction, the variable table.
std::string disassemble(const Difo& difo);

// The listing of dtrace -S, byte for byte: no names of types, but the built-in variables in the table. Where dtrace prints the
// address of the object stands a number; a string has `strsize` bytes.
std::string list_as_dtrace(const Difo& difo, uint64_t number, uint64_t strsize);

// Errors name the line: "line 3: unknown mnemonic 'frob'".
Result<Difo> assemble(std::string_view text);

}  // namespace dvm::dif
