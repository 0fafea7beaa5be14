#pragma once
// Expressions to code; see lower.h for what a value is.

#include <optional>
#include <span>

#include "compiler/ast/ast.h"
#include "compiler/lower/emitter.h"
#include "compiler/types/type_table.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

// How much of a value the 64 bits of its register hold.
enum class Held : uint8_t {
  fitting,  // all of it, and its type can hold it
  number,   // all of it, but arithmetic may have exceeded its type
  low,      // only the bytes of its type; the upper ones are undefined
};
struct Value {
  Register reg = 0;
  Held held = Held::fitting;
};

// Conversions to string that read the traced process, and objects of it that are used by value.
bool reads_string(const Expr& e);
bool is_user_object(const Expr& e);

class ExprLowering {
 public:
  ExprLowering(Emitter& out, const TypeTable& types) : out_(out), types_(types) {}

  Value lower(const Expr& e);
  // The value cut to what `type` can hold.
  Register lower_as(const Expr& e, const Type* type);
  // The 64-bit value of the arithmetic, not cut.
  Register number(const Expr& e);
  // The value to keep: an object of the traced process is copied in.
  Value lower_value(const Expr& e);
  // For its effect; nothing is left in a register.
  void lower_statement(const Expr& e);

 private:
  // What can be stored to, kept between a load and a store.
  struct Place {
    const Symbol* symbol = nullptr;              // a variable
    const std::vector<ExprPtr>* keys = nullptr;  // an element of it
    std::vector<Register> held_keys;             // their values, if they are pushed more than once
    Register address = 0;                        // or memory
    const Field* field = nullptr;                // a bit-field at it
    const Type* type = nullptr;
  };
  struct Pair {
    Register left, right;
  };

  Value lower_node(const Integer& e);
  Value lower_node(const String& e) { return {out_.string(e.value)}; }
  Value lower_node(const Macro&) { return {}; }
  Value lower_node(const Identifier& e) { return load_variable(e, *e.symbol); }
  Value lower_node(const Scoped& e) { return load_variable(e, *e.symbol); }
  Value lower_node(const External& e) { return load_memory(address_of(e), e.type, true); }
  Value lower_node(const Aggregation&) { return {}; }
  Value lower_node(const Index& e);
  Value lower_node(const Member& e);
  Value lower_node(const Call& e);
  Value lower_node(const Unary& e);
  Value lower_node(const Postfix& e) { return step(*e.operand, e.op, true); }
  Value lower_node(const Binary& e);
  Value lower_node(const Assign& e);
  Value lower_node(const Conditional& e);
  Value lower_node(const Comma& e);
  Value lower_node(const Cast& e);
  Value lower_node(const SizeofType&) { return {}; }
  Value lower_node(const SizeofValue&) { return {}; }
  Value lower_node(const OffsetOf&) { return {}; }
  Value lower_node(const StringOf& e) { return reads_string(e) ? copy_in_string(*e.operand) : lower(*e.operand); }
  Value lower_node(const Translate& e);

  // lower_expr.cpp
  void cut(Value& v, const Type* type);
  Register fitting(const Expr& e);
  Value lower_low(const Expr& e, const Type* type);
  Value lower_number(const Expr& e, const Type* type);
  Pair lower_pair(const Expr& left, const Expr& right);
  Register shift_by(dif::Opcode op, Register reg, unsigned count) { return out_.log(op, reg, out_.integer(count)); }
  Value arithmetic(const Binary& e);
  Value pointer_difference(const Binary& e);
  Value additive_pointer(const Binary& e);
  Register scale(Register reg, uint64_t size);
  Register binary_op(Op op, const Type* type, Register left, Register right);

  // lower_condition.cpp
  void branch_if(const Expr& e, bool wanted, Label label);
  void branch_if_comparison(const Binary& e, bool wanted, Label label);
  bool compare(const Binary& e);
  Value truth(const Expr& e);
  Value truth_of(Register reg);
  Value logical_xor(const Binary& e);
  Value conditional_constant(const Conditional& e, bool wanted);

  // lower_store.cpp
  Value load_variable(const Expr& e, const Symbol& symbol);
  Place place(const Expr& e);
  Value load(const Place& place);
  Value load_made(const Place& place);
  void store(const Place& place, Register reg);
  void open(const Place& place);
  void close(const Place& place);
  Register stepped(Register old, Op op, const Type* type);
  Value step(const Expr& target, Op op, bool postfix);
  Register address_of(const Expr& e);
  Value load_memory(Register address, const Type* type, bool is_user);
  Value load_bits(Register address, const Field& field, bool is_user);
  Value extract_bits(Register unit, const Field& field, unsigned shift);
  void store_memory(Register address, Register reg, const Type* type);
  void store_bits(Register address, Register reg, const Field& field);
  const Type* compound_type(const Assign& e) const;
  Register compound_operand(const Assign& e);
  Value compound(const Assign& e);
  Value finish(const Place& place, Value v, const Type* from);

  // lower_translation.cpp
  Register offset_by(Register base, uint64_t offset);
  void copy_string(Register string, Register to, uint64_t size);
  void store_member(Register base, const TranslatedMember& member);

  // lower_call.cpp
  void push_all(const std::vector<ExprPtr>& list);
  std::vector<Register> evaluate(std::span<const ExprPtr> list);
  void push_held(const std::vector<ExprPtr>& list, const std::vector<Register>& registers);
  void push(const Expr& e, Register reg);
  // Strings and objects of the traced process as scratch has them.
  Value copy_in_string(const Expr& e);
  Value copy_in(const Expr& e);
  Value call_copy(dif::Subroutine subroutine, Register address, std::optional<uint64_t> size);

  Emitter& out_;
  const TypeTable& types_;
  const Expr* stored_in_ = nullptr;  // the dynamic variable of whose structure a part is about to be stored
};

// True if evaluating it can neither fault nor change anything, nor use the tuple stack: then it may be evaluated at another time,
// if nothing that it reads is changed in between.
bool is_calm(const Expr& e);
// How many registers its evaluation takes.
unsigned registers_needed(const Expr& e);

}  // namespace dvm::compiler
