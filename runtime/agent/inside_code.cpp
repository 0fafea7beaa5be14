#include "runtime/agent/inside_code.h"

asm(".pushsection .rodata, \"a\", @progbits\n"
    ".balign 16\n"
    "dvm_inside_code_begin:\n"
    ".incbin \"" DVM_INSIDE_CODE
    "\"\n"
    "dvm_inside_code_end:\n"
    ".popsection\n");

extern "C" {
extern const std::byte dvm_inside_code_begin, dvm_inside_code_end;
}

namespace dvm::runtime {

std::span<const std::byte> inside_code() { return {&dvm_inside_code_begin, &dvm_inside_code_end}; }

}  // namespace dvm::runtime
