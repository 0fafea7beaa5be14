// Scopes of descriptions. Covered by tests/unit/instrument/dwarf_test.cpp and tests/fuzz/dwarf_fuzz.cpp.

#include "runtime/symbol/dwarf_scope.h"

#include <dwarf.h>

#include "runtime/symbol/dwarf_names.h"

namespace dvm::runtime {

namespace {

constexpr unsigned kDeepestScope = 64;
constexpr uint64_t kMostSiblings = 1 << 24;

bool is_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

// The child that a description is, or lies in: the last one that does not begin behind it.
std::optional<Dwarf_Die> child_with(Dwarf_Die& parent, const Dwarf_Die& die) {
  std::optional<Dwarf_Die> last;
  DieWalk walk(kMostSiblings);
  walk.below(parent, [&](Dwarf_Die& child) {
    if (child.addr > die.addr) return DieWalk::Next::stop;
    last = child;
    return DieWalk::Next::over;
  });
  return last;
}

}  // namespace

QualifiedName split_qualified(std::string_view text) {
  int depth = 0;
  for (size_t at = text.size(); at >= 2; at--) {
    const char c = text[at - 1];
    depth += c == '>' ? 1 : c == '<' ? -1 : 0;
    if (depth == 0 && text.substr(at - 2, 2) == "::") return {text.substr(0, at - 2), text.substr(at)};
  }
  return {{}, text};
}

std::string qualified(std::string_view scope, std::string_view name) {
  std::string text(scope);
  if (!scope.empty() && !name.empty()) text += "::";
  return text.append(name);
}

std::optional<std::string> scope_of(const Dwarf_Die& die) {
  Dwarf_Die at, copy = die;
  if (dwarf_diecu(&copy, &at, nullptr, nullptr) == nullptr) return std::nullopt;
  std::string scope;
  for (unsigned depth = 0; depth < kDeepestScope; depth++) {
    std::optional<Dwarf_Die> child = child_with(at, die);
    if (!child) return std::nullopt;
    if (child->addr == die.addr) return scope;
    if (!is_scope(dwarf_tag(&*child))) return std::nullopt;
    scope = qualified(scope, text_of(*child, DW_AT_name));
    at = *child;
  }
  return std::nullopt;
}

}  // namespace dvm::runtime
