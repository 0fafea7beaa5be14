#pragma once
// Expressions to instructions; see lower.h for what a value is.

#include "compiler/ast/ast.h"
#include "compiler/lower/emitter.h"
#include "compiler/types/type_table.h"

namespace dvm::compiler {

// A register and whether its value is canonical for its type.
struct Value {
  unsigned reg = 0;
  bool canonical = true;
};

class ExprLowering {
 public:
  ExprLowering(Emitter& out, const TypeTable& types) : out_(out), types_(types) {}

  Value lower(const Expr& e);
  // The value as `type` has it, canonical.
  unsigned lower_as(const Expr& e, const Type* type);
  // For its effect; nothing is left in a register.
  void lower_statement(const Expr& e);

 private:
  // What can be stored to, kept between a load and a store.
  struct Place {
    const Symbol* symbol = nullptr;              // a variable
    const std::vector<ExprPtr>* keys = nullptr;  // an element of it
    unsigned address = 0;                        // or memory
    const Field* field = nullptr;                // a bit-field at it
    const Type* type = nullptr;

    const Type* stored_type() const { return field ? field->type : type; }
  };
  // Which value of what is changed is wanted: none, as it was before, or as it is after.
  enum class Wanted : uint8_t { none, before, after };

  Value lower_node(const Integer& e);
  Value lower_node(const String& e);
  Value lower_node(const Macro&) { return {}; }
  Value lower_node(const Identifier& e) { return load_variable(*e.symbol); }
  Value lower_node(const Scoped& e) { return load_variable(*e.symbol); }
  Value lower_node(const External&) { return {}; }
  Value lower_node(const Aggregation&) { return {}; }
  Value lower_node(const Index& e);
  Value lower_node(const Member& e);
  Value lower_node(const Call& e);
  Value lower_node(const Unary& e);
  Value lower_node(const Postfix& e) { return step(*e.operand, e.op, Wanted::before); }
  Value lower_node(const Binary& e);
  Value lower_node(const Assign& e) { return assign(e, Wanted::after); }
  Value lower_node(const Conditional& e);
  Value lower_node(const Comma& e);
  Value lower_node(const Cast& e);
  Value lower_node(const SizeofType&) { return {}; }
  Value lower_node(const SizeofValue&) { return {}; }
  Value lower_node(const OffsetOf&) { return {}; }
  Value lower_node(const StringOf& e) { return lower(*e.operand); }
  Value lower_node(const Translate& e);

  // lower_expr.cpp
  void normalize(Value& v, const Type* type);
  unsigned canonical(const Expr& e);
  void shift_by(dif::Opcode op, unsigned reg, unsigned count);
  Value arithmetic(const Binary& e);
  Value pointer_difference(const Binary& e);
  Value additive_pointer(const Binary& e);
  void scale(unsigned reg, uint64_t size);
  Value comparison(const Binary& e);
  Value truth(dif::Opcode branch_if_true);
  unsigned truth_of(unsigned reg);
  Value short_circuit(const Binary& e);
  Value logical_xor(const Binary& e);
  void test_branch(const Expr& e, dif::Opcode op, Emitter::Label label);
  void binary_op(Op op, const Type* type, unsigned left, unsigned right);

  // lower_store.cpp
  Value load_variable(const Symbol& symbol);
  Place place(const Expr& e);
  Value load(const Place& place);
  void store(const Place& place, unsigned reg);
  void open(const Place& place);
  void close(const Place& place);
  Value assign(const Assign& e, Wanted wanted);
  Value step(const Expr& target, Op op, Wanted wanted);
  unsigned address_of(const Expr& e);
  Value load_memory(unsigned reg, const Type* type);
  Value load_bits(unsigned reg, const Field& field);
  void extract_bits(unsigned reg, const Field& field, unsigned shift);
  void store_memory(unsigned address, unsigned reg, const Type* type);
  void store_bits(unsigned address, unsigned reg, const Field& field);
  const Type* compound_type(const Assign& e) const;
  Value compound(const Assign& e, Wanted wanted);
  Value finish(const Place& place, Value v, const Type* from, Wanted wanted);

  // lower_translation.cpp
  unsigned offset_by(unsigned base, uint64_t offset);
  void clear(unsigned base, uint64_t size);
  void copy_string(unsigned string, unsigned to, uint64_t size);
  void copy_array(unsigned array, unsigned to, uint64_t size);
  void store_member(unsigned base, const TranslatedMember& member);

  // lower_call.cpp
  void push_all(const std::vector<ExprPtr>& list);
  void push(const Expr& e, unsigned reg);

  Emitter& out_;
  const TypeTable& types_;
};

}  // namespace dvm::compiler
