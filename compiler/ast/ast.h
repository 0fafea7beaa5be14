#pragma once
// The AST: one struct for each kind of node. parse/ makes it, sema/ annotates expressions with types, constants and symbols, and
// lower/ reads it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/source/source_file.h"
#include "dvm/dif/difo.h"

namespace dvm::compiler {

struct Type;
struct Symbol;
struct Field;
struct VirtualBase;
struct Translator;

enum class ExprKind : uint8_t {
#define DVM_EXPR(name, text) name,
#include "compiler/ast/nodes.def"
};

struct Expr {
  ExprKind kind;
  Location where;

  // Set by sema:
  const Type* type = nullptr;
  bool is_lvalue = false;
  bool is_zero_constant = false;  // integer constant 0, which is a null pointer too
  bool is_user = false;           // an address of, or an object in, the traced process

  virtual ~Expr() = default;

 protected:
  Expr(ExprKind k, Location w) : kind(k), where(w) {}
};
using ExprPtr = std::unique_ptr<Expr>;

template <ExprKind K>
struct ExprOf : Expr {
  static constexpr ExprKind kKind = K;
  explicit ExprOf(Location w) : Expr(K, w) {}
};

// The expression as a Node, or null if it is of another kind.
template <class Node>
Node* as(Expr* e) {
  return e && e->kind == Node::kKind ? static_cast<Node*>(e) : nullptr;
}
template <class Node>
const Node* as(const Expr* e) {
  return e && e->kind == Node::kKind ? static_cast<const Node*>(e) : nullptr;
}

struct TypeName;

struct Integer : ExprOf<ExprKind::Integer> {
  using ExprOf::ExprOf;
  uint64_t value = 0;  // sign-extended where its type is signed
  bool decimal = true;
  bool is_unsigned = false;  // suffix u
  bool is_long = false;      // suffix l or ll
};
struct String : ExprOf<ExprKind::String> {
  using ExprOf::ExprOf;
  std::string value;
};
struct Macro : ExprOf<ExprKind::Macro> {
  using ExprOf::ExprOf;
  std::string name;        // without the $
  bool as_string = false;  // $$
};
struct Identifier : ExprOf<ExprKind::Identifier> {
  using ExprOf::ExprOf;
  std::string name;
  Symbol* symbol = nullptr;
};
struct Scoped : ExprOf<ExprKind::Scoped> {
  using ExprOf::ExprOf;
  dif::Scope scope = dif::Scope::thread;
  std::string name;
  Symbol* symbol = nullptr;
};
struct External : ExprOf<ExprKind::External> {
  using ExprOf::ExprOf;
  std::string module;  // empty: any
  std::string name;
  uint64_t address = 0;  // in the traced process, once checked
};
struct Aggregation : ExprOf<ExprKind::Aggregation> {
  using ExprOf::ExprOf;
  std::string name;  // without the @
  std::vector<ExprPtr> keys;
  bool has_keys = false;
};
struct Index : ExprOf<ExprKind::Index> {
  using ExprOf::ExprOf;
  ExprPtr base;
  std::vector<ExprPtr> arguments;
};
struct Member : ExprOf<ExprKind::Member> {
  using ExprOf::ExprOf;
  ExprPtr base;
  std::string name;
  bool arrow = false;
  const Field* field = nullptr;
  std::vector<const VirtualBase*> through;  // the field lies in the last of these, each of which is one of that before it
};
struct Call : ExprOf<ExprKind::Call> {
  using ExprOf::ExprOf;
  std::string name;
  std::vector<ExprPtr> arguments;
  unsigned subroutine = 0;  // dif::Subroutine, once checked
};

// Operators, by meaning. operators.def has their tokens.
enum class Op : uint8_t {
#define DVM_OPERATOR(name, token) name,
#include "compiler/ast/operators.def"
};
std::string_view token(Op op);

struct Unary : ExprOf<ExprKind::Unary> {
  using ExprOf::ExprOf;
  Op op = Op::plus;
  ExprPtr operand;
};
struct Postfix : ExprOf<ExprKind::Postfix> {
  using ExprOf::ExprOf;
  Op op = Op::increment;
  ExprPtr operand;
};
struct Binary : ExprOf<ExprKind::Binary> {
  using ExprOf::ExprOf;
  Op op = Op::add;
  ExprPtr left, right;
};
struct Assign : ExprOf<ExprKind::Assign> {
  using ExprOf::ExprOf;
  Op op = Op::assign;  // assign, or the operator of += and the like
  ExprPtr target, value;
};
struct Conditional : ExprOf<ExprKind::Conditional> {
  using ExprOf::ExprOf;
  ExprPtr condition, then, otherwise;
};
struct Comma : ExprOf<ExprKind::Comma> {
  using ExprOf::ExprOf;
  ExprPtr first, second;
};
struct Cast : ExprOf<ExprKind::Cast> {
  using ExprOf::ExprOf;
  std::shared_ptr<TypeName> to;  // shared by the copies that inlines make; null: sema inserted this cast, to `type`
  ExprPtr operand;
};
struct SizeofType : ExprOf<ExprKind::SizeofType> {
  bool is_alignment = false;  // __alignof__ (type)
  using ExprOf::ExprOf;
  std::shared_ptr<TypeName> of;
};
struct SizeofValue : ExprOf<ExprKind::SizeofValue> {
  using ExprOf::ExprOf;
  ExprPtr operand;
};
struct OffsetOf : ExprOf<ExprKind::OffsetOf> {
  using ExprOf::ExprOf;
  std::shared_ptr<TypeName> of;
  std::string member;
};
struct StringOf : ExprOf<ExprKind::StringOf> {
  using ExprOf::ExprOf;
  ExprPtr operand;
};
struct TranslatedMember {
  const Field* field = nullptr;
  ExprPtr value;
};
struct Translate : ExprOf<ExprKind::Translate> {
  using ExprOf::ExprOf;
  std::shared_ptr<TypeName> to;  // null: sema inserted this translation, to `type`
  ExprPtr operand;

  // Set by sema:
  Translator* translator = nullptr;
  std::vector<TranslatedMember> members;  // all of them, if the whole structure is needed
  // Without a translator, the node is a structure that lies in several words. This says why it cannot be used as a whole: no word
  // holds some of its members. Empty: it can.
  std::string problem;
};

// A copy without the annotations of sema. The body of an inline is copied and checked at each use.
ExprPtr clone(const Expr& expr);
// The same, or null for null.
ExprPtr copy(const ExprPtr& expr);
// Sets the location of a copy to its place of use. The original may lie in another file.
void place_at(Expr& expr, Location where);

// --- Declarations

struct MemberDecl;
struct Declarator;
struct Specifiers;

struct EnumeratorDecl {
  std::string name;
  Location where;
  ExprPtr value;  // may be null
};

struct Qualifiers {
  bool is_const = false;
  bool is_volatile = false;
  bool is_restrict = false;
};

// The layout that __attribute__ asks for.
struct LayoutAttributes {
  bool is_packed = false;
  std::vector<std::string> alignments;  // as written: "8", "sizeof (long)"; an empty string: the largest of the machine
  std::string vector_size;              // likewise; empty: no vector
  Location where;
};

enum class TypeForm : uint8_t { none, basic, named, structure, union_, enumeration };

// The part before the declarators: "self const unsigned int", "struct s { ... }".
struct Specifiers {
  Location where;
  bool is_typedef = false;
  std::optional<dif::Scope> scope;   // self, this
  std::vector<std::string> storage;  // auto, extern, register, static
  Qualifiers qualifiers;
  bool is_userland = false;  // the word "userland": a type of the traced process
  TypeForm form = TypeForm::none;
  bool mixed = false;  // more than one type is named, which is an error
  // Words of a basic type: "unsigned", "int".
  std::vector<std::string> words;
  std::string module;           // "a.out" in a.out`struct foo; empty: any
  bool is_scoped = false;       // a.out`struct foo, `struct foo
  std::string name;             // of a typedef, structure or enumeration
  LayoutAttributes attributes;  // of the declared object or type
  LayoutAttributes of_record;   // of the structure whose body this has
  bool has_body = false;
  std::vector<MemberDecl> members;
  std::vector<EnumeratorDecl> enumerators;
};

struct Parameter {
  std::shared_ptr<TypeName> type;  // null: "..."
  std::string name;
};

struct Derivation {
  enum class Kind : uint8_t { pointer, array, keys, function } kind = Kind::pointer;
  Location where;
  ExprPtr count;                      // of an array; may be null
  std::vector<Parameter> parameters;  // of keys and functions; (void) is one parameter
  Qualifiers qualifiers;              // of a pointer
};

// A declared name, and how its type is derived from the specifiers. The derivation nearest to the name comes first: "*a[3]" is an
// array, then a pointer.
struct Declarator {
  std::string name;
  Location where;
  std::vector<Derivation> derivations;
  LayoutAttributes attributes = {};
};

struct TypeName {
  Specifiers specifiers;
  Declarator declarator;  // without a name
};

struct MemberDecl {
  std::shared_ptr<Specifiers> specifiers;
  Declarator declarator;
  bool is_bitfield = false;
  ExprPtr width;
};

struct Declaration {
  Location where;
  Specifiers specifiers;
  std::vector<Declarator> declarators;
};

struct InlineDecl {
  Location where;
  Specifiers specifiers;
  Declarator declarator;
  ExprPtr value;
};

struct TranslatorMember {
  std::string name;
  Location where;
  ExprPtr value;
};

struct TranslatorDecl {
  Location where;
  TypeName to, from;
  std::string parameter;
  std::vector<TranslatorMember> members;
};

// "probe name(int, char *) : (struct x *);" of a provider.
struct ProbeDecl {
  std::string name;
  Location where;
  std::vector<Parameter> parameters;  // as the program passes them
  bool has_translated = false;
  std::vector<Parameter> translated;  // as a script sees them, after the ':'
};

struct ProviderDecl {
  Location where;
  std::string name;
  Location name_where;
  std::vector<ProbeDecl> probes;
};

struct Pragma {
  Location where;
  std::string text;  // the line without its #
};

// --- Clauses

struct Statement {
  Location where;
  ExprPtr expr;       // null: an if statement
  ExprPtr condition;  // of an if statement
  std::vector<Statement> then, otherwise;
  bool has_else = false;
};

struct ProbeName {
  std::string text;
  bool is_id = false;  // the number of a probe, as dvm list shows it
  Location where;
};

struct Clause {
  Location where;
  std::vector<ProbeName> probes;
  ExprPtr predicate;
  bool has_body = false;
  std::vector<Statement> statements;
};

using Item = std::variant<Pragma, Declaration, InlineDecl, TranslatorDecl, ProviderDecl, Clause>;

struct TranslationUnit {
  std::vector<Item> items;
  // Variables that parts with syntax errors name. It is not known if those parts assign them.
  std::vector<std::pair<dif::Scope, std::string>> doubtful;
};

}  // namespace dvm::compiler
