#pragma once
// From an object file that LLVM has made to code that can be mapped anywhere.

#include <llvm/Support/MemoryBufferRef.h>

#include "vm/engine/native/translator.h"

namespace dvm::vm::translate {

// The bytes of the function, or an error if it refers to anything outside itself.
native::Translation code_of(llvm::MemoryBufferRef object);

}  // namespace dvm::vm::translate
