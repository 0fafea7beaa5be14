#pragma once
// Scopes of C++ and Rust: the namespaces and classes around a DWARF description.

#include <elfutils/libdw.h>

#include <optional>
#include <string>
#include <string_view>

namespace dvm::runtime {

// "ns::Class::name": the scope "ns::Class", empty for a name without one, and the name. A "::" inside of <> does not count.
struct QualifiedName {
  std::string_view scope, name;
};
QualifiedName split_qualified(std::string_view text);

// The scope of a description: "ns::Class", empty at the top. An unnamed namespace adds nothing. Nothing: the scope is a function,
// or the file is damaged.
std::optional<std::string> scope_of(const Dwarf_Die& die);
// "scope::name", or the name if the scope is empty.
std::string qualified(std::string_view scope, std::string_view name);

}  // namespace dvm::runtime
