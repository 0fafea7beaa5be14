#pragma once
// Demangles names of C++ and Rust.

#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

// "lp::work" for _ZN2lp4workEi or _RNvCs1234_2lp4work: without arguments; empty: not a mangled name.
std::string demangle_without_arguments(std::string_view name);

// The names by which a description may match the function: without arguments, as above, and without the type of its result.
// with_arguments: also those with arguments, "lp::work(int)". Empty: not a mangled name.
std::vector<std::string> demangled_names(std::string_view name, bool with_arguments);

// True if the symbol names a piece that the compiler has moved out of a function: f.cold, f.part.0. The function jumps to such a
// piece, so entering it is not a call. Clones (f.isra.0, f.constprop.0), which are called in place of the function, are not
// pieces.
bool is_piece_of_function(std::string_view symbol);

}  // namespace dvm::runtime
