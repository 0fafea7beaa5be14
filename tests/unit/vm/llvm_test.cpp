// The check that no value of DIF becomes an address, on functions that break its rule and on one that does not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
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
  Builder b_{context_};
  llvm::Function* function_ =
      llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), b_.getInt64Ty()}, false),
                             llvm::GlobalValue::ExternalLinkage, "code", module_);
  llvm::Value* pointer_ = function_->getArg(0);
  llvm::Value* number_ = nullptr;
};

TEST_F(CheckAccess, AdmitsMembersOfWhatItWasGiven) {
  llvm::Value* member = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), pointer_, 8);
  llvm::Value* next = b_.CreateLoad(b_.getPtrTy(), member);
  b_.CreateStore(number_, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), next, 16));
  EXPECT_EQ(result(), "");
}

TEST_F(CheckAccess, AdmitsElementsThatTheLoweringVouchesFor) {
  b_.CreateStore(number_, address_by(b_, b_.getInt64Ty(), pointer_, number_));
  EXPECT_EQ(result(), "");
}

TEST_F(CheckAccess, RefusesAnAddressThatIsAValue) {
  b_.CreateStore(number_, b_.CreateIntToPtr(number_, b_.getPtrTy()));
  EXPECT_THAT(result(), HasSubstr("a memory access that is not proven:"));
}

TEST_F(CheckAccess, RefusesAnIndexThatIsAValue) {
  b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt8Ty(), pointer_, number_));
  EXPECT_THAT(result(), HasSubstr("load i64"));
}

TEST_F(CheckAccess, RefusesAStoreThroughAnIndexThatIsAValue) {
  llvm::Value* element = b_.CreateInBoundsGEP(b_.getInt8Ty(), pointer_, number_);
  b_.CreateStore(number_, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), element, 8));
  EXPECT_THAT(result(), HasSubstr("store i64"));
}

}  // namespace
}  // namespace dvm::vm::translate
