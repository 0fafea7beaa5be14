// The body of a clause as one function: its steps (dvm/vm/body.h) one after another, DIF inlined. Covered by the scripts of
// tests/runtime on engine llvm, and by tests/fuzz/clause_fuzz_test.cpp.

#include <vector>

#include "dvm/dif/update.h"
#include "vm/engine/llvm/function.h"
#include "vm/engine/llvm/lowering.h"
#include "vm/engine/llvm/rare_call.h"

namespace dvm::vm::translate {

namespace {

// The words of a key's state, as the templates of dvm/dif/update.h see them.
struct StateWords {
  IrBuilder* b;
  llvm::Value* state;

  IrNumber constant(uint64_t number) const { return {b, b->getInt64(number)}; }
  llvm::Value* at(IrNumber index) const { return address_by(*b, b->getInt64Ty(), state, index.value); }
  IrNumber get(IrNumber index) const { return {b, b->CreateLoad(b->getInt64Ty(), at(index))}; }
  void set(IrNumber index, IrNumber value) const { b->CreateStore(value.value, at(index)); }
  void add(IrNumber index, IrNumber amount) const { set(index, get(index) + amount); }
  llvm::Value* less(IrNumber a, IrNumber c) const { return b->CreateICmpSLT(a.value, c.value); }
  IrNumber choose(llvm::Value* condition, IrNumber a, IrNumber c) const {
    return {b, b->CreateSelect(condition, a.value, c.value)};
  }
  IrNumber leading_zeros(IrNumber number) const {
    return {b, b->CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, number.value, b->getFalse())};
  }
};

// False: it is no template of words.
bool update_words(dif::Action function, StateWords words, IrNumber value, IrNumber increment) {
  switch (function) {
#define DVM_UPDATE(name)                         \
  case dif::Action::agg_##name:                  \
    dif::update_##name(words, value, increment); \
    return true;
#include "vm/dif/updates.def"
    default:
      return false;
  }
}

class BodyLowering {
 public:
  BodyLowering(const native::BodyCode& code, llvm::Module& module);
  void run();

 private:
  using Value = llvm::Value;
  void lower(const Step& step);
  void end_unless(Value* condition, uint32_t result);
  llvm::BasicBlock* block() { return llvm::BasicBlock::Create(b_.getContext(), "", function_); }
  llvm::BasicBlock* end_with(uint32_t result);
  Value* evaluate(uint32_t difo, uint32_t if_faulted);
  Value* widened(const Step& step);
  void store(const Step& step);
  void append_key(const Step& step);
  void find_keyless(const Step& step);
  void find();
  void update(const Step& step);
  Value* helper(uint32_t offset) {
    Value* table = load_constant_pointer(b_, context_, offsetof(native::BodyContext, helpers));
    return load_constant_pointer(b_, table, offset);
  }
  Value* call(uint32_t helper, llvm::Type* type, llvm::ArrayRef<Value*> arguments, bool is_rare = false);
  Value* object();
  Value* frame_member(uint32_t offset) { return load_pointer(b_, frame_, {offset}); }
  Value* key_end() { return address_by(b_, b_.getInt8Ty(), key_, key_bytes_); }
  void count(Value* counter) { b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), counter), b_.getInt64(1)), counter); }

  const BodyRequest& body_;
  native::MachineLayout layout_;
  IrBuilder b_;
  llvm::Function* function_;
  Value *context_, *frame_, *firing_, *state_, *key_, *record_;
  size_t at_ = 0;        // the step
  uint32_t action_ = 0;  // it belongs to
  Value *value_ = nullptr, *key_bytes_ = nullptr, *found_ = nullptr;
  llvm::BasicBlock* updated_ = nullptr;  // goes on behind the update
  Value* arguments_[2] = {};
};

BodyLowering::BodyLowering(const native::BodyCode& code, llvm::Module& module)
    : body_(code.body), layout_(code.layout), b_(module.getContext()) {
  llvm::Type* pointer = b_.getPtrTy();
  function_ = begin_function(module, b_, llvm::FunctionType::get(b_.getInt32Ty(), {pointer, pointer}, false));
  context_ = address_at(b_, function_->getArg(0), layout_.context);
  frame_ = function_->getArg(1);
  firing_ = frame_member(offsetof(BodyFrame, firing));
  state_ = body_.is_plain ? nullptr : frame_member(offsetof(BodyFrame, machine));
  key_ = frame_member(offsetof(BodyFrame, key));
  record_ = llvm::ConstantPointerNull::get(b_.getPtrTy());
}

void BodyLowering::run() {
  for (at_ = 0; at_ < body_.steps.size(); at_++) lower(body_.steps[at_]);
  b_.CreateRet(b_.getInt32(body_.actions));
}

llvm::BasicBlock* BodyLowering::end_with(uint32_t result) {
  llvm::BasicBlock* made = block();
  IrBuilder(made).CreateRet(b_.getInt32(result));
  return made;
}

void BodyLowering::end_unless(Value* condition, uint32_t result) {
  llvm::BasicBlock* next = block();
  b_.CreateCondBr(condition, next, end_with(result));
  b_.SetInsertPoint(next);
}

BodyLowering::Value* BodyLowering::evaluate(uint32_t number, uint32_t if_faulted) {
  const BodyDifo& difo = body_.difos[number];
  Value* contexts = load_constant_pointer(b_, context_, offsetof(native::BodyContext, difos));
  Value* costs =
      body_.counts ? address_at(b_, frame_member(offsetof(BodyFrame, costs)), difo.costs * layout_.cost_size) : nullptr;
  Value* context = address_at(b_, contexts, number * sizeof(native::CodeContext));
  Surroundings in{layout_, b_, function_, context, state_, firing_, costs};
  if (body_.is_light) in.prepare = helper(offsetof(BodyHelpers, prepare)), in.frame = frame_;
  return Lowering(*difo.difo, in).run(end_with(if_faulted));
}

BodyLowering::Value* BodyLowering::widened(const Step& step) {
  if (step.size >= sizeof(uint64_t)) return value_;
  return b_.CreateIntCast(b_.CreateTrunc(value_, b_.getIntNTy(step.size * 8)), b_.getInt64Ty(), step.is_signed);
}

void BodyLowering::store(const Step& step) {
  Value* low = b_.CreateIntCast(value_, b_.getIntNTy(step.size * 8), false);
  b_.CreateStore(low, address_at(b_, record_, step.offset));
}

void BodyLowering::append_key(const Step& step) {
  Value* added = b_.getInt64(sizeof(uint64_t));
  if (step.kind == StepKind::key_integer) {
    b_.CreateStore(widened(step), key_end());
  } else {
    added = call(offsetof(BodyHelpers, append_key), b_.getInt64Ty(), {frame_, object(), value_, key_end()});
    end_unless(b_.CreateIsNotNull(added), action_);
  }
  key_bytes_ = b_.CreateAdd(key_bytes_, added);
}

void BodyLowering::find_keyless(const Step& step) {
  Value* known = address_at(b_, frame_member(offsetof(BodyFrame, keyless)), step.number * sizeof(KeylessState));
  Value* generation = b_.CreateLoad(b_.getInt32Ty(), frame_member(offsetof(BodyFrame, generation)));
  Value* of_known = b_.CreateLoad(b_.getInt32Ty(), address_at(b_, known, offsetof(KeylessState, generation)));
  llvm::BasicBlock *const again = block(), *const next = block();
  updated_ = block();
  branch_rarely(b_, b_.CreateICmpNE(generation, of_known), again, next);
  b_.SetInsertPoint(again);
  call(offsetof(BodyHelpers, update_keyless), b_.getVoidTy(), {frame_, object(), arguments_[0], arguments_[1]}, true);
  b_.CreateBr(updated_);
  b_.SetInsertPoint(next);
  found_ = load_pointer(b_, known, {offsetof(KeylessState, state)});
}

void BodyLowering::find() {
  found_ = call(offsetof(BodyHelpers, find), b_.getPtrTy(), {frame_, object(), key_bytes_});
  llvm::BasicBlock *const drop = block(), *const next = block();
  updated_ = block();
  branch_rarely(b_, b_.CreateIsNull(found_), drop, next);
  b_.SetInsertPoint(drop);
  call(offsetof(BodyHelpers, drop), b_.getVoidTy(), {frame_}, true);
  b_.CreateBr(updated_);
  b_.SetInsertPoint(next);
}

void BodyLowering::update(const Step& step) {
  if (!update_words(step.function, {&b_, found_}, {&b_, arguments_[0]}, {&b_, arguments_[1]}))
    call(offsetof(BodyHelpers, update), b_.getVoidTy(), {object(), found_, arguments_[0], arguments_[1]});
  b_.CreateBr(updated_);
  b_.SetInsertPoint(updated_);
}

BodyLowering::Value* BodyLowering::call(uint32_t offset, llvm::Type* type, llvm::ArrayRef<Value*> arguments, bool is_rare) {
  std::vector<llvm::Type*> types;
  for (Value* each : arguments) types.push_back(each->getType());
  Value* function = helper(offset);
  auto* its_type = llvm::FunctionType::get(type, types, false);
  llvm::CallInst* made = is_rare ? call_rarely(b_, its_type, function, arguments) : b_.CreateCall(its_type, function, arguments);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  return made;
}

BodyLowering::Value* BodyLowering::object() {
  Value* objects = load_constant_pointer(b_, context_, offsetof(native::BodyContext, objects));
  return load_constant_pointer(b_, objects, at_ * sizeof(void*));
}

void BodyLowering::lower(const Step& step) {
  switch (step.kind) {
    case StepKind::predicate:
      return end_unless(b_.CreateIsNotNull(evaluate(step.number, kNotHeld)), kNotHeld);
    case StepKind::reserve:
      record_ = call(offsetof(BodyHelpers, reserve), b_.getPtrTy(), {frame_});
      return end_unless(b_.CreateIsNotNull(record_), kNoRoom);
    case StepKind::action:
      action_ = step.number;
      key_bytes_ = b_.getInt64(0);
      arguments_[0] = b_.getInt64(0), arguments_[1] = b_.getInt64(1);
      if (body_.counts) count(address_at(b_, frame_member(offsetof(BodyFrame, action_tallies)), step.offset));
      return;
    case StepKind::evaluate:
      value_ = evaluate(step.number, action_);
      return;
    case StepKind::store:
      return store(step);
    case StepKind::keep:
      return end_unless(
          b_.CreateIsNotNull(call(offsetof(BodyHelpers, keep), b_.getInt64Ty(), {frame_, object(), value_, record_})), action_);
    case StepKind::key_integer:
    case StepKind::append_key:
      return append_key(step);
    case StepKind::argument:
      arguments_[step.number] = widened(step);
      return;
    case StepKind::find_keyless:
      return find_keyless(step);
    case StepKind::find:
      return find();
    case StepKind::update:
      return update(step);
    case StepKind::call:
      return end_unless(b_.CreateIsNotNull(call(offsetof(BodyHelpers, call), b_.getInt64Ty(), {frame_, object(), record_})),
                        action_);
  }
}

}  // namespace

namespace {

void lower_gate(const dif::Difo& difo, const native::MachineLayout& layout, llvm::Module& module) {
  IrBuilder b(module.getContext());
  llvm::Type* pointer = b.getPtrTy();
  auto* next = llvm::FunctionType::get(b.getInt64Ty(), {pointer, pointer, pointer}, false);
  auto* type = llvm::FunctionType::get(b.getInt64Ty(), {pointer, pointer, pointer, pointer}, false);
  llvm::Function* function = begin_function(module, b, type, kGate);
  llvm::Argument *level = function->getArg(0), *probe = function->getArg(1), *firing = function->getArg(2);
  llvm::Value* holds = Lowering(difo, {layout, b, function, nullptr, nullptr, firing, nullptr}).run(nullptr);
  auto* const goes_on = llvm::BasicBlock::Create(b.getContext(), "goes_on", function);
  auto* const ends = llvm::BasicBlock::Create(b.getContext(), "ends", function);
  b.CreateCondBr(b.CreateIsNotNull(holds), goes_on, ends);
  b.SetInsertPoint(ends);
  b.CreateRet(b.getInt64(0));
  b.SetInsertPoint(goes_on);
  llvm::CallInst* result = b.CreateCall(next, function->getArg(3), {level, probe, firing});
  result->setTailCall();
  b.CreateRet(result);
}

}  // namespace

void lower_body(const native::BodyCode& code, llvm::Module& module) {
  BodyLowering(code, module).run();
  if (code.body.gate) lower_gate(*code.body.gate, code.layout, module);
}

}  // namespace dvm::vm::translate
