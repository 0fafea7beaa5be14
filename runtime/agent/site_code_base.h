#pragma once
// The basis of the classes that make the code of a site: values, the workspace in the stack frame (site_frame.h), and calls of
// the agent's own code (inside/fire.cpp).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/site_frame.h"
#include "runtime/agent/site_needs.h"
#include "runtime/agent/site_place.h"

namespace dvm::runtime {

class SiteCodeBase {
 protected:
  using Register = GeneralRegister;
  static constexpr unsigned char kBelow = 0x82, kEqual = 0x84, kNotEqual = 0x85, kAbove = 0x87;

  // needs: those of all that the code does, when it is made.
  SiteCodeBase(CodeWriter& code, const SitePlace& place, const Needs& needs) : code_(code), place_(place), all_needs_(needs) {}

  // has_time: its first instruction is left out (passes_time).
  void add_value(const MachineCode& value, bool has_time = false) {
    copy(value, has_time ? value.time_bytes : 0, value.bytes.size() - 1);  // without its ret
    check(value);
  }
  // The value is not needed.
  void add_effect(const MachineCode& value, bool has_time = false) {
    copy(value, has_time ? value.time_bytes : 0, value.effect_bytes != 0 ? value.effect_bytes : value.bytes.size() - 1);
    check(value);
  }
  void check(const MachineCode& value) {
    if (!value.may_fail) return;
    code_.add({0x48, 0x83, 0xbc, 0x24}, static_cast<size_t>(in_workspace(offsetof(inside::Workspace, failed))));
    code_.add({0});  // cmpq $0, failed(%rsp)
    failures_.push_back(code_.jump_ahead({0x0f, kNotEqual}));
  }
  // Jumps if the value is 0, or if it is not.
  size_t jump_if(const MachineCode& value, bool is_true, bool has_time = false) {
    if (value.truth.condition != 0 && !value.may_fail) {
      copy(value, has_time ? value.time_bytes : 0, value.truth.at);
      return code_.jump_ahead({0x0f, static_cast<unsigned char>(value.truth.condition ^ (is_true ? 0 : 1))});
    }
    add_value(value, has_time);
    code_.add({0x48, 0x85, 0xc0});  // test %rax, %rax
    return code_.jump_ahead({0x0f, is_true ? kNotEqual : kEqual});
  }
  void store_workspace(Register reg, size_t offset) { code_.store(reg, Register::rsp, in_workspace(offset)); }
  static int32_t in_workspace(size_t offset) { return SiteFrame::kWorkspace + static_cast<int32_t>(offset); }
  void put_in_workspace(size_t offset, uint32_t value) {  // movq $value, offset(%rsp)
    code_.add({0x48, 0xc7, 0x84, 0x24}, static_cast<size_t>(in_workspace(offset)));
    code_.add({}, value);
  }
  void clear_workspace(size_t offset) { put_in_workspace(offset, 0); }
  void load_workspace(Register reg) { code_.add_address(reg, Register::rsp, SiteFrame::kWorkspace); }
  void call(uint64_t entry) { code_.call(place_.code_at + entry); }
  // %rdi and %rsi are what values need.
  void restore_pointers() {
    if ((all_needs_.changes & kRdi) != 0) code_.add_address(Register::rdi, Register::rsp, 0);
    if (all_needs_.has_workspace) load_workspace(Register::rsi);
  }
  void jump_back(size_t to) { code_.jump(code_.here() - code_.bytes().size() + to); }

  CodeWriter& code_;
  const SitePlace& place_;
  std::vector<size_t> failures_;  // jumps: a value or a key cannot be had, so that agent_enter has to handle the firing

 private:
  void copy(const MachineCode& value, size_t from, size_t to) {
    const size_t begin = code_.bytes().size() - from;
    code_.add(std::span(value.bytes).subspan(from, to - from));
    const auto variables = static_cast<uint32_t>(inside::from_lane_to_variables(place_.context.lanes));
    for (const uint32_t at : value.variables)
      if (at < to) code_.add_to_word(begin + at, variables);
    if (!all_needs_.reads_registers()) return;
    for (const uint32_t at : value.loads) {
      if (at >= to) continue;
      uint32_t offset = 0;
      std::memcpy(&offset, value.bytes.data() + at + 3, sizeof offset);
      code_.read_register_at(begin + at, SiteFrame::register_of(static_cast<int>(offset / sizeof(uint64_t))));
    }
  }

  const Needs& all_needs_;
};

}  // namespace dvm::runtime
