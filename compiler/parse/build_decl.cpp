// Declarations. Tests: tests/golden/parse (tst.declarations.d).
#include <algorithm>

#include "compiler/parse/builder.h"

namespace dvm::compiler {

namespace {

// Pointers to arrays of functions of ... around one name.
constexpr size_t kMaxDerivations = 128;

void qualify(Qualifiers& to, std::string_view word) {
  to.is_const |= word == "const";
  to.is_volatile |= word == "volatile";
  to.is_restrict |= word == "restrict";
}

}  // namespace

ScopedName::ScopedName(std::string_view text) {
  const size_t last = text.rfind('`'), first = text.starts_with('`') ? 1 : 0;
  if (last > first) module = text.substr(first, last - first);
  name = text.substr(last + 1);
}

Declaration Builder::declaration(Tree::DeclarationContext& tree) {
  Declaration d;
  d.where = where(tree);
  d.specifiers = specifiers(tree.specifier());
  for (auto* t : tree.declarator()) d.declarators.push_back(declarator(*t));
  return d;
}

InlineDecl Builder::inline_definition(Tree::InlineDefinitionContext& tree) {
  InlineDecl d;
  d.where = where(tree);
  d.specifiers = specifiers(tree.specifier());
  d.declarator = declarator(*tree.declarator());
  d.value = expr(*tree.expr());
  return d;
}

TranslatorDecl Builder::translator(Tree::TranslatorDefinitionContext& tree) {
  TranslatorDecl d;
  d.where = where(tree);
  d.to = std::move(*type_name(*tree.typeName(0)));
  d.from = std::move(*type_name(*tree.typeName(1)));
  d.parameter = text(*tree.IDENTIFIER()->getSymbol());
  for (auto* member : tree.translatorMember())
    d.members.push_back({text(*member->IDENTIFIER()->getSymbol()), where(*member), expr(*member->expr())});
  return d;
}

ProviderDecl Builder::provider(Tree::ProviderDefinitionContext& tree) {
  const antlr4::Token& name = *tree.IDENTIFIER()->getSymbol();
  ProviderDecl d{where(tree), text(name), where(name), {}};
  for (auto* t : tree.providerProbe()) d.probes.push_back(probe(*t));
  return d;
}

ProbeDecl Builder::probe(Tree::ProviderProbeContext& tree) {
  const antlr4::Token& name = *tree.IDENTIFIER()->getSymbol();
  ProbeDecl p{text(name), where(name), signature(*tree.signature(0)), tree.COLON() != nullptr, {}};
  if (p.has_translated) p.translated = signature(*tree.signature(1));
  return p;
}

std::vector<Parameter> Builder::signature(Tree::SignatureContext& tree) {
  return tree.parameters() ? parameters(*tree.parameters()) : std::vector<Parameter>();
}

Specifiers Builder::specifiers(const std::vector<Tree::SpecifierContext*>& trees) {
  Specifiers s;
  s.where = {where(*trees.front()).begin, where(*trees.back()).end};
  for (auto* t : trees) add(s, *t);
  return s;
}

Specifiers Builder::type_specifiers(const std::vector<Tree::TypeSpecifierContext*>& trees) {
  Specifiers s;
  s.where = {where(*trees.front()).begin, where(*trees.back()).end};
  for (auto* t : trees) add(s, *t);
  return s;
}

void Builder::add(Specifiers& to, Tree::SpecifierContext& tree) {
  if (auto* t = dynamic_cast<Tree::TypeSpecifierOnlyContext*>(&tree)) return add(to, *t->typeSpecifier());
  auto& storage = static_cast<Tree::StorageSpecifierContext&>(tree);
  if (storage.TYPEDEF()) to.is_typedef = true;
  if (to.scope && (storage.SELF() || storage.THIS())) to.storage.push_back(text(*tree.start));
  if (storage.SELF()) to.scope = dif::Scope::thread;
  if (storage.THIS()) to.scope = dif::Scope::clause;
  if (storage.STORAGE()) to.storage.push_back(text(*storage.STORAGE()->getSymbol()));
}

void Builder::add(Specifiers& to, Tree::TypeSpecifierContext& tree) {
  auto set_form = [&](TypeForm form) {
    to.mixed |= to.form != TypeForm::none && (to.form != form || form != TypeForm::basic);
    to.form = form;
  };
  if (auto* qualifier = dynamic_cast<Tree::QualifierSpecifierContext*>(&tree)) {
    qualify(to.qualifiers, text(*qualifier->start));
  } else if (dynamic_cast<Tree::UserlandSpecifierContext*>(&tree)) {
    to.is_userland = true;
  } else if (auto* basic = dynamic_cast<Tree::BasicSpecifierContext*>(&tree)) {
    set_form(TypeForm::basic);
    to.words.push_back(text(*basic->BASIC_TYPE()->getSymbol()));
  } else if (auto* named = dynamic_cast<Tree::NamedSpecifierContext*>(&tree)) {
    set_form(TypeForm::named);
    if (named->SCOPED_NAME())
      add_scoped(to, *named->start);
    else
      to.name = text(*named->start);
  } else if (auto* record = dynamic_cast<Tree::StructSpecifierContext*>(&tree)) {
    set_form(record->STRUCT() || record->SCOPED_STRUCT() ? TypeForm::structure : TypeForm::union_);
    structure(to, *record);
  } else if (auto* e = dynamic_cast<Tree::EnumSpecifierContext*>(&tree)) {
    set_form(TypeForm::enumeration);
    enumeration(to, *e);
  }
}

void Builder::add_scoped(Specifiers& to, const antlr4::Token& name) {
  ScopedName scoped(text(name));
  to.is_scoped = true;
  to.module = std::move(scoped.module), to.name = std::move(scoped.name);
}

void Builder::structure(Specifiers& to, Tree::StructSpecifierContext& tree) {
  if (tree.SCOPED_NAME()) return add_scoped(to, *tree.SCOPED_NAME()->getSymbol());
  if (tree.SCOPED_STRUCT() || tree.SCOPED_UNION()) add_scoped(to, *tree.start);
  if (tree.name()) to.name = text(*tree.name()->start);
  to.has_body = tree.LBRACE() != nullptr;
  for (auto* t : tree.member()) members(*t, to.members);
}

void Builder::enumeration(Specifiers& to, Tree::EnumSpecifierContext& tree) {
  if (tree.SCOPED_NAME()) return add_scoped(to, *tree.SCOPED_NAME()->getSymbol());
  if (tree.SCOPED_ENUM()) add_scoped(to, *tree.start);
  if (tree.name()) to.name = text(*tree.name()->start);
  to.has_body = tree.LBRACE() != nullptr;
  for (auto* t : tree.enumerator()) {
    const antlr4::Token& name = *t->start;
    to.enumerators.push_back({text(name), where(name), t->expr() ? expr(*t->expr()) : nullptr});
  }
}

void Builder::members(Tree::MemberContext& tree, std::vector<MemberDecl>& to) {
  auto shared = std::make_shared<Specifiers>(type_specifiers(tree.typeSpecifier()));
  if (tree.memberDeclarator().empty()) {
    to.push_back({shared, {"", shared->where, {}}, false, nullptr});
    return;
  }
  for (auto* t : tree.memberDeclarator()) {
    MemberDecl member;
    member.specifiers = shared;
    member.declarator.where = where(*t);
    if (t->declarator()) member.declarator = declarator(*t->declarator());
    member.is_bitfield = t->COLON() != nullptr;
    if (member.is_bitfield) member.width = expr(*t->expr());
    to.push_back(std::move(member));
  }
}

Derivation Builder::pointer(Tree::PointerContext& tree) {
  Derivation d;
  d.where = where(tree);
  for (auto* qualifier : tree.QUALIFIER()) qualify(d.qualifiers, text(*qualifier->getSymbol()));
  return d;
}

Declarator Builder::declarator(Tree::DeclaratorContext& tree) {
  Declarator d;
  d.where = where(tree);
  derive(tree, d);
  return d;
}

void Builder::add_pointers(const std::vector<Tree::PointerContext*>& trees, Declarator& to) {
  for (auto t = trees.rbegin(); t != trees.rend(); ++t) to.derivations.push_back(pointer(**t));
  if (to.derivations.size() <= kMaxDerivations) return;
  diagnostics_.error(Tag::D_NESTING, to.derivations[kMaxDerivations].where, "expression or declaration is nested too deeply");
  to.derivations.resize(kMaxDerivations);
}

// Inside out: what stands next to the name comes first.
void Builder::derive(Tree::DeclaratorContext& tree, Declarator& to) {
  Tree::DirectDeclaratorContext& direct = *tree.directDeclarator();
  if (direct.declarator()) derive(*direct.declarator(), to);
  if (direct.name()) to.name = text(*direct.name()->start), to.where = where(*direct.name());
  for (auto* t : direct.declaratorSuffix()) to.derivations.push_back(suffix(*t));
  add_pointers(tree.pointer(), to);
}

void Builder::derive(Tree::AbstractDeclaratorContext& tree, Declarator& to) {
  if (Tree::DirectAbstractContext* direct = tree.directAbstract()) {
    if (direct->abstractDeclarator()) derive(*direct->abstractDeclarator(), to);
    for (auto* t : direct->declaratorSuffix()) to.derivations.push_back(suffix(*t));
  }
  add_pointers(tree.pointer(), to);
}

Derivation Builder::suffix(Tree::DeclaratorSuffixContext& tree) {
  Derivation d;
  d.where = where(tree);
  if (auto* array = dynamic_cast<Tree::ArraySuffixContext*>(&tree)) {
    d.kind = Derivation::Kind::array;
    if (array->expr()) d.count = expr(*array->expr());
  } else if (auto* keys = dynamic_cast<Tree::KeySuffixContext*>(&tree)) {
    d.kind = Derivation::Kind::keys;
    d.parameters = parameters(*keys->parameters());
  } else if (auto* function = dynamic_cast<Tree::FunctionSuffixContext*>(&tree)) {
    d.kind = Derivation::Kind::function;
    if (function->parameters()) d.parameters = parameters(*function->parameters());
  }
  return d;
}

std::vector<Parameter> Builder::parameters(Tree::ParametersContext& tree) {
  std::vector<Parameter> list;
  for (auto* t : tree.parameter()) list.push_back(parameter(*t));
  return list;
}

Parameter Builder::parameter(Tree::ParameterContext& tree) {
  if (tree.ELLIPSIS()) return {};
  Parameter p;
  p.type = std::make_shared<TypeName>();
  p.type->specifiers = specifiers(tree.specifier());
  p.type->declarator.where = where(tree);
  if (tree.declarator()) derive(*tree.declarator(), p.type->declarator);
  if (tree.abstractDeclarator()) derive(*tree.abstractDeclarator(), p.type->declarator);
  p.name = p.type->declarator.name;
  return p;
}

std::shared_ptr<TypeName> Builder::type_name(Tree::TypeNameContext& tree) {
  if (tree.knownType()) return type_name(*tree.knownType());
  auto t = std::make_shared<TypeName>();
  t->declarator.where = where(tree);
  t->specifiers.where = where(*tree.IDENTIFIER()->getSymbol());
  t->specifiers.form = TypeForm::named;
  t->specifiers.name = text(*tree.IDENTIFIER()->getSymbol());
  for (auto* qualifier : tree.QUALIFIER()) qualify(t->specifiers.qualifiers, text(*qualifier->getSymbol()));
  if (tree.abstractDeclarator()) derive(*tree.abstractDeclarator(), t->declarator);
  return t;
}

std::shared_ptr<TypeName> Builder::type_name(Tree::KnownTypeContext& tree) {
  auto t = std::make_shared<TypeName>();
  t->declarator.where = where(tree);
  t->specifiers = type_specifiers(tree.typeSpecifier());
  if (tree.abstractDeclarator()) derive(*tree.abstractDeclarator(), t->declarator);
  return t;
}

}  // namespace dvm::compiler
