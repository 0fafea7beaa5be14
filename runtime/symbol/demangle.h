#pragma once
// C++ names for people.

#include <string>
#include <string_view>

namespace dvm::runtime {

// "lp::work" for _ZN2lp4workEi: without arguments; empty: not a mangled name.
std::string demangle_without_arguments(std::string_view name);

}  // namespace dvm::runtime
