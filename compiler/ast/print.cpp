// AST to text. Tests: tests/golden/parse.
#include "compiler/ast/print.h"

#include <fmt/format.h>

#include "compiler/ast/visitor.h"

namespace dvm::compiler {

namespace {

std::string print(const Specifiers& s);
std::string print(const Declarator& d);
std::string print(const TypeName& t) { return print(t.specifiers) + print(t.declarator); }

std::string list(const std::vector<ExprPtr>& exprs) {
  std::string text;
  for (const ExprPtr& e : exprs) text += " " + compiler::print(*e);
  return text;
}
std::string sub(const ExprPtr& e) { return e ? compiler::print(*e) : "nothing"; }

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\', quoted += c;
    else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f)
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      quoted += c;
  }
  return quoted + "\"";
}

std::string form(const Integer& e) {
  return fmt::format("{}{}{}", e.decimal ? fmt::format("{}", e.value) : fmt::format("{:#x}", e.value), e.is_unsigned ? "u" : "",
                     e.is_long ? "l" : "");
}
std::string form(const String& e) { return quote(e.value); }
std::string form(const Macro& e) { return fmt::format("{}{}", e.as_string ? "$$" : "$", e.name); }
std::string form(const Identifier& e) { return e.name; }
std::string form(const Scoped& e) { return fmt::format("{}->{}", e.scope == dif::Scope::thread ? "self" : "this", e.name); }
std::string form(const External& e) { return fmt::format("{}`{}", e.module, e.name); }
std::string form(const Aggregation& e) { return fmt::format("(@{}{})", e.name, list(e.keys)); }
std::string form(const Index& e) { return fmt::format("(index {}{})", sub(e.base), list(e.arguments)); }
std::string form(const Member& e) { return fmt::format("({} {} {})", e.arrow ? "->" : ".", sub(e.base), e.name); }
std::string form(const Call& e) { return fmt::format("(call {}{})", e.name, list(e.arguments)); }
std::string form(const Unary& e) { return fmt::format("({} {})", token(e.op), sub(e.operand)); }
std::string form(const Postfix& e) { return fmt::format("(post{} {})", token(e.op), sub(e.operand)); }
std::string form(const Binary& e) { return fmt::format("({} {} {})", token(e.op), sub(e.left), sub(e.right)); }
std::string form(const Assign& e) {
  return fmt::format("({}{} {} {})", e.op == Op::assign ? "" : token(e.op), "=", sub(e.target), sub(e.value));
}
std::string form(const Conditional& e) { return fmt::format("(? {} {} {})", sub(e.condition), sub(e.then), sub(e.otherwise)); }
std::string form(const Comma& e) { return fmt::format("(, {} {})", sub(e.first), sub(e.second)); }
std::string form(const Cast& e) { return fmt::format("(cast <{}> {})", e.to ? print(*e.to) : "", sub(e.operand)); }
std::string form(const SizeofType& e) { return fmt::format("({} <{}>)", e.is_alignment ? "alignof" : "sizeof", print(*e.of)); }
std::string form(const SizeofValue& e) { return fmt::format("(sizeof {})", sub(e.operand)); }
std::string form(const OffsetOf& e) { return fmt::format("(offsetof <{}> {})", print(*e.of), e.member); }
std::string form(const StringOf& e) { return fmt::format("(stringof {})", sub(e.operand)); }
std::string form(const Translate& e) { return fmt::format("(xlate <{}> {})", print(*e.to), sub(e.operand)); }

std::string_view keyword(TypeForm form) {
  return form == TypeForm::structure     ? "struct"
         : form == TypeForm::union_      ? "union"
         : form == TypeForm::enumeration ? "enum"
                                         : "";
}

std::string body(const Specifiers& s) {
  std::string text;
  for (const MemberDecl& m : s.members)
    text += fmt::format(" {} {}{};", print(*m.specifiers), print(m.declarator), m.is_bitfield ? ":" + sub(m.width) : "");
  for (const EnumeratorDecl& e : s.enumerators) text += fmt::format(" {}{};", e.name, e.value ? " = " + sub(e.value) : "");
  return s.has_body ? fmt::format(" {{{} }}", text) : "";
}

std::string print(const Qualifiers& q) {
  return fmt::format("{}{}{}", q.is_const ? "const " : "", q.is_volatile ? "volatile " : "", q.is_restrict ? "restrict " : "");
}

std::string print(const Specifiers& s) {
  std::string text;
  for (const std::string& storage : s.storage) text += storage + " ";
  if (s.is_typedef) text += "typedef ";
  if (s.scope) text += *s.scope == dif::Scope::thread ? "self " : "this ";
  text += print(s.qualifiers);
  if (s.is_userland) text += "userland ";
  if (s.is_scoped) text += s.module + "`";
  for (size_t i = 0; i < s.words.size(); i++) text += (i ? " " : "") + s.words[i];
  text += keyword(s.form);
  if (!keyword(s.form).empty() && !s.name.empty()) text += " ";
  text += s.name + body(s);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string print(const std::vector<Parameter>& parameters) {
  std::string text;
  for (const Parameter& p : parameters) text += fmt::format("{}{}", text.empty() ? "" : ", ", p.type ? print(*p.type) : "...");
  return text;
}

std::string print(const Derivation& d) {
  const std::string text = print(d.parameters);
  switch (d.kind) {
    case Derivation::Kind::pointer:
      return fmt::format(" {}pointer", print(d.qualifiers));
    case Derivation::Kind::array:
      return fmt::format(" array({})", sub(d.count));
    case Derivation::Kind::keys:
      return fmt::format(" keys({})", text);
    case Derivation::Kind::function:
      return fmt::format(" function({})", text);
  }
  return "";
}

std::string print(const Declarator& d) {
  std::string text = d.name.empty() ? "" : " " + d.name;
  for (const Derivation& derivation : d.derivations) text += print(derivation);
  return text;
}

void print(const std::vector<Statement>& statements, const std::string& indent, std::string& to) {
  for (const Statement& s : statements) {
    if (!s.condition) {
      to += fmt::format("{}{}\n", indent, compiler::print(*s.expr));
      continue;
    }
    to += fmt::format("{}if {}\n", indent, compiler::print(*s.condition));
    print(s.then, indent + "  ", to);
    if (s.has_else) to += indent + "else\n";
    print(s.otherwise, indent + "  ", to);
  }
}

struct PrintItem {
  std::string operator()(const Pragma& p) const { return fmt::format("directive {}\n", quote(p.text)); }
  std::string operator()(const Declaration& d) const {
    std::string text = "declaration " + print(d.specifiers) + "\n";
    for (const Declarator& declarator : d.declarators) text += " " + print(declarator) + "\n";
    return text;
  }
  std::string operator()(const InlineDecl& d) const {
    return fmt::format("inline {}{} = {}\n", print(d.specifiers), print(d.declarator), sub(d.value));
  }
  std::string operator()(const TranslatorDecl& d) const {
    std::string text = fmt::format("translator {} from {} {}\n", print(d.to), print(d.from), d.parameter);
    for (const TranslatorMember& m : d.members) text += fmt::format("  {} = {}\n", m.name, sub(m.value));
    return text;
  }
  std::string operator()(const ProviderDecl& d) const {
    std::string text = fmt::format("provider {}\n", d.name);
    for (const ProbeDecl& p : d.probes)
      text += fmt::format("  probe {} ({}){}\n", p.name, print(p.parameters),
                          p.has_translated ? fmt::format(" : ({})", print(p.translated)) : "");
    return text;
  }
  std::string operator()(const Clause& c) const {
    std::string text = "clause\n";
    for (const ProbeName& p : c.probes) text += fmt::format("  probe {}{}\n", p.is_id ? "number " : "", p.text);
    if (c.predicate) text += fmt::format("  predicate {}\n", sub(c.predicate));
    print(c.statements, "  ", text);
    return text;
  }
};

}  // namespace

std::string print(const Expr& expr) {
  return visit(expr, [](const auto& e) { return form(e); });
}

std::string print(const TranslationUnit& unit) {
  std::string text;
  for (const Item& item : unit.items) text += std::visit(PrintItem{}, item);
  return text;
}

}  // namespace dvm::compiler
