#pragma once
// Recognises files whose code continues on another stack, as coroutines, fibers and user threads do. The kernel's list of
// uretprobes follows one stack: it drops those below a higher stack pointer, and the program is killed when such a function
// returns. So a function that may be suspended in a call must not have a uretprobe.
//
// Compilers do not set the stack pointer right behind an instruction that copies it. Code that does was written by hand to switch
// stacks. The C library and its linker have such code for contexts; it counts only if a file imports these functions, or has them
// linked statically. Code that saves the pointer in another way is not recognised.

#include <libelf.h>

#include <span>

namespace dvm::runtime {

// True if these instructions, or any bytes among them that look like it, switch stacks.
bool switches_stacks(std::span<const unsigned char> code);

// The same of the code segments of a file.
bool switches_stacks(Elf* elf);

}  // namespace dvm::runtime
