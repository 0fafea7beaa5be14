#include "runtime/agent/text_code.h"

#include <algorithm>

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/inside/read.h"
#include "runtime/agent/inside/steady_read.h"
#include "runtime/agent/lookup_code.h"
#include "runtime/agent/site_frame.h"
#include "runtime/agent/site_needs.h"

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;

constexpr uint32_t kMostWords = kShortText / sizeof(uint64_t);   // code for more would be long
constexpr uint64_t kRead = (kMostWords + 2) * sizeof(uint64_t);  // from the address on, at most
static_assert(kMostWords + 1 <= inside::kSteadyPart);
constexpr unsigned char kNotEqual = 0x85, kBelow = 0x82, kAbove = 0x87;

class TextCoder {
 public:
  TextCoder(CodeWriter& code, const AgentClause& aggregation, const SitePlace& place)
      : code_(code),
        clause_(aggregation.clause),
        before_(static_cast<uint32_t>(aggregation.keys.size() - 1)),
        words_(words_of_text(aggregation)),
        place_(place) {}

  std::vector<size_t> make() {
    code_.add({0x49, 0x89, 0xc0});                          // mov %rax, %r8
    code_.add({0x48, 0x89, 0xc7, 0x48, 0x83, 0xe7, 0xf8});  // mov %rax, %rdi; and $-8, %rdi
    std::vector<size_t> may_load = jumps_if_lasting();
    if (place_.stack.end > kRead) add_stack(may_load);
    place_.context.restart != 0 ? add_steady() : leave_.push_back(code_.jump_ahead({0xe9}));
    for (const size_t jump : may_load) code_.land(jump);
    // The string may begin inside a word of memory. %cl: the bits before it, which are shifted out.
    code_.add({0x44, 0x89, 0xc1, 0x83, 0xe1, 0x07, 0xc1, 0xe1, 0x03});  // mov %r8d, %ecx; and $7, %ecx; shl $3, %ecx
    for (uint32_t i = 0; i < words_; i++) add_word(i);
    leave_.push_back(code_.jump_ahead({0xe9}));
    for (uint32_t i = 0; i < words_; i++) add_end(i);
    for (const size_t jump : found_) code_.land(jump);
    return std::move(leave_);
  }

 private:
  // All words that are loaded lie in one of the ranges.
  std::vector<size_t> jumps_if_lasting() {
    std::vector<size_t> inside;
    for (const inside::MemoryRange& range : place_.lasting) {
      code_.load(Register::rcx, range.begin);
      code_.add({0x48, 0x89, 0xc2, 0x48, 0x29, 0xca});                 // mov %rax, %rdx; sub %rcx, %rdx
      code_.add({0x48, 0x81, 0xfa}, range.end - range.begin - kRead);  // cmp $size - kRead, %rdx
      inside.push_back(code_.jump_ahead({0x0f, kBelow}));
    }
    return inside;
  }
  // The first thread runs on its stack, and the string lies above its stack pointer (inside::lasting_bytes).
  void add_stack(std::vector<size_t>& may_load) {
    code_.load(Register::rcx, place_.stack.begin);
    code_.add_address(Register::rdx, Register::rsp, SiteFrame::kBytes);
    code_.add({0x48, 0x39, 0xca});  // cmp %rcx, %rdx
    const size_t is_elsewhere = code_.jump_ahead({0x0f, kBelow});
    code_.load(Register::rcx, place_.stack.end - kRead);
    code_.add({0x48, 0x39, 0xd0});  // cmp %rdx, %rax
    const size_t is_below = code_.jump_ahead({0x0f, kBelow});
    code_.add({0x48, 0x39, 0xc8});  // cmp %rcx, %rax
    may_load.push_back(code_.jump_ahead({0x0f, kBelow}));
    code_.land(is_elsewhere), code_.land(is_below);
  }
  // The words that hold the string are loaded into the key, where they are shifted.
  void add_steady() {
    code_.copy_from_rbx(Register::rsi);
    code_.add({0x48, 0x89, 0xfa});  // mov %rdi, %rdx
    code_.load(Register::rdi, place_.context_at);
    code_.add_address(Register::rcx, Register::rbp, key_at(before_));
    code_.call(place_.code_at + place_.entries.steady);
    code_.add({0x48, 0x89, 0xcf});                                          // mov %rcx, %rdi
    code_.add({0x48, 0x83, 0xe8, static_cast<unsigned char>(words_ + 1)});  // sub $words + 1, %rax
    code_.add({0x48, 0x3d}, inside::kSteadyPart - (words_ + 1));            // cmp $kSteadyPart - (words + 1), %rax
    leave_.push_back(code_.jump_ahead({0x0f, kAbove}));
  }
  // Puts it into the key, unless it is the last one: that is in %rax, with the highest bit of its first zero byte in %rdx, and
  // perhaps of later ones (inside::end_text).
  void add_word(uint32_t i) {
    const auto at = static_cast<int32_t>(i * sizeof(uint64_t));
    code_.read(Register::rsi, Register::rdi, at);
    code_.read(Register::rax, Register::rdi, at + 8);
    code_.add({0x48, 0xd3, 0xee});                    // shr %cl, %rsi
    code_.add({0x80, 0xf1, 0x3f});                    // xor $63, %cl
    code_.add({0x48, 0x01, 0xc0, 0x48, 0xd3, 0xe0});  // add %rax, %rax; shl %cl, %rax: by 64 - shift
    code_.add({0x80, 0xf1, 0x3f});                    // xor $63, %cl
    code_.add({0x48, 0x09, 0xf0});                    // or %rsi, %rax
    code_.load(Register::rdx, 0xfefefefefefefeff);    // -0x0101010101010101
    code_.load(Register::rsi, 0x8080808080808080);
    code_.add({0x48, 0x01, 0xc2, 0x48, 0x21, 0xf2});                    // add %rax, %rdx; and %rsi, %rdx
    code_.add({0x48, 0x89, 0xc6, 0x48, 0xf7, 0xd6, 0x48, 0x21, 0xf2});  // mov %rax, %rsi; not %rsi; and %rsi, %rdx
    ends_.push_back(code_.jump_ahead({0x0f, kNotEqual}));
    code_.store(Register::rax, Register::rbp, key_at(before_ + i));
  }
  void add_end(uint32_t i) {
    code_.land(ends_[i]);
    code_.add({0x48, 0x8d, 0x72, 0xff});                                // lea -1(%rdx), %rsi
    code_.add({0x48, 0xf7, 0xd2, 0x48, 0x21, 0xf2, 0x48, 0x21, 0xd0});  // not %rdx; and %rsi, %rdx; and %rdx, %rax
    code_.store(Register::rax, Register::rbp, key_at(before_ + i));
    const uint32_t words = before_ + i + 1;
    const std::vector<size_t> misses = add_lookup(code_, clause_, words);
    leave_.insert(leave_.end(), misses.begin(), misses.end());
    code_.add({0x48, 0x8d, 0x84, 0x0d}, state_of_entry(words));  // lea state(%rbp,%rcx), %rax
    if (i + 1 < words_) found_.push_back(code_.jump_ahead({0xe9}));
  }

  CodeWriter& code_;
  const inside::ThreadAggregation& clause_;
  uint32_t before_, words_;
  const SitePlace& place_;
  std::vector<size_t> leave_, ends_, found_;
};

}  // namespace

uint32_t words_of_text(const AgentClause& aggregation) {
  const auto& keys = aggregation.keys;
  const bool is_text =
      !keys.empty() && keys.back().key.kind == inside::KeyKind::string && std::all_of(keys.begin(), keys.end() - 1, is_integer);
  return is_text ? std::min<uint32_t>(keys.back().key.most / sizeof(uint64_t), kMostWords) : 0;
}

std::vector<inside::MemoryRange> ranges_of_texts(std::span<const inside::MemoryRange> lasting, uint64_t address) {
  std::vector<inside::MemoryRange> ranges;
  for (const inside::MemoryRange& range : lasting) {
    const uint64_t size = range.end - range.begin;
    const bool is_near = &range == lasting.data() || inside::is_in(range, address);
    if (is_near && size > kRead && size <= INT32_MAX) ranges.push_back(range);
  }
  return ranges;
}

std::vector<size_t> add_text(CodeWriter& code, const AgentClause& aggregation, const SitePlace& place) {
  return TextCoder(code, aggregation, place).make();
}

}  // namespace dvm::runtime
