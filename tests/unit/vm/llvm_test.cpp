// The check that no value of DIF becomes an address, on functions that break its rule and on one that does not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "vm/engine/llvm/check_access.h"

namespace dvm::vm::translate {
namespace {

using testing::HasSubstr;

// A function of a pointer and a number.
class CheckAccess : public testing::Test {
 protected:
  CheckAccess() {
    b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
    number_ = b_.CreateLoad(b_.getInt64Ty(), pointer_);
  }
  std::string result() {
    b_.CreateRetVoid();
    return unproven_access(*function_);
  }

  llvm::LLVMContext context_;
  llvm::Module module_{"test", context_};
  IrBuilder b_{context_};
  llvm::FunctionType* type_ = llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty()}, false);
  llvm::Function* function_ = llvm::Function::Create(type_, llvm::GlobalValue::ExternalLinkage, "code", module_);
  llvm::Value* pointer_ = function_->getArg(0);
  llvm::Value* number_ = nullptr;
};

TEST_F(CheckAccess, AdmitsMembersOfWhatItWasGiven) {
  llvm::Value* next = load_pointer(b_, pointer_, {8});
  b_.CreateStore(number_, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), next, 16));
  EXPECT_EQ(result(), "");
}

TEST_F(CheckAccess, AdmitsElementsThatTheLoweringVouchesFor) {
  b_.CreateStore(number_, address_by(b_, b_.getInt64Ty(), pointer_, number_));
  EXPECT_EQ(result(), "");
}

TEST_F(CheckAccess, AdmitsVariablesOnTheStack) {
  llvm::Value* variable = b_.CreateAlloca(b_.getInt64Ty());
  b_.CreateStore(number_, variable);
  b_.CreateLoad(b_.getInt64Ty(), variable);
  EXPECT_EQ(result(), "");
}

TEST_F(CheckAccess, AdmitsHelpersFunctionsOfTheModuleAndIntrinsicsThatCompute) {
  b_.CreateCall(type_, load_pointer(b_, pointer_, {0}), {pointer_, number_});
  b_.CreateCall(type_, function_, {pointer_, number_});
  b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, number_, b_.getFalse());
  EXPECT_EQ(result(), "");
}

TEST_F(CheckAccess, RefusesAnAddressThatIsAValue) {
  b_.CreateStore(number_, b_.CreateIntToPtr(number_, b_.getPtrTy()));
  EXPECT_THAT(result(), HasSubstr("a memory access that is not proven:"));
}

TEST_F(CheckAccess, RefusesAnAddressThatIsAConstant) {
  b_.CreateStore(number_, llvm::ConstantExpr::getIntToPtr(b_.getInt64(4096), b_.getPtrTy()));
  EXPECT_THAT(result(), HasSubstr("store i64"));
}

TEST_F(CheckAccess, RefusesNull) {
  b_.CreateStore(number_, llvm::ConstantPointerNull::get(b_.getPtrTy()));
  EXPECT_THAT(result(), HasSubstr("store i64"));
}

TEST_F(CheckAccess, RefusesAnIndexThatIsAValue) {
  b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt8Ty(), pointer_, number_));
  EXPECT_THAT(result(), HasSubstr("getelementptr"));
}

// Whether it is used here or by a helper.
TEST_F(CheckAccess, RefusesAnIndexThatIsAValueOfAnArgument) {
  llvm::Value* element = b_.CreateInBoundsGEP(b_.getInt8Ty(), pointer_, number_);
  b_.CreateCall(type_, load_pointer(b_, pointer_, {0}), {element, number_});
  EXPECT_THAT(result(), HasSubstr("getelementptr"));
}

// The memory may hold a value of DIF.
TEST_F(CheckAccess, RefusesAPointerFromAnyMemory) {
  b_.CreateStore(number_, b_.CreateLoad(b_.getPtrTy(), pointer_));
  EXPECT_THAT(result(), HasSubstr("load ptr"));
}

TEST_F(CheckAccess, RefusesAPointerFromAVariable) {
  llvm::Value* variable = b_.CreateAlloca(b_.getInt64Ty());
  b_.CreateStore(number_, variable);
  load_pointer(b_, variable, {0});
  EXPECT_THAT(result(), HasSubstr("getelementptr"));
}

TEST_F(CheckAccess, RefusesPartsOfVariablesAndMoreThanThem) {
  b_.CreateLoad(b_.getInt128Ty(), b_.CreateAlloca(b_.getInt64Ty()));
  EXPECT_THAT(result(), HasSubstr("load i128"));
}

TEST_F(CheckAccess, RefusesToHandOutVariables) {
  b_.CreateCall(type_, function_, {b_.CreateAlloca(b_.getInt64Ty()), number_});
  EXPECT_THAT(result(), HasSubstr("call void"));
}

TEST_F(CheckAccess, RefusesToKeepTheAddressOfAVariable) {
  b_.CreateStore(b_.CreateAlloca(b_.getInt64Ty()), pointer_);
  EXPECT_THAT(result(), HasSubstr("store ptr"));
}

TEST_F(CheckAccess, RefusesVariablesThatHoldPointers) {
  b_.CreateStore(pointer_, b_.CreateAlloca(b_.getPtrTy()));
  EXPECT_THAT(result(), HasSubstr("store ptr"));
}

TEST_F(CheckAccess, RefusesToMakeValuesOfAddresses) {
  b_.CreatePtrToInt(pointer_, b_.getInt64Ty());
  EXPECT_THAT(result(), HasSubstr("ptrtoint"));
}

TEST_F(CheckAccess, RefusesAVariableOfVaryingSize) {
  b_.CreateLoad(b_.getInt64Ty(), b_.CreateAlloca(b_.getInt64Ty(), number_));
  EXPECT_THAT(result(), HasSubstr("load i64"));
}

TEST_F(CheckAccess, RefusesAChoiceOfPointers) {
  b_.CreateSelect(b_.CreateIsNotNull(number_), pointer_, load_pointer(b_, pointer_, {0}));
  EXPECT_THAT(result(), HasSubstr("select"));
}

TEST_F(CheckAccess, RefusesOtherWaysIntoMemory) {
  b_.CreateMemSet(pointer_, b_.getInt8(0), number_, llvm::MaybeAlign());
  EXPECT_THAT(result(), HasSubstr("memset"));
}

TEST_F(CheckAccess, RefusesAtomicChanges) {
  b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, pointer_, number_, llvm::MaybeAlign(), llvm::AtomicOrdering::Monotonic);
  EXPECT_THAT(result(), HasSubstr("atomicrmw"));
}

TEST_F(CheckAccess, RefusesToCallWhatIsElsewhere) {
  b_.CreateCall(module_.getOrInsertFunction("elsewhere", type_), {pointer_, number_});
  EXPECT_THAT(result(), HasSubstr("@elsewhere"));
}

TEST_F(CheckAccess, RefusesInstructionsAsText) {
  b_.CreateCall(llvm::InlineAsm::get(type_, "movq %rsi, (%rdi)", "", true), {pointer_, number_});
  EXPECT_THAT(result(), HasSubstr("asm"));
}

}  // namespace
}  // namespace dvm::vm::translate
