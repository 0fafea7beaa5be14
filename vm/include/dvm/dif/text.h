#pragma once
// DIF as text. The disassembler prints a DIFO in the form of dtrace -S, and the assembler reads this form. Golden tests of the
// compiler compare listings, and the conformance tests are written as listings.

#include <string>
#include <string_view>

#include "dvm/common/result.h"
#include "dvm/dif/difo.h"

namespace dvm::dif {

// A listing: a header, one line for each instruction, and the variable table.
std::string disassemble(const Difo& difo);

// The listing of dtrace -S, byte for byte: without names of types, and with built-in variables in the table. `number` takes the
// place of the address of the object. A string has `strsize` bytes.
std::string list_as_dtrace(const Difo& difo, uint64_t number, uint64_t strsize);

// Errors name the line: "line 3: unknown mnemonic 'frob'".
Result<Difo> assemble(std::string_view text);

}  // namespace dvm::dif
