// Types by their names. Tests: tests/golden/sema (tst.target_types.d, err.D_UNKNOWN.target_type.d), tests/runtime/types.
#include "compiler/sema/find_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/sema/foreign.h"
#include "compiler/sema/macros.h"

namespace dvm::compiler {

namespace {

// D` and C` are the types of the script.
bool is_of_target(const Specifiers& spec) {
  return (spec.is_scoped && spec.module != "D" && spec.module != "C") || spec.is_userland;
}

// "a.out`struct foo" or "struct foo".
std::string spell(const Specifiers& spec, std::string_view keyword) {
  return fmt::format("{}{}{}{}{}", spec.module, spec.is_scoped ? "`" : "", keyword, keyword.empty() ? "" : " ", spec.name);
}

// The word or character at this place of a source, or behind blanks and comments.
std::string_view token_at(std::string_view text, size_t at) {
  at = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
  if (const size_t behind = text.find("*/", at); text.substr(at).starts_with("/*") && behind != std::string_view::npos)
    return token_at(text, behind + 2);
  size_t end = at;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) end++;
  return text.substr(at, std::max<size_t>(end - at, 1));
}

// DTrace has known types only. It reads another word as a variable, so that what follows the word or its parenthesis is the
// error.
void unknown_type(const Specifiers& spec, const std::string& hint, Session& s) {
  const std::string_view text = s.diagnostics.file().text();
  const size_t end = std::min(text.find_first_not_of(" \t*", spec.where.end), text.size());
  std::string_view near = spec.name;
  if (token_at(text, end) == ")") near = token_at(text, spec.where.end) == ")" ? token_at(text, end + 1) : ")";
  if (near == "(") return s.error(Tag::D_FUNC_UNDEF, spec.where, fmt::format("undefined function name: {}", spec.name), {hint});
  s.error(Tag::D_SYNTAX, spec.where, fmt::format("syntax error near \"{}\"", near), {hint});
}

// A type of the traced program. Null: it has none of that name, which is an error only where the script asks for the program's.
const Type* target_type(const Specifiers& spec, std::string_view keyword, std::string& reason, Session& s) {
  const Result<const Type*> found = s.target.find(target_module(spec.module), keyword, spec.name);
  if (found) return *found;
  if (spec.is_scoped && spec.module.empty())  // any module: the kernel and its own, too
    if (const Result<const Type*> of_kernel = s.target.find("kernel", keyword, spec.name)) return *of_kernel;
  const std::string_view foreign = is_of_target(spec) ? "" : foreign_type_reason(spec.name);
  reason = foreign.empty() ? found.error().message : foreign;
  if (!is_of_target(spec) && !keyword.empty()) return nullptr;
  const std::string message = fmt::format("failed to resolve type {}: {}", spell(spec, keyword), reason);
  if (is_of_target(spec) || !foreign.empty())
    s.error(Tag::D_UNKNOWN, spec.where, message);
  else
    unknown_type(spec, message, s);
  return s.types.error();
}

}  // namespace

// A structure, union or enumeration that is named without its members. What the script has of that name comes first.
const Type* named_tag(const Specifiers& spec, std::string_view keyword, Session& s) {
  if (!is_of_target(spec) && (spec.name.empty() || s.types.find_tag(keyword, spec.name))) return s.types.tag(keyword, spec.name);
  std::string reason;
  if (const Type* found = target_type(spec, keyword, reason, s)) return found;
  const Type* declared = s.types.tag(keyword, spec.name);
  s.set_missing(declared, reason);
  return declared;
}

namespace {

// $1 as a type: the parser has seen that the argument names one.
const Type* argument_type(const Specifiers& spec, Session& s) {
  const auto name = macro_text(std::string_view(spec.name).substr(1), spec.where, s);
  const Type* type = name ? s.types.find(*name) : nullptr;
  return type ? type : s.types.error();
}

}  // namespace

const Type* named_type(const Specifiers& spec, Session& s) {
  if (spec.name.starts_with('$')) return argument_type(spec, s);
  const Type* named = is_of_target(spec) ? nullptr : s.types.find(spec.name);
  if (named && s.types.is_of_illumos(spec.name) && !spec.is_scoped && !s.in_library) {
    const Result<const Type*> of_program = s.target.find("", "", spec.name);
    return of_program ? *of_program : named;
  }
  if (named) return named;
  std::string reason;
  return target_type(spec, "", reason, s);
}

std::string target_module(const std::string& scope) {
  const size_t end = scope.find('`');
  const std::string_view first = std::string_view(scope).substr(0, end);
  const bool is_process = first.starts_with("pid") && first.find_first_not_of("0123456789", 3) == std::string_view::npos;
  if (!is_process) return scope;
  return end == std::string::npos ? "" : scope.substr(end + 1);
}

}  // namespace dvm::compiler
