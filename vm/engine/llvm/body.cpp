// The body of a clause as one function: its steps (dvm/vm/body.h) one after another, DIF inlined. Covered by the scripts of
// tests/runtime on engine llvm, and by tests/fuzz/clause_fuzz_test.cpp.

#include <vector>

#include "dvm/dif/update.h"
#include "vm/engine/llvm/check_access.h"
#include "vm/engine/llvm/function.h"
#include "vm/engine/llvm/lowering.h"
#include "vm/engine/llvm/rare_call.h"

namespace dvm::vm::translate {

namespace {

// The words of a key's state, as the templates of dvm/dif/update.h see them.
struct StateWords {
  Builder* b;
  llvm::Value* state;

  Number constant(uint64_t number) const { return {b, b->getInt64(number)}; }
  llvm::Value* at(Number index) const { return address_by(*b, b->getInt64Ty(), state, index.value); }
  Number get(Number index) const { return {b, b->CreateLoad(b->getInt64Ty(), at(index))}; }
  void set(Number index, Number value) const { b->CreateStore(value.value, at(index)); }
  void add(Number index, Number amount) const { set(index, get(index) + amount); }
  llvm::Value* less(Number a, Number c) const { return b->CreateICmpSLT(a.value, c.value); }
  Number choose(llvm::Value* condition, Number a, Number c) const { return {b, b->CreateSelect(condition, a.value, c.value)}; }
  Number leading_zeros(Number number) const {
    return {b, b->CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, number.value, b->getFalse())};
  }
};


}  // namespace dvm::vm::translate
