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
struct LoweredValue {
  Register reg = 0;
  Held held = Held::fitting;
};

// Conversions to string that read the traced process, and objects of it that are used by value.
bool reads_string(const Expr& e);
bool is_user_object(const Expr& e);

class ExprLowering {
 public:
  ExprLowering(Emitter& out, const TypeTable& types) : out_(out), types_(types) {}

  LoweredValue lower(const Expr& e);
  // The value cut to what `type` can hold.
  Register lower_as(const Expr& e, const Type* type);
  // The 64-bit value of the arithmetic, not cut.
  Register number(const Expr& e);
  // The value to keep: an object of the traced process is copied in.
  LoweredValue lower_value(const Expr& e);
  // For its effect; nothing is left in a register.
  void lower_statement(const Expr& e);

 private:
  // What can be stored to, kept between a load and a store.
  struct StoreTarget {
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

  LoweredValue lower_node(const Integer& e);
  LoweredValue lower_node(const String& e) { return {out_.string(e.value)}; }
  LoweredValue lower_node(const Macro&) { return {}; }
  LoweredValue lower_node(const Identifier& e) { return load_variable(e, *e.symbol); }
  LoweredValue lower_node(const Scoped& e) { return load_variable(e, *e.symbol); }
  LoweredValue lower_node(const External& e) { return load_memory(address_of(e), e.type, true); }
  LoweredValue lower_node(const Aggregation&) { return {}; }
  LoweredValue lower_node(const Index& e);
  LoweredValue lower_node(const Member& e);
  LoweredValue lower_node(const Call& e);
  LoweredValue lower_node(const Unary& e);
  LoweredValue lower_node(const Postfix& e) { return step(*e.operand, e.op, true); }
  LoweredValue lower_node(const Binary& e);
  LoweredValue lower_node(const Assign& e);
  LoweredValue lower_node(const Conditional& e);
  LoweredValue lower_node(const Comma& e);
  LoweredValue lower_node(const Cast& e);
  LoweredValue lower_node(const SizeofType&) { return {}; }
  LoweredValue lower_node(const SizeofValue&) { return {}; }
  LoweredValue lower_node(const OffsetOf&) { return {}; }
  LoweredValue lower_node(const StringOf& e) { return reads_string(e) ? copy_in_string(*e.operand) : lower(*e.operand); }
  LoweredValue lower_node(const Translate& e);

  // lower_expr.cpp
  void cut(LoweredValue& v, const Type* type);
  Register fitting(const Expr& e);
  LoweredValue lower_low(const Expr& e, const Type* type);
  LoweredValue lower_number(const Expr& e, const Type* type);
  Pair lower_pair(const Expr& left, const Expr& right);
  Register shift_by(dif::Opcode op, Register reg, unsigned count) { return out_.log(op, reg, out_.integer(count)); }
  LoweredValue arithmetic(const Binary& e);
  LoweredValue pointer_difference(const Binary& e);
  LoweredValue additive_pointer(const Binary& e);
  Register scale(Register reg, uint64_t size);
  Register binary_op(Op op, const Type* type, Register left, Register right);

  // lower_condition.cpp
  void branch_if(const Expr& e, bool wanted, Label label);
  void branch_if_comparison(const Binary& e, bool wanted, Label label);
  bool compare(const Binary& e);
  LoweredValue truth(const Expr& e);
  LoweredValue truth_of(Register reg);
  LoweredValue logical_xor(const Binary& e);
  LoweredValue conditional_constant(const Conditional& e, bool wanted);

  // lower_store.cpp
  LoweredValue load_variable(const Expr& e, const Symbol& symbol);
  StoreTarget place(const Expr& e);
  LoweredValue load(const StoreTarget& place);
  LoweredValue load_made(const StoreTarget& place);
  void store(const StoreTarget& place, Register reg);
  void open(const StoreTarget& place);
  void close(const StoreTarget& place);
  Register stepped(Register old, Op op, const Type* type);
  LoweredValue step(const Expr& target, Op op, bool postfix);
  Register address_of(const Expr& e);
  LoweredValue load_memory(Register address, const Type* type, bool is_user);
  LoweredValue load_bits(Register address, const Field& field, bool is_user);
  LoweredValue extract_bits(Register unit, const Field& field, unsigned shift);
  void store_memory(Register address, Register reg, const Type* type);
  void store_bits(Register address, Register reg, const Field& field);
  const Type* compound_type(const Assign& e) const;
  Register compound_operand(const Assign& e);
  LoweredValue compound(const Assign& e);
  LoweredValue finish(const StoreTarget& place, LoweredValue v, const Type* from);

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
  LoweredValue copy_in_string(const Expr& e);
  LoweredValue copy_in(const Expr& e);
  LoweredValue call_copy(dif::Subroutine subroutine, Register address, std::optional<uint64_t> size);

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
