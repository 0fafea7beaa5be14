// Tested by tests/unit/instrument/site_run_test.cpp, beside the functions of inside/aggregate.h.

#include "runtime/agent/lookup_code.h"

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/inside/aggregate.h"

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;

constexpr unsigned char kNotEqual = 0x85, kAbove = 0x87;
constexpr size_t kEntries = sizeof(inside::Arena);

// The hash of the words, in %rax (hash_words).
void add_hash(CodeWriter& code, uint32_t clause, uint32_t words) {
  for (uint32_t i = 0; i < words; i += 2) {
    code.load(Register::rax, inside::first_factor(i));
    code.add({0x48, 0x33, 0x85}, static_cast<size_t>(key_at(i)));  // xor key(%rbp), %rax
    code.load(Register::rdx, i + 1 < words ? inside::kOdd2 : inside::kOdd1);
    if (i + 1 < words) code.add({0x48, 0x33, 0x95}, static_cast<size_t>(key_at(i + 1)));  // xor key(%rbp), %rdx
    code.add({0x48, 0xf7, 0xe2});                                                         // mul %rdx
    code.add({0x48, 0x31, 0xd0});                                                         // xor %rdx, %rax
    if (i == 0)
      code.add({0x48, 0x05}, clause + 1);  // add $clause + 1, %rax
    else
      code.add({0x48, 0x01, 0xc8});                   // add %rcx, %rax
    if (i + 2 < words) code.add({0x48, 0x89, 0xc1});  // mov %rax, %rcx
  }
}

// Its first bucket, in %edx or %ecx.
void add_bucket(CodeWriter& code, uint32_t clause, uint32_t words) {
  constexpr size_t kBuckets = offsetof(inside::Arena, buckets);
  if (words == 0) return code.add({0x8b, 0x95}, kBuckets + inside::first_bucket(clause, nullptr, 0) * sizeof(uint32_t));
  add_hash(code, clause, words);
  code.load(Register::rdx, inside::kBucketMultiplier);
  code.add({0x48, 0x0f, 0xaf, 0xc2});                  // imul %rdx, %rax
  code.add({0x48, 0xc1, 0xe8, inside::kBucketShift});  // shr $kBucketShift, %rax
  code.add({0x8b, 0x8c, 0x85}, kBuckets);              // mov buckets(%rbp,%rax,4), %ecx
}

}  // namespace

int32_t key_at(uint32_t word) { return static_cast<int32_t>(offsetof(inside::Arena, key) + word * sizeof(uint64_t)); }
size_t state_of_entry(uint32_t key_words) { return kEntries + sizeof(inside::ArenaEntry) + key_words * sizeof(uint64_t); }

GeneralRegister position_register(uint32_t key_words) { return key_words == 0 ? Register::rdx : Register::rcx; }

void add_plain_count(CodeWriter& code, uint32_t clause) {
  const size_t at = offsetof(inside::Lane, counts) + clause * sizeof(inside::Lane::counts[0]);
  code.add({0x48, 0xff, 0x84, 0xc3}, at);  // incq counts(%rbx,%rax,8)
}

// All clauses of one number have keys of the same kinds, so an entry of that has as many words.
std::vector<size_t> add_lookup(CodeWriter& code, const inside::ThreadAggregation& clause, uint32_t key_words) {
  std::vector<size_t> misses;
  const auto miss_if = [&](unsigned char condition) { misses.push_back(code.jump_ahead({0x0f, condition})); };
  add_bucket(code, clause.clause, key_words);
  const auto at = static_cast<unsigned char>(position_register(key_words));
  code.add({0x83, static_cast<unsigned char>(0xe8 | at), 0x01});  // sub $1, %at
  const size_t bytes = sizeof(inside::ArenaEntry) + (key_words + clause.words) * sizeof(uint64_t);
  code.add({0x81, static_cast<unsigned char>(0xf8 | at)}, inside::kEntryRoom - bytes);  // cmp $last, %at
  miss_if(kAbove);
  code.add({0x81, 0xbc, static_cast<unsigned char>(0x05 | at << 3)}, kEntries);  // cmpl $clause, entries(%rbp,%at)
  code.add({}, clause.clause);
  miss_if(kNotEqual);
  for (uint32_t i = 0; i < key_words; i++) {
    code.read(Register::rax, Register::rbp, key_at(i));
    code.add({0x48, 0x3b, 0x84, 0x0d}, state_of_entry(i));  // cmp word(%rbp,%rcx), %rax
    miss_if(kNotEqual);
  }
  return misses;
}

}  // namespace dvm::runtime
