#pragma once
// What must hold of the diagnostics of any script.

#include <vector>

#include "dvm/compiler/compile.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

inline void check(const std::vector<compiler::Diagnostic>& diagnostics, const compiler::Source& source) {
  for (const compiler::Diagnostic& d : diagnostics) {
    require(d.tag.starts_with("D_"), "a diagnostic has a tag");
    require(!d.message.empty(), "a diagnostic says something");
    require(d.line >= 1 && d.column >= 1 && d.length >= 1, "a diagnostic has a place");
    require(d.column <= d.source_line.size() + 2, "the place is in the line that is shown");
    require(!compiler::render(d, source, true).empty(), "a diagnostic can be shown");
  }
}

}  // namespace dvm::fuzz
