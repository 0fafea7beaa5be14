#pragma once
// Names of C++ and Rust for people.

#include <string>
#include <string_view>

namespace dvm::runtime {

// "lp::work" for _ZN2lp4workEi or _RNvCs1234_2lp4work: without arguments; empty: not a mangled name.
std::string demangle_without_arguments(std::string_view name);

}  // namespace dvm::runtime
