#include "runtime/agent/tail_code.h"

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;

constexpr unsigned char kEqual = 0x84;

constexpr int32_t in_workspace(size_t offset) { return SiteFrame::kWorkspace + static_cast<int32_t>(offset); }

}  // namespace

void TailCode::find() {
  static_assert(sizeof(inside::TailCalls) == 8 * sizeof(inside::Lane));
  code_.add({0x48, 0x89, 0xe8});        // mov %rbp, %rax
  code_.add({0x48, 0xc1, 0xe0, 0x03});  // shl $3, %rax
  code_.load(Register::rcx, place_.context.tails);
  code_.add({0x48, 0x01, 0xc8});  // add %rcx, %rax
  code_.store(Register::rax, Register::rsp, in_workspace(offsetof(inside::Workspace, tails)));
  code_.store(Register::rbx, Register::rsp, in_workspace(offsetof(inside::Workspace, lane)));
}

void TailCode::call(uint64_t function, uint64_t entry) {
  code_.add_address(Register::rdi, Register::rsp, SiteFrame::kWorkspace);
  code_.load(Register::rsi, place_.context_at);
  code_.load(Register::rdx, function);
  frame_.load_stack_pointer(Register::rcx);
  code_.call(place_.code_at + entry);
}

// Mostly no function of the thread is left.
size_t TailCode::jump_if_none() {
  code_.read(Register::rax, Register::rsp, in_workspace(offsetof(inside::Workspace, tails)));
  code_.add({0x48, 0x83, 0x38, 0x00});  // cmpq $0, (%rax)
  return code_.jump_ahead({0x0f, kEqual});
}

std::array<size_t, 2> TailCode::jumps_if_not_left(uint64_t function) {
  const size_t none = jump_if_none();
  call(function, place_.entries.returns);
  code_.add({0x84, 0xc0});  // test %al, %al
  return {none, code_.jump_ahead({0x0f, kEqual})};
}

void TailCode::forget() {
  const size_t none = jump_if_none();
  call(0, place_.entries.forget);
  code_.land(none);
}

}  // namespace dvm::runtime
