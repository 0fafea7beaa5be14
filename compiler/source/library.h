#pragma once
// Selects and sorts the D libraries.
//
// A library with "#pragma D depends_on library x.d" comes after x.d; without x.d that is an error. A library that depends on a
// missing provider or module is left out silently, and so are those that need it. To start quickly, some libraries are read only
// if a program names something that they define (Library::if_named). Their definitions are found by scanning for words, without
// parsing.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/compiler/compile.h"

namespace dvm::compiler {

struct LibraryOrder {
  std::vector<const Source*> libraries;
  std::string missing;               // an error in dtrace's words: a library depends on one that does not exist; empty: no error
  std::vector<const Source*> cycle;  // libraries that depend on each other, with the first one again at the end; empty: no error
};

// True if there is that provider or module. `kind` is "provider" or "module".
using Provides = std::function<bool(std::string_view kind, std::string_view name)>;

LibraryOrder order_libraries(std::span<const Library> libraries, std::span<const Source> programs,
                             const std::vector<std::string>& arguments, const Provides& provides);

}  // namespace dvm::compiler
