#pragma once
// D libraries: which are read, and in which order.
//
// A library that says "#pragma D depends_on library x.d" comes after x.d, and it is an error if there is no x.d. One whose
// provider or module is not there is left out without a word, and so are those that need it. To start quickly, a library may be
// marked as read only when a program names something that it defines; what it defines is found by scanning its words, not by
// parsing it.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/compiler/compile.h"

namespace dvm::compiler {

struct LibraryOrder {
  std::vector<const Source*> libraries;
  std::string missing;  // not empty: the library that one of them depends on and that is not there, as DTrace says it
  std::vector<const Source*> cycle;  // not empty: these depend on each other, the first is named again at the end
};

// How a dependency on a provider or module is answered.
using Provides = std::function<bool(std::string_view kind, std::string_view name)>;

LibraryOrder order_libraries(std::span<const Library> libraries, std::span<const Source> programs,
                             const std::vector<std::string>& arguments, const Provides& provides);

}  // namespace dvm::compiler
