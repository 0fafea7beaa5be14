#pragma once
// Expressions: what names stand for, what types they have, and which variables an assignment declares.

#include <span>
#include <string>
#include <vector>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// A parameter of an inline or translator, and what stands for it.
struct Substitution {
  std::string_view name;
  const Expr* value = nullptr;
  const Type* type = nullptr;
};
// Puts copies of the values, scalars as the parameter's type has them, wherever parameters are named.
void substitute(ExprPtr& e, std::span<const Substitution> list);
// Members whose names are like that of one that is not there.
std::vector<std::string> member_hints(const Type& record, std::string_view name);

class ExprChecker {
 public:
  explicit ExprChecker(Session& session) : s_(session) {}

  // Checks the tree below `e` and gives it its type; may put another node in its place (a constant, the body of an inline). What
  // is wrong is diagnosed once: a node with the error type silences those above it.
  void check(ExprPtr& e);
  // The same, for what need not be used by its value: an operand of &.
  void check_place(ExprPtr& e);
  // The same, for what must have a value of its own: not void, not an action.
  bool check_value(ExprPtr& e);
  // The value of a constant expression; false, with no diagnostic, when it is none.
  static bool constant(const Expr& e, int64_t& value);
  // The branch that a constant condition chooses, to replace the whole; null if the condition is not constant.
  ExprPtr chosen_branch(Conditional& e);
  // Arguments against a prototype of the tables ("string int int?"), converted to it. `what` is "strlen( )".
  bool check_prototype(const std::string& name, std::string_view prototype, std::vector<ExprPtr>& arguments, Location where);
  // The action or aggregating function last met inside an expression, where none belongs.
  const Call* nested_action() const { return nested_action_; }
  void forget_nested_action() { nested_action_ = nullptr; }
  // Fills the members of a structure that is translated as a whole (translate.cpp).
  void expand_translation(ExprPtr& e);
  // Whether a translator makes a structure, or a pointer to one, of a value.
  bool can_translate(const Type* to, const Expr& from);

  // Rules for an argument or key of the given type.
  bool is_compatible(const Type* formal, const Expr& actual) const;

 private:
  ExprPtr check(Integer& e);
  ExprPtr check(String& e);
  ExprPtr check(Macro& e);
  ExprPtr check(Identifier& e);
  ExprPtr check(Scoped& e);
  ExprPtr check(External& e);
  ExprPtr check(Aggregation& e);
  ExprPtr check(Index& e);
  ExprPtr check(Member& e);
  ExprPtr check(Call& e);
  ExprPtr check(Unary& e);
  ExprPtr check(Postfix& e);
  ExprPtr check(Binary& e);
  ExprPtr check(Assign& e);
  ExprPtr check(Conditional& e);
  ExprPtr check(Comma& e);
  ExprPtr check(Cast& e);
  ExprPtr check(SizeofType& e);
  ExprPtr check(SizeofValue& e);
  ExprPtr check(OffsetOf& e);
  ExprPtr check(StringOf& e);
  ExprPtr check(Translate& e);

  // check_types.cpp
  void fail(Expr& e) const { e.type = s_.types.error(); }
  void fail(Expr& e, Tag tag, std::string message, std::vector<std::string> hints = {});
  void undefined(Identifier& e);
  void unassigned(Expr& e, dif::Scope scope, const std::string& name);
  bool is_stable_enough(Expr& e, const std::string& what, const dif::Attributes& attributes);
  ExprPtr use(Expr& e, Symbol& symbol, std::string_view name);
  bool is_too_large(ExprPtr& e);
  // What an inline or translator puts in the place of a name.
  void check_expanded(ExprPtr& body, Location where);
  ExprPtr expand_inline(Location where, Symbol& symbol, std::vector<ExprPtr>* arguments);
  bool has_error(const std::vector<ExprPtr>& list) const;
  // Whether an operand is an aggregation, which is diagnosed.
  bool is_dynamic(Expr& e, const Expr& first, const Expr& second, std::string_view op);
  const Type* common_type(const Expr& a, const Expr& b) const;
  void incomplete(Expr& e, std::string_view op, const Type* type);

  // translate.cpp
  Translator* find_translator(const Type* to, const Expr& from);
  ExprPtr bind_operand(Translate& e, unsigned uses, ExprPtr& set);
  ExprPtr translate_member(MemberTranslation& m, const Translator& t, const Expr& operand, Location where);
  ExprPtr translated_member(Member& e, Translate& from);

  // check_operators.cpp
  bool resolve_enumerator(Binary& e);

  // check_call.cpp
  bool check_alloca(const Call& e);
  bool check_scratch(const Call& e, size_t index);

  // check_target.cpp
  ExprPtr target_constant(Location where, const std::string& module, const std::string& name);
  bool check_typed(const Expr& e);
  ExprPtr typed_argument(Index& e);
  ExprPtr argument_word(const dif::ArgumentPart& part, uint64_t offset, const Type* type, Location where);
  ExprPtr assemble(const dif::ArgumentDesc& argument, uint64_t offset, const Type* type, Location where, unsigned depth = 0);
  ExprPtr assembled_member(Member& e, Translate& from);
  static bool is_of_target(const Expr& e);
  bool check_own_memory(const Expr& target, Expr& operation, std::string_view op);

  // check_index.cpp
  Symbol* array_symbol(Index& e);
  bool check_keys(const Symbol& symbol, std::vector<ExprPtr>& keys, Location where);
  ExprPtr index_associative(Index& e, Symbol& symbol);
  ExprPtr index_memory(Index& e);
  ExprPtr index_built_in(Index& e, Symbol& symbol);
  bool check_register(Expr& e);

  // check_args.cpp
  const DeclaredProbe* declared_probe(Index& e);
  ExprPtr raw_argument(size_t number, const Type* type, Location where);
  ExprPtr checked_cast(ExprPtr value, const Type* type);
  ExprPtr index_args(Index& e);

  // check_operators.cpp
  bool require(bool condition, Expr& e, Tag tag, const char* format, std::string_view op);
  void check_logical(Binary& e);
  void check_bitwise(Binary& e);
  void check_arithmetic(Binary& e);
  void check_additive(Binary& e);
  void check_comparison(Binary& e);
  void incompatible(Expr& e, const Expr& left, std::string_view op, const Expr& right);
  bool pointers_match(const Expr& left, const Expr& right) const;
  bool is_assignable(const Type* to, const Expr& value) const;
  ExprPtr address_of(Unary& e);
  ExprPtr dereference(Unary& e);
  bool check_lvalue(Expr& target, Expr& operation, std::string_view op);
  bool declare_target(Assign& e);
  void forget(const Expr& target);
  void declare_counted(Expr& operand);
  bool declare_first(Index* element, dif::Scope scope, const std::string& name, const Type* type, Location where);
  void array_target(Assign& e, const Type* type);
  bool check_operands(Assign& e, std::string_view op);
  // ++ and --, before or behind their operand.
  void check_counted(Expr& e, ExprPtr& operand, Op op);
  bool first_keys(Index& element, const std::string& name, std::vector<const Type*>& types);

  Session& s_;
  const Call* nested_action_ = nullptr;
};

// A subroutine, action or aggregating function.
bool is_function(std::string_view name);
// The scope and name of a variable that is named without more; false for other expressions.
bool names_variable(const Expr& e, dif::Scope& scope, std::string& name);

// A conversion that sema inserts; folded at once when the operand is a constant.
ExprPtr convert(ExprPtr e, const Type* type);

}  // namespace dvm::compiler
