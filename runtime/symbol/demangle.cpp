// Demangles by the C++ runtime. Covered by tests/unit/instrument/elf_test.cpp.

#include "runtime/symbol/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace dvm::runtime {
namespace {

// Position of the parenthesis that opens the last group at the end of the text; npos: there is none.
size_t last_group(std::string_view text) {
  size_t depth = 0;
  for (size_t i = text.rfind(')') + 1; i-- > 0;) {
    if (text[i] == ')') depth++;
    if (text[i] == '(' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::string demangle_without_arguments(std::string_view name) {
  constexpr size_t kLongest = 4096;  // a made-up name could keep the demangler busy
  if (!name.starts_with("_Z") || name.size() > kLongest) return "";
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status),
                                                   &std::free);
  if (text == nullptr || status != 0) return "";
  std::string_view whole = text.get();
  return std::string(whole.substr(0, last_group(whole)));
}

}  // namespace dvm::runtime
