#pragma once
// Lowers expressions to code. lower.h defines the values.

#include <span>

#include "compiler/ast/ast.h"
#include "compiler/lower/emitter.h"
#include "compiler/types/type_table.h"

namespace dvm::compiler {

// How much of a value the 64 bits of its register hold.
enum class Held : uint8_t {
  fitting,  // all of it, within the range of its type
  number,   // all of it, perhaps beyond the range of its type
  low,      // only the bytes of its type; the upper bytes are undefined
};
struct LoweredValue {
  VirtualRegister reg = 0;
  Held held = Held::fitting;
};

// A conversion to string that reads the memory of the traced process.
bool reads_string(const Expr& e);
// An object in the traced process that is used by value.
bool is_user_object(const Expr& e);

// The context in which an expression is lowered.
struct ExprLowering {
  Emitter& out;
  const TypeTable& types;
  const Expr* stored = nullptr;     // the object in memory that is about to be stored to
  const Expr* stored_in = nullptr;  // the dynamic variable of whose structure a part is about to be stored
};
struct OperandPair {
  VirtualRegister left, right;
};

// lower_expr.cpp

LoweredValue lower(ExprLowering& c, const Expr& e);
// The value cut to what `type` can hold.
VirtualRegister lower_as(ExprLowering& c, const Expr& e, const Type* type);
// The 64-bit value of the arithmetic, not cut.
VirtualRegister lower_uncut(ExprLowering& c, const Expr& e);
// The value cut to what its own type can hold.
VirtualRegister lower_fitting(ExprLowering& c, const Expr& e);
// The value with the low bytes that `type` has.
LoweredValue lower_low(ExprLowering& c, const Expr& e, const Type* type);
// The unconverted value, for an expression of another type.
LoweredValue lower_number(ExprLowering& c, const Expr& e, const Type* type);
// The value to record or store: an object of the traced process is copied in.
LoweredValue lower_value(ExprLowering& c, const Expr& e);
// Evaluates for the side effect; the value is dropped.
inline void lower_statement(ExprLowering& c, const Expr& e) { lower(c, e); }
// Both operands. If the order does not matter, the one that needs more registers is evaluated first.
OperandPair lower_pair(ExprLowering& c, const Expr& left, const Expr& right);
// One operation on 64-bit values.
VirtualRegister compute(ExprLowering& c, Op op, VirtualRegister left, VirtualRegister right, bool with_sign = false);
// An index times the size of an element.
VirtualRegister scale(ExprLowering& c, VirtualRegister reg, uint64_t size);
inline VirtualRegister shift_by(ExprLowering& c, Op op, VirtualRegister reg, unsigned count, bool with_sign = false) {
  return compute(c, op, reg, c.out.integer(count), with_sign);
}

// The kinds of nodes that have a value here; the checker has replaced the others.
LoweredValue lower_node(ExprLowering& c, const Integer& e);
LoweredValue lower_node(ExprLowering& c, const String& e);
LoweredValue lower_node(ExprLowering& c, const Unary& e);
LoweredValue lower_node(ExprLowering& c, const Binary& e);
LoweredValue lower_node(ExprLowering& c, const Comma& e);
LoweredValue lower_node(ExprLowering& c, const Cast& e);
LoweredValue lower_node(ExprLowering& c, const Conditional& e);
LoweredValue lower_node(ExprLowering& c, const Identifier& e);
LoweredValue lower_node(ExprLowering& c, const Scoped& e);
LoweredValue lower_node(ExprLowering& c, const External& e);
LoweredValue lower_node(ExprLowering& c, const Index& e);
LoweredValue lower_node(ExprLowering& c, const Member& e);
LoweredValue lower_node(ExprLowering& c, const Postfix& e);
LoweredValue lower_node(ExprLowering& c, const Assign& e);
LoweredValue lower_node(ExprLowering& c, const Call& e);
LoweredValue lower_node(ExprLowering& c, const StringOf& e);
LoweredValue lower_node(ExprLowering& c, const Translate& e);

// lower_condition.cpp

// 1 if the expression is true, else 0.
LoweredValue truth(ExprLowering& c, const Expr& e);
// 1 if the register is not 0, else 0.
LoweredValue truth_of(ExprLowering& c, VirtualRegister reg);
// !left != !right
LoweredValue logical_xor(ExprLowering& c, const Binary& e);

// lower_store.cpp

// The address of an object in memory.
VirtualRegister address_of(ExprLowering& c, const Expr& e);
LoweredValue load_memory(ExprLowering& c, VirtualRegister address, const Type* type, bool is_user);
void store_memory(ExprLowering& c, VirtualRegister address, VirtualRegister reg, const Type* type);
void store_bits(ExprLowering& c, VirtualRegister address, VirtualRegister reg, const Field& field);
// ++ and --. The postfix form yields the old value, the prefix form the new one.
LoweredValue step(ExprLowering& c, const Expr& target, Op op, bool postfix);

// lower_translation.cpp

// Copies as much of the string as fits, with its NUL. `value` is the expression that made it; NULL leaves an empty string.
void copy_string(ExprLowering& c, const Expr& value, VirtualRegister string, VirtualRegister to, uint64_t size);

// lower_call.cpp

void push_all(ExprLowering& c, const std::vector<ExprPtr>& list);
std::vector<VirtualRegister> lower_all(ExprLowering& c, std::span<const ExprPtr> list);
void push_held(ExprLowering& c, const std::vector<ExprPtr>& list, const std::vector<VirtualRegister>& registers);
// Copies a string of the traced process to scratch.
LoweredValue copy_in_string(ExprLowering& c, const Expr& e);

// True if the evaluation cannot fault, changes nothing and does not use the tuple stack. It may then be moved, if nothing that it
// reads changes in between.
bool is_calm(const Expr& e);
// How many registers the evaluation takes.
unsigned registers_needed(const Expr& e);

}  // namespace dvm::compiler
