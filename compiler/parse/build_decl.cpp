// Declarations. Tests: tests/golden/parse (tst.declarations.d).
#include <algorithm>

#include "compiler/parse/attributes.h"
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

Declaration AstBuilder::declaration(Tree::DeclarationContext& tree) {
  Declaration d;
  d.where = where(tree);
  d.specifiers = specifiers(tree.specifiers);
  for (auto* t : tree.declarators) d.declarators.push_back(declarator(*t));
  return d;
}

InlineDecl AstBuilder::inline_definition(Tree::InlineDefinitionContext& tree) {
  InlineDecl d;
  d.where = where(tree);
  d.specifiers = specifiers(tree.specifiers);
  d.declarator = declarator(*tree.declared);
  d.value = expr(*tree.value);
  return d;
}

TranslatorDecl AstBuilder::translator(Tree::TranslatorDefinitionContext& tree) {
  TranslatorDecl d;
  d.where = where(tree);
  d.to = std::move(*type_name(*tree.to));
  d.from = std::move(*type_name(*tree.from));
  d.parameter = text(*tree.input);
  for (auto* member : tree.members) d.members.push_back({text(*member->name), where(*member), expr(*member->value)});
  return d;
}

ProviderDecl AstBuilder::provider(Tree::ProviderDefinitionContext& tree) {
  ProviderDecl d{where(tree), text(*tree.name), where(*tree.name), {}};
  for (auto* t : tree.probes) d.probes.push_back(probe(*t));
  return d;
}

ProbeDecl AstBuilder::probe(Tree::ProviderProbeContext& tree) {
  ProbeDecl p{text(*tree.name), where(*tree.name), signature(*tree.native), tree.translated != nullptr, {}};
  if (p.has_translated) p.translated = signature(*tree.translated);
  return p;
}

std::vector<Parameter> AstBuilder::signature(Tree::SignatureContext& tree) {
  return tree.list ? parameters(*tree.list) : std::vector<Parameter>();
}

Specifiers AstBuilder::specifiers(const std::vector<Tree::SpecifierContext*>& trees) {
  Specifiers s;
  s.where = {where(*trees.front()).begin, where(*trees.back()).end};
  for (auto* t : trees) add(s, *t);
  return s;
}

Specifiers AstBuilder::type_specifiers(const std::vector<Tree::TypeSpecifierContext*>& trees) {
  Specifiers s;
  s.where = {where(*trees.front()).begin, where(*trees.back()).end};
  for (auto* t : trees) add(s, *t);
  return s;
}

void AstBuilder::add(Specifiers& to, Tree::SpecifierContext& tree) {
  if (tree.named) return add(to, *tree.named);
  const size_t kind = tree.storage->getType();
  if (kind == Tree::TYPEDEF) to.is_typedef = true;
  if (kind == Tree::STORAGE || (to.scope && kind != Tree::TYPEDEF)) to.storage.push_back(text(*tree.storage));
  if (kind == Tree::SELF) to.scope = dif::Scope::thread;
  if (kind == Tree::THIS) to.scope = dif::Scope::clause;
}

void AstBuilder::add(Specifiers& to, Tree::TypeSpecifierContext& tree) {
  auto set_form = [&](TypeForm form) {
    to.mixed |= to.form != TypeForm::none && (to.form != form || form != TypeForm::basic);
    to.form = form;
  };
  if (auto* qualifier = dynamic_cast<Tree::QualifierSpecifierContext*>(&tree)) {
    qualify(to.qualifiers, text(*qualifier->start));
  } else if (dynamic_cast<Tree::UserlandSpecifierContext*>(&tree)) {
    to.is_userland = true;
  } else if (auto* attribute = dynamic_cast<Tree::AttributeSpecifierContext*>(&tree)) {
    add_attributes(text(*attribute->start), where(tree), to.has_body ? to.of_record : to.attributes);
  } else if (auto* basic = dynamic_cast<Tree::BasicSpecifierContext*>(&tree)) {
    set_form(TypeForm::basic);
    to.words.push_back(text(*basic->start));
  } else if (auto* named = dynamic_cast<Tree::NamedSpecifierContext*>(&tree)) {
    set_form(TypeForm::named);
    if (named->scoped)
      add_scoped(to, *named->start);
    else
      to.name = text(*named->start);
  } else if (auto* record = dynamic_cast<Tree::StructSpecifierContext*>(&tree)) {
    const size_t kind = record->start->getType();
    set_form(kind == Tree::STRUCT || kind == Tree::SCOPED_STRUCT ? TypeForm::structure : TypeForm::union_);
    structure(to, *record);
  } else if (auto* e = dynamic_cast<Tree::EnumSpecifierContext*>(&tree)) {
    set_form(TypeForm::enumeration);
    enumeration(to, *e);
  }
}

void AstBuilder::add_scoped(Specifiers& to, const antlr4::Token& name) {
  ScopedName scoped(text(name));
  to.is_scoped = true;
  to.module = std::move(scoped.module), to.name = std::move(scoped.name);
}

void AstBuilder::structure(Specifiers& to, Tree::StructSpecifierContext& tree) {
  if (tree.scoped) return add_scoped(to, *tree.scoped);
  if (tree.scope) add_scoped(to, *tree.scope);
  if (tree.name) to.name = text(*tree.name);
  to.has_body = tree.open != nullptr;
  for (auto* t : tree.attributes) add_attributes(text(*t), where(*t), to.of_record);
  for (auto* t : tree.members) members(*t, to.members);
}

void AstBuilder::enumeration(Specifiers& to, Tree::EnumSpecifierContext& tree) {
  if (tree.scoped) return add_scoped(to, *tree.scoped);
  if (tree.scope) add_scoped(to, *tree.scope);
  if (tree.name) to.name = text(*tree.name);
  to.has_body = tree.open != nullptr;
  for (auto* t : tree.enumerators)
    to.enumerators.push_back({text(*t->name), where(*t->name), t->value ? expr(*t->value) : nullptr});
}

void AstBuilder::members(Tree::MemberContext& tree, std::vector<MemberDecl>& to) {
  if (tree.specifiers.empty()) return;  // ";;"
  auto shared = std::make_shared<Specifiers>(type_specifiers(tree.specifiers));
  if (tree.declarators.empty()) {
    to.push_back({shared, {"", shared->where, {}}, false, nullptr});
    return;
  }
  for (auto* t : tree.declarators) {
    MemberDecl member;
    member.specifiers = shared;
    member.declarator.where = where(*t);
    if (t->declared) member.declarator = declarator(*t->declared);
    member.is_bitfield = t->colon != nullptr;
    if (member.is_bitfield) member.width = expr(*t->width);
    for (auto* a : t->attributes) add_attributes(text(*a), where(*a), member.declarator.attributes);
    to.push_back(std::move(member));
  }
}

Derivation AstBuilder::pointer(Tree::PointerContext& tree) {
  Derivation d;
  d.where = where(tree);
  for (auto* qualifier : tree.qualifiers) qualify(d.qualifiers, text(*qualifier));
  return d;
}

Declarator AstBuilder::declarator(Tree::DeclaratorContext& tree) {
  Declarator d;
  d.where = where(tree);
  derive(tree, d);
  for (auto* t : tree.attributes) add_attributes(text(*t), where(*t), d.attributes);
  return d;
}

void AstBuilder::add_pointers(const std::vector<Tree::PointerContext*>& trees, Declarator& to) {
  for (auto t = trees.rbegin(); t != trees.rend(); ++t) to.derivations.push_back(pointer(**t));
  if (to.derivations.size() <= kMaxDerivations) return;
  diagnostics_.error(Tag::D_NESTING, to.derivations[kMaxDerivations].where, "expression or declaration is nested too deeply");
  to.derivations.resize(kMaxDerivations);
}

// Inside out: what stands next to the name comes first.
void AstBuilder::derive(Tree::DeclaratorContext& tree, Declarator& to) {
  Tree::DirectDeclaratorContext& direct = *tree.direct;
  if (direct.inner) derive(*direct.inner, to);
  if (direct.name) to.name = text(*direct.name), to.where = where(*direct.name);
  for (auto* t : direct.suffixes) to.derivations.push_back(suffix(*t));
  add_pointers(tree.pointers, to);
}

void AstBuilder::derive(Tree::AbstractDeclaratorContext& tree, Declarator& to) {
  if (Tree::DirectAbstractContext* direct = tree.direct) {
    if (direct->inner) derive(*direct->inner, to);
    for (auto* t : direct->suffixes) to.derivations.push_back(suffix(*t));
  }
  add_pointers(tree.pointers, to);
}

Derivation AstBuilder::suffix(Tree::DeclaratorSuffixContext& tree) {
  Derivation d;
  d.where = where(tree);
  if (auto* array = dynamic_cast<Tree::ArraySuffixContext*>(&tree)) {
    d.kind = Derivation::Kind::array;
    if (array->count) d.count = expr(*array->count);
  } else if (auto* keys = dynamic_cast<Tree::KeySuffixContext*>(&tree)) {
    d.kind = Derivation::Kind::keys;
    d.parameters = parameters(*keys->keys);
  } else if (auto* function = dynamic_cast<Tree::FunctionSuffixContext*>(&tree)) {
    d.kind = Derivation::Kind::function;
    if (function->list) d.parameters = parameters(*function->list);
  }
  return d;
}

std::vector<Parameter> AstBuilder::parameters(Tree::ParametersContext& tree) {
  std::vector<Parameter> list;
  for (auto* t : tree.list) list.push_back(parameter(*t));
  return list;
}

Parameter AstBuilder::parameter(Tree::ParameterContext& tree) {
  if (tree.ellipsis) return {};
  Parameter p;
  p.type = std::make_shared<TypeName>();
  p.type->specifiers = specifiers(tree.specifiers);
  p.type->declarator.where = where(tree);
  if (tree.declared) derive(*tree.declared, p.type->declarator);
  if (tree.derived) derive(*tree.derived, p.type->declarator);
  p.name = p.type->declarator.name;
  return p;
}

std::shared_ptr<TypeName> AstBuilder::type_name(Tree::TypeNameContext& tree) {
  if (tree.known) return type_name(*tree.known);
  auto t = std::make_shared<TypeName>();
  t->declarator.where = where(tree);
  t->specifiers.where = where(*tree.name);
  t->specifiers.form = TypeForm::named;
  t->specifiers.name = text(*tree.name);
  for (auto* qualifier : tree.qualifiers) qualify(t->specifiers.qualifiers, text(*qualifier));
  if (tree.derived) derive(*tree.derived, t->declarator);
  return t;
}

std::shared_ptr<TypeName> AstBuilder::type_name(Tree::KnownTypeContext& tree) {
  auto t = std::make_shared<TypeName>();
  t->declarator.where = where(tree);
  t->specifiers = type_specifiers(tree.specifiers);
  if (tree.derived) derive(*tree.derived, t->declarator);
  return t;
}

}  // namespace dvm::compiler
