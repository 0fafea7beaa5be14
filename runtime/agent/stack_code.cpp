#include "runtime/agent/stack_code.h"

#include <algorithm>
#include <cstdint>

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/lookup_code.h"
#include "runtime/agent/site_frame.h"
#include "runtime/agent/site_needs.h"

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;

constexpr unsigned char kEqual = 0x84, kNotEqual = 0x85, kBelow = 0x82, kNotBelow = 0x83, kAbove = 0x87, kNotAbove = 0x86;
constexpr int32_t kFrame = 16;  // bytes: the next frame pointer, a return address
constexpr size_t kEntries = sizeof(inside::Arena);

class StackCoder {
 public:
  StackCoder(CodeWriter& code, const AgentClause& aggregation, const SitePlace& place)
      : code_(code),
        clause_(aggregation.clause),
        key_(aggregation.keys.back().key),
        before_(static_cast<uint32_t>(aggregation.keys.size() - 1)),
        place_(place) {}

  std::vector<size_t> make() {
    find_end();
    add_first_words();
    walk();
    add_hash();
    find_entry();
    compare();
    return std::move(leave_);
  }

 private:
  void leave_if(unsigned char condition) { leave_.push_back(code_.jump_ahead({0x0f, condition})); }
  void jump_back(size_t to, unsigned char condition) {  // a loop is short
    code_.add({static_cast<unsigned char>(condition - 0x10), static_cast<unsigned char>(to - code_.bytes().size() - 2)});
  }

  // %rcx: the stack pointer, %rsi: the last place of a frame. The stack is that of the first thread, or of one that dvm has
  // found.
  void find_end() {
    std::vector<size_t> found;
    code_.add_address(Register::rcx, Register::rsp, SiteFrame::kBytes);
    code_.add({0xf6, 0xc1, 0x07});  // test $7, %cl
    leave_if(kNotEqual);
    if (place_.stack.end != 0) {
      code_.load(Register::rsi, place_.stack.end - kFrame);
      code_.load(Register::rdx, place_.stack.begin);
      code_.add({0x48, 0x39, 0xd1});  // cmp %rdx, %rcx
      const size_t is_other = code_.jump_ahead({0x0f, kBelow});
      code_.add({0x48, 0x39, 0xf1});  // cmp %rsi, %rcx
      found.push_back(code_.jump_ahead({0x0f, kBelow}));
      code_.land(is_other);
    }
    constexpr unsigned char kBegin = offsetof(inside::Lane, stack), kEnd = kBegin + offsetof(inside::MemoryRange, end);
    code_.add({0x64, 0x48, 0x8b, 0x04, 0x25, 0, 0, 0, 0});  // mov %fs:0, %rax: the thread pointer
    code_.add({0x48, 0x39, 0x43, kEnd});                    // cmp %rax, end(%rbx)
    leave_if(kNotEqual);
    code_.add_address(Register::rsi, Register::rax, -kFrame);
    code_.add({0x48, 0x3b, 0x4b, kBegin});  // cmp begin(%rbx), %rcx
    leave_if(kBelow);
    code_.add({0x48, 0x39, 0xf1});  // cmp %rsi, %rcx
    leave_if(kNotBelow);
    for (const size_t jump : found) code_.land(jump);
  }
  void put(uint32_t word, uint64_t value) {
    code_.load(Register::rax, value);
    code_.store(Register::rax, Register::rbp, key_at(before_ + word));
  }
  void add_first_words() {
    put(0, static_cast<uint64_t>(place_.context.pid));
    put(1, place_.address);
    if (!has_return()) return;
    code_.add_address(Register::rax, Register::rcx, key_.return_at);
    code_.add({0x48, 0x39, 0xf0});  // cmp %rsi, %rax
    leave_if(kAbove);
    code_.add({0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0});  // mov (%rax), %rax; test %rax, %rax
    leave_if(kEqual);
    code_.store(Register::rax, Register::rbp, key_at(before_ + 2));
  }
  bool has_return() const { return key_.return_at >= 0 && key_.most >= 2; }

  // %rdx: a frame pointer, %rcx: the least that it may be. %rdi: where the next word of the key is put; at last that of its 0.
  void walk() {
    code_.read(Register::rdx, Register::rsp, inside::kFrameWord * 8);
    code_.add_address(Register::rdi, Register::rbp, key_at(before_ + (has_return() ? 3 : 2)));
    code_.add_address(Register::r8, Register::rbp, key_at(before_ + 1 + key_.most));
    const size_t next = code_.bytes().size();
    std::vector<size_t> ends;
    const auto end_if = [&](unsigned char condition) { ends.push_back(code_.jump_ahead({0x0f, condition})); };
    code_.add({0x4c, 0x39, 0xc7});  // cmp %r8, %rdi
    end_if(kNotBelow);
    code_.add({0x48, 0x39, 0xca});  // cmp %rcx, %rdx
    end_if(kBelow);
    code_.add({0x48, 0x39, 0xf2});  // cmp %rsi, %rdx
    end_if(kAbove);
    code_.add({0xf6, 0xc2, 0x07});  // test $7, %dl
    end_if(kNotEqual);
    code_.read(Register::rax, Register::rdx, 8);
    code_.add_address(Register::rcx, Register::rdx, kFrame);
    code_.read(Register::rdx, Register::rdx, 0);
    code_.add({0x48, 0x85, 0xc0});  // test %rax, %rax
    jump_back(next, kEqual);
    code_.add({0x48, 0x89, 0x07, 0x48, 0x83, 0xc7, 0x08});  // mov %rax, (%rdi); add $8, %rdi
    code_.add({0xeb, static_cast<unsigned char>(next - code_.bytes().size() - 2)});
    for (const size_t jump : ends) code_.land(jump);
    code_.add({0x48, 0xc7, 0x07, 0, 0, 0, 0});  // movq $0, (%rdi)
  }

  // In %r8, that of hash_words. If the stack is the only key, its first two words are known.
  void add_hash() {
    const uint64_t words[] = {static_cast<uint64_t>(place_.context.pid), place_.address};
    const uint32_t first = before_ == 0 ? 2 : 0;
    code_.load(Register::r8, inside::hash_words(words, first, uint64_t{clause_.clause} + 1));
    code_.load(Register::rcx, inside::first_factor(first));
    code_.add_address(Register::rsi, Register::rbp, key_at(first));
    const size_t next = code_.bytes().size();
    code_.add({0x48, 0x8b, 0x16, 0x48, 0x31, 0xca});  // mov (%rsi), %rdx; xor %rcx, %rdx
    code_.load(Register::rax, inside::kOdd1);
    code_.add({0x48, 0x39, 0xfe});  // cmp %rdi, %rsi
    const size_t is_last = code_.jump_ahead({0x0f, kEqual});
    code_.load(Register::rax, inside::kOdd2);
    code_.add({0x48, 0x33, 0x46, 0x08});  // xor 8(%rsi), %rax
    code_.land(is_last);
    code_.add({0x48, 0xf7, 0xe2, 0x48, 0x31, 0xd0, 0x49, 0x01, 0xc0});  // mul %rdx; xor %rdx, %rax; add %rax, %r8
    code_.load(Register::rdx, 2 * inside::kOdd2);
    code_.add({0x48, 0x01, 0xd1, 0x48, 0x83, 0xc6, 0x10, 0x48, 0x39, 0xfe});  // add %rdx, %rcx; add $16, %rsi; cmp %rdi, %rsi
    jump_back(next, kNotAbove);
  }
  // %rcx: its position. All keys of the clause end with their only 0, so none is the beginning of another one.
  void find_entry() {
    code_.load(Register::rdx, inside::kBucketMultiplier);
    code_.add({0x4c, 0x0f, 0xaf, 0xc2});                                    // imul %rdx, %r8
    code_.add({0x49, 0xc1, 0xe8, inside::kBucketShift});                    // shr $kBucketShift, %r8
    code_.add({0x42, 0x8b, 0x8c, 0x85}, offsetof(inside::Arena, buckets));  // mov buckets(%rbp,%r8,4), %ecx
    code_.add({0x83, 0xe9, 0x01});                                          // sub $1, %ecx
    const size_t bytes = sizeof(inside::ArenaEntry) + (most_words() + clause_.words) * sizeof(uint64_t);
    code_.add({0x81, 0xf9}, inside::kEntryRoom - bytes);  // cmp $last, %ecx
    leave_if(kAbove);
    code_.add({0x81, 0xbc, 0x0d}, kEntries);  // cmpl $clause, entries(%rbp,%rcx)
    code_.add({}, clause_.clause);
    leave_if(kNotEqual);
  }
  uint32_t most_words() const { return before_ + 2 + key_.most; }
  void compare() {
    code_.add({0x48, 0x8d, 0x94, 0x0d}, state_of_entry(0));  // lea words(%rbp,%rcx), %rdx
    code_.add_address(Register::rsi, Register::rbp, key_at(0));
    const size_t next = code_.bytes().size();
    code_.add({0x48, 0x8b, 0x06, 0x48, 0x3b, 0x02});  // mov (%rsi), %rax; cmp (%rdx), %rax
    leave_if(kNotEqual);
    code_.add({0x48, 0x83, 0xc2, 0x08, 0x48, 0x39, 0xfe, 0x48, 0x8d, 0x76, 0x08});  // add $8, %rdx; cmp %rdi, %rsi; lea 8(%rsi)
    jump_back(next, kBelow);
    code_.add({0x48, 0x89, 0xd0});  // mov %rdx, %rax
  }

  CodeWriter& code_;
  const inside::ThreadAggregation& clause_;
  const inside::SiteKey& key_;
  uint32_t before_;
  const SitePlace& place_;
  std::vector<size_t> leave_;
};

}  // namespace

bool has_stack_code(const AgentClause& aggregation) {
  const auto& keys = aggregation.keys;
  if (keys.empty() || !is_stack(keys.back()) || !std::all_of(keys.begin(), keys.end() - 1, is_integer)) return false;
  const inside::SiteKey& key = keys.back().key;
  return key.most > 0 && keys.size() + 1 + key.most <= inside::kMostKeyWords && (key.return_at < 0 || key.return_at % 8 == 0);
}

std::vector<size_t> add_stack(CodeWriter& code, const AgentClause& aggregation, const SitePlace& place) {
  return StackCoder(code, aggregation, place).make();
}

}  // namespace dvm::runtime
