// Tests: tests/unit/compiler/compile_test.cpp.
#include "compiler/portable_declaration.h"

#include <fmt/format.h>

namespace dvm::compiler {

namespace {

bool is_anonymous(const Type& type) { return type.name.find('(') != std::string::npos; }

// Typedefs of the script as what they stand for; one that stands for a nameless type is looked for in the traced program.
std::string spell(const Type& type, const TypeNames& standard) {
  if (standard.contains(type.name)) return type.name;
  if (type.alias) {
    const bool is_only_name = is_anonymous(resolve(type)) && type.name.find(' ') == std::string::npos;
    return is_only_name ? "`" + type.name : spell(*type.alias, standard);
  }
  if (type.cls != TypeClass::pointer) return type.name;
  const bool is_plain = type.target->cls != TypeClass::function && type.target->cls != TypeClass::array;
  return is_plain ? spell(*type.target, standard) + " *" : "void *";
}

// A translated argument has the name of the one that it comes from.
std::string spell(const std::vector<ProbeArgument>& arguments, bool is_translated, const TypeNames& standard) {
  std::string list;
  for (const ProbeArgument& a : arguments)
    list += fmt::format("{}{} a{}", list.empty() ? "" : ", ", spell(*a.type, standard),
                        is_translated ? a.from : static_cast<size_t>(&a - arguments.data()));
  return fmt::format("({})", list);
}

std::string note_name(std::string name) {
  for (size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.replace(at, 1, "__");
  return name;
}

}  // namespace

std::string portable_declaration(const DeclaredProvider& provider, const TypeNames& standard) {
  std::string text = fmt::format("provider {} {{", provider.name);
  for (const DeclaredProbe& probe : provider.probes) {
    const std::string native = spell(probe.native, false, standard), translated = spell(probe.translated, true, standard);
    text += fmt::format(" probe {}{}{}{};", note_name(probe.name), native, native == translated ? "" : " : ",
                        native == translated ? "" : translated);
  }
  return text + " };";
}

}  // namespace dvm::compiler
