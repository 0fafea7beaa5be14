#pragma once
// Extracts position-independent code from an object file that LLVM made.

#include <llvm/Support/MemoryBufferRef.h>

#include "vm/engine/native/translator.h"

namespace dvm::vm::translate {

// The bytes of the code. An error if it refers to anything outside of itself.
native::Translation code_of(llvm::MemoryBufferRef object);

}  // namespace dvm::vm::translate
