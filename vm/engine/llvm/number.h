#pragma once
// A 64-bit value in the generated code, with the operators that arithmetic.def uses.

#include <llvm/IR/IRBuilder.h>

namespace dvm::vm::translate {

using IrBuilder = llvm::IRBuilder<>;

struct IrNumber {
  IrBuilder* builder;
  llvm::Value* value;

  IrNumber like(llvm::Value* other) const { return {builder, other}; }
  IrNumber constant(uint64_t integer) const { return like(builder->getInt64(integer)); }
};

inline IrNumber operator|(IrNumber a, IrNumber b) { return a.like(a.builder->CreateOr(a.value, b.value)); }
inline IrNumber operator^(IrNumber a, IrNumber b) { return a.like(a.builder->CreateXor(a.value, b.value)); }
inline IrNumber operator&(IrNumber a, IrNumber b) { return a.like(a.builder->CreateAnd(a.value, b.value)); }
inline IrNumber operator&(IrNumber a, uint64_t b) { return a & a.constant(b); }
inline IrNumber operator<<(IrNumber a, IrNumber b) { return a.like(a.builder->CreateShl(a.value, b.value)); }
inline IrNumber operator>>(IrNumber a, IrNumber b) { return a.like(a.builder->CreateLShr(a.value, b.value)); }
inline IrNumber operator-(IrNumber a, IrNumber b) { return a.like(a.builder->CreateSub(a.value, b.value)); }
inline IrNumber operator+(IrNumber a, IrNumber b) { return a.like(a.builder->CreateAdd(a.value, b.value)); }
inline IrNumber operator*(IrNumber a, IrNumber b) { return a.like(a.builder->CreateMul(a.value, b.value)); }
inline IrNumber operator/(IrNumber a, IrNumber b) { return a.like(a.builder->CreateUDiv(a.value, b.value)); }
inline IrNumber operator%(IrNumber a, IrNumber b) { return a.like(a.builder->CreateURem(a.value, b.value)); }

inline IrNumber signed_shift(IrNumber a, IrNumber b) { return a.like(a.builder->CreateAShr(a.value, b.value)); }

// Divides by 1 instead of -1, because the most negative number divided by -1 traps. The result for -1 is selected afterwards.
struct SignedDivision {
  SignedDivision(IrNumber a, IrNumber b) {
    by_minus_one = a.builder->CreateICmpEQ(b.value, a.constant(~uint64_t{0}).value);
    divisor = a.builder->CreateSelect(by_minus_one, a.constant(1).value, b.value);
  }
  llvm::Value* by_minus_one;
  llvm::Value* divisor;
};
inline IrNumber signed_quotient(IrNumber a, IrNumber b) {
  const SignedDivision by(a, b);
  llvm::Value* quotient = a.builder->CreateSDiv(a.value, by.divisor);
  return a.like(a.builder->CreateSelect(by.by_minus_one, a.builder->CreateNeg(a.value), quotient));
}
inline IrNumber signed_remainder(IrNumber a, IrNumber b) {
  const SignedDivision by(a, b);
  llvm::Value* remainder = a.builder->CreateSRem(a.value, by.divisor);
  return a.like(a.builder->CreateSelect(by.by_minus_one, a.constant(0).value, remainder));
}

}  // namespace dvm::vm::translate
