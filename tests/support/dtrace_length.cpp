// See dtrace_length.h. Tested by tests/unit/compiler/optimize_test.cpp, which has lengths counted by hand.
#include "tests/support/dtrace_length.h"

#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"

namespace dvm::compiler {

namespace {

constexpr size_t kConstant = 1;             // setx or sets
constexpr size_t kLoad = 1, kOperator = 1;  // ld*; add, sll, not...
constexpr size_t kComparison = 5;           // cmp, branch, mov, ba, setx
constexpr size_t kLogical = 7;              // && || ^^: test both operands, and make the value
constexpr size_t kNegation = 5;             // tst, be, mov, ba, setx
constexpr size_t kConditional = 4;          // tst, be, mov, ba
constexpr size_t kGetField = 4;             // two shifts, or a shift and a mask, with their constants
constexpr size_t kSetField = 8;             // load, both masks, shift, with their constants, or
constexpr size_t kFaultIn = 6;              // an element by reference: tst, bne, setx, allocs, store, load
constexpr size_t kCopySize = 1;             // setx before copys

const Symbol* array_of(const Expr& e) {
  const auto* index = as<Index>(&e);
  if (!index) return nullptr;
  const auto* name = as<Identifier>(index->base.get());
  const auto* scoped = as<Scoped>(index->base.get());
  const Symbol* symbol = name ? name->symbol : scoped ? scoped->symbol : nullptr;
  return symbol && symbol->is_array ? symbol : nullptr;
}

bool is_variable(const Expr& e) { return e.kind == ExprKind::Identifier || e.kind == ExprKind::Scoped || array_of(e); }

class Counter {
 public:
  size_t value(const Expr& e) const {
    return visit(e, [this](const auto& node) { return of(node); });
  }

  // What is recorded or stored: an object of the traced process by copyin(address, size).
  size_t whole(const Expr& e) const { return is_user_object(e) ? call(value(e) + kConstant, 2) : value(e); }

 private:
  size_t of(const Expr&) const { return kConstant; }
  size_t of(const External& e) const { return kConstant + load(e.type); }
  size_t of(const Comma& e) const { return value(*e.first) + value(*e.second); }
  size_t of(const Postfix& e) const { return step(*e.operand); }
  size_t of(const Conditional& e) const { return value(*e.condition) + kConditional + value(*e.then) + value(*e.otherwise); }
  size_t of(const StringOf& e) const { return reads_string(e) ? copy_in_string(*e.operand) : value(*e.operand); }
  size_t of(const Call& e) const { return arguments(e.arguments) + 1; }
  size_t of(const Cast& e) const {
    if (reads_string(e)) return copy_in_string(*e.operand);
    return value(*e.operand) + conversion(e.operand->type, e.type);
  }

  size_t of(const Index& e) const {
    const Symbol* array = array_of(e);
    if (!array) return address(e) + load(e.type);
    if (array->kind == SymbolKind::built_in) return value(*e.arguments[0]) + kLoad;
    return arguments(e.arguments) + kLoad + (is_by_reference(e.type) ? kFaultIn : 0);
  }
  size_t of(const Member& e) const { return address(e) + load(e.type) + (e.field->bits ? kGetField : 0); }

  size_t of(const Unary& e) const {
    switch (e.op) {
      case Op::increment:
      case Op::decrement:
        return step(*e.operand);
      case Op::address_of:
        return address(*e.operand);
      case Op::dereference:
        return address(e) + load(e.type);
      case Op::logical_not:
        return value(*e.operand) + kNegation;
      case Op::plus:
        return value(*e.operand);
      default:
        return value(*e.operand) + kOperator;
    }
  }

  size_t of(const Binary& e) const {
    const size_t operands = value(*e.left) + value(*e.right);
    switch (e.op) {
      case Op::logical_and:
      case Op::logical_or:
      case Op::logical_xor:
        return operands + kLogical;
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal:
      case Op::equal:
      case Op::not_equal:
        return operands + kComparison;
      default:
        return operands + kOperator + scale(is_pointer(e.left->type) ? e.left->type : e.right->type);
    }
  }

  size_t of(const Assign& e) const {
    size_t count = whole(*e.value);
    if (e.op != Op::assign) count += value(*e.target) + kOperator + scale(e.target->type);
    if (const auto* element = array_of(*e.target) ? as<Index>(e.target.get()) : nullptr) count += arguments(element->arguments);
    return count + store(*e.target);
  }

  // A structure of a translator: scratch, and each member stored there.
  size_t of(const Translate& e) const {
    size_t count = e.operand ? value(*e.operand) : 0;
    count += kConstant + 1;  // allocs
    for (const TranslatedMember& member : e.members) {
      const Field& field = *member.field;
      count += value(*member.value) + conversion(member.value->type, field.type);
      count += offset(field.offset * 8 + field.shift) + 1;
      if (is_by_reference(field.type)) count += kCopySize;
      if (field.bits) count += kSetField;
    }
    return count;
  }

  // ++ and --: the old value, the step, the new value, the store.
  size_t step(const Expr& target) const { return value(target) + kConstant + kOperator + store(target); }

  // The value is there, and so are the keys of an element.
  size_t store(const Expr& target) const {
    if (is_variable(target)) return 1;
    const auto* member = as<Member>(&target);
    const size_t copied = is_by_reference(target.type) ? kCopySize : 0;
    return address(target) + (member && member->field->bits ? kSetField : 0) + copied + 1;
  }

  size_t address(const Expr& e) const {
    if (const auto* unary = as<Unary>(&e); unary && unary->op == Op::dereference) return value(*unary->operand);
    if (e.kind == ExprKind::External) return kConstant;
    if (const auto* member = as<Member>(&e)) {
      const size_t base = member->arrow ? value(*member->base) : address(*member->base);
      return base + offset(member->field->offset * 8 + member->field->shift);
    }
    if (const auto* index = as<Index>(&e); index && !array_of(*index))
      return value(*index->base) + value(*index->arguments[0]) + scale(index->base->type) + kOperator;
    return value(e);
  }

  static size_t offset(uint64_t bits) { return bits == 0 ? 0 : kConstant + kOperator; }
  // An object by reference is its address; one of the traced process is what a script has to copyin().
  static size_t load(const Type* type) { return is_by_reference(type) ? 0 : kLoad; }

  // setx and mul (or udiv) by the size of what a pointer points at.
  static size_t scale(const Type* pointer) {
    return is_pointer(pointer) && resolve(*target_of(pointer)).size != 1 ? kConstant + kOperator : 0;
  }

  // Code for the keys or arguments, flushts, a push each; a string's or structure's size is pushed with it.
  size_t arguments(const std::vector<ExprPtr>& list) const {
    size_t count = 1;
    for (const ExprPtr& e : list) count += value(*e) + (is_by_reference(e->type) ? kConstant : 0) + 1;
    return count;
  }
  // copyinstr(pointer), copyinstr(array, size)
  size_t copy_in_string(const Expr& e) const { return is_array(e.type) ? call(value(e) + kConstant, 2) : call(value(e), 1); }
  static size_t call(size_t operands, size_t count) { return operands + 1 + count + 1; }

  // Two shifts by the same count; up to four steps where a signed value is widened to an unsigned type.
  static size_t conversion(const Type* from, const Type* to) {
    if (!is_scalar(to) || !is_scalar(from)) return 0;
    const Type &f = resolve(*from), &t = resolve(*to);
    if (t.size == f.size && (t.size == 8 || t.is_signed == f.is_signed)) return 0;
    if (t.size < f.size || t.size == f.size) return 3;
    if (!f.is_signed) return 0;
    return t.is_signed || t.size == 8 ? 3 : 6;
  }
};

}  // namespace

size_t dtrace_length(const Expr& expr) { return Counter().whole(expr) + 1; }

}  // namespace dvm::compiler
