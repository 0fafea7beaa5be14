// Jump tables: the targets that are found, and the code of which none are known.
#include "runtime/code/jump_tables.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/code/displaced.h"
#include "tests/unit/code/assembled.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kFunction = 0x1000, kTable = 0x8000, kFixedTable = 0x9000, kOtherCode = 0x2000;

#define JUMP " add %rdx, %rax\n jmp *%rax\n"

ASSEMBLED(sum, ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n movslq (%rdx,%rdi,4), %rax\n" JUMP
               " nopl 0(%rax)\n xor %eax, %eax\n pop %rbx\n pop %rbp\n ret\n")  // at 16: nopl; 19: xor; 21: pop
ASSEMBLED(hoisted, ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n 1: movslq (%rdx,%rdi,4), %rax\n" JUMP
                   " dec %edi\n jne 1b\n xor %eax, %eax\n ret\n")
ASSEMBLED(copied,
          ".byte 0x4c, 0x8d, 0x25\n .long 0x7000 - 7\n mov %r12, %rdx\n call . + 0x4000\n mov %r12, %rcx\n"
          " movslq (%rcx,%rdi,4), %rax\n add %rcx, %rax\n jmp *%rax\n ret\n")
ASSEMBLED(other_sum,
          ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n movslq (%rdx,%rdi,4), %rax\n add %rax, %rdx\n jmp *%rdx\n ret\n")
ASSEMBLED(padded_case, ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n 1: movslq (%rdx,%rdi,4), %rax\n" JUMP
                       " nopl 0(%rax)\n dec %edi\n jmp 1b\n ret\n")
ASSEMBLED(unknown_case,
          ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n 1: movslq (%rdx,%rdi,4), %rax\n" JUMP " dec %edi\n jmp 1b\n ret\n")
ASSEMBLED(fixed, "test %edi, %edi\n jmp *0x9000(,%rdi,8)\n nopl 0(%rax)\n ret\n")
ASSEMBLED(without_lea, "movslq (%rdx,%rdi,4), %rax\n" JUMP " ret\n")
ASSEMBLED(from_memory,
          ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n mov 8(%rsp), %rdx\n movslq (%rdx,%rdi,4), %rax\n" JUMP " ret\n")
ASSEMBLED(on_one_path,
          "test %edi, %edi\n jne 1f\n .byte 0x48, 0x8d, 0x15\n .long 0x7000 - 11\n 1: movslq (%rdx,%rdi,4), %rax\n" JUMP " ret\n")
ASSEMBLED(of_own_code,
          "lea 1f(%rip), %rcx\n .byte 0x48, 0x8d, 0x15\n .long 0x7000 - 14\n movslq (%rdx,%rdi,4), %rax\n" JUMP " 1: ret\n")
ASSEMBLED(entered_between, ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n movslq (%rdx,%rdi,4), %rax\n 1:" JUMP " jmp 1b\n")
ASSEMBLED(by_other_register,
          ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n movslq (%rdx,%rdi,4), %rax\n add %rdx, %rax\n"
          " jmp *%rcx\n ret\n")
ASSEMBLED(by_bytes, ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n movsbq (%rdx,%rdi,4), %rax\n" JUMP " ret\n")
ASSEMBLED(over_call, ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n call . + 0x4000\n movslq (%rdx,%rdi,4), %rax\n" JUMP " ret\n")
ASSEMBLED(call_between,
          ".byte 0x48, 0x8d, 0x1d\n .long 0x7000 - 7\n movslq (%rbx,%rdi,4), %rax\n call . + 0x4000\n add %rbx, %rax\n"
          " jmp *%rax\n ret\n")
ASSEMBLED(not_reached, "test %edi, %edi\n ret\n movslq (%rdx,%rdi,4), %rax\n" JUMP " ret\n")
ASSEMBLED(displaced_entry, ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 7\n movslq 4(%rdx,%rdi,4), %rax\n" JUMP " ret\n")

// Without optimisation.
#define SCALED "lea 0(,%rdi,4), %rdx\n"                                                                            // 8 bytes
#define LOADED ".byte 0x48, 0x8d, 0x05\n .long 0x7000 - 15\n movl (%rdx,%rax), %eax\n cltq\n"                      // to 20
#define SUMMED(base) ".byte 0x48, 0x8d, 0x15\n .long 0x7000 - 27 + " base "\n add %rdx, %rax\n jmp *%rax\n ret\n"  // to 32
ASSEMBLED(unoptimised, SCALED LOADED SUMMED("0"))
ASSEMBLED(unoptimised_of_two, SCALED LOADED SUMMED("8"))
ASSEMBLED(unoptimised_by_halves, "lea 0(,%rdi,2), %rdx\n" LOADED SUMMED("0"))
ASSEMBLED(unoptimised_entered,
          "test %edi, %edi\n jne 1f\n lea 0(,%rdi,4), %rdx\n 1: .byte 0x48, 0x8d, 0x05\n .long 0x7000 - 19\n"
          " movl (%rdx,%rax), %eax\n cltq\n .byte 0x48, 0x8d, 0x15\n .long 0x7000 - 31\n" JUMP " ret\n")
ASSEMBLED(fixed_unoptimised, "mov 0x9000(,%rdi,8), %rax\n jmp *%rax\n ret\n")

class JumpTablesTest : public testing::Test {
 protected:
  // Entries of a table at kTable: each is the distance of an address in the code.
  void set_table(std::initializer_list<uint64_t> targets) {
    table_.clear();
    for (const uint64_t target : targets) append(static_cast<int32_t>(target - kTable));
  }
  template <class Entry>
  void append(Entry entry) {
    const auto* raw = reinterpret_cast<const unsigned char*>(&entry);
    table_.insert(table_.end(), raw, raw + sizeof entry);
  }

  FunctionCode read(CodeBytes code) {
    FunctionCode function = decode_function(code);
    const auto constants = [&](uint64_t address) -> CodeBytes {
      if (address < begin_ || address - begin_ >= table_.size()) return {};
      return CodeBytes(table_).subspan(address - begin_);
    };
    const auto is_code = [&](uint64_t address) {
      return (address >= kFunction && address < kFunction + code.size()) || address == kOtherCode;
    };
    read_jump_tables(code, function, {kFunction, constants, is_code, is_fixed_});
    return function;
  }
  bool knows(CodeBytes code) { return read(code).knows_tables; }

  std::vector<unsigned char> table_;
  uint64_t begin_ = kTable;
  bool is_fixed_ = false;
};

using Offsets = std::vector<int64_t>;

TEST_F(JumpTablesTest, LeadIntoTheFunction) {
  set_table({kFunction + 16, kFunction + 19, kFunction + 16, kOtherCode, kFunction + 21});
  const FunctionCode function = read(sum());
  EXPECT_TRUE(function.is_complete);
  EXPECT_TRUE(function.knows_tables);
  EXPECT_FALSE(function.may_jump_anywhere());
  EXPECT_EQ(function.table_targets, (Offsets{16, 19, 21}));
}

TEST_F(JumpTablesTest, MayGoOnBehindWhatIsNoTarget) {
  set_table({kFunction + 16, 1, kFunction + 1});
  EXPECT_EQ(read(sum()).table_targets, (Offsets{1, 16}));
}

TEST_F(JumpTablesTest, AreFollowedBackToTheirAddress) {
  set_table({kFunction + 16});
  EXPECT_TRUE(knows(other_sum()));
  EXPECT_TRUE(knows(hoisted()));
  set_table({kFunction + padded_case().size() - 5});
  EXPECT_TRUE(knows(padded_case()));
  set_table({kFunction + copied().size() - 1});
  EXPECT_TRUE(knows(copied()));
}

TEST_F(JumpTablesTest, AreReadWithoutOptimisation) {
  const uint64_t last = unoptimised().size() - 1;
  set_table({kFunction + last});
  EXPECT_TRUE(knows(unoptimised()));
  EXPECT_EQ(read(unoptimised()).table_targets, (Offsets{static_cast<int64_t>(last)}));
  for (const CodeBytes code : {unoptimised_of_two(), unoptimised_by_halves(), unoptimised_entered()}) EXPECT_FALSE(knows(code));
}

TEST_F(JumpTablesTest, OfAddressesAreReadWithoutOptimisation) {
  begin_ = kFixedTable;
  append(kFunction + fixed_unoptimised().size() - 1);
  EXPECT_FALSE(knows(fixed_unoptimised()));
  is_fixed_ = true;
  EXPECT_TRUE(knows(fixed_unoptimised()));
}

TEST_F(JumpTablesTest, AreNotKnownWithoutTheirAddress) {
  set_table({kFunction + unknown_case().size() - 1});
  EXPECT_TRUE(decode_function(unknown_case()).is_complete);
  EXPECT_FALSE(knows(unknown_case()));  // what follows the jump comes from elsewhere
  set_table({kFunction + 7});
  for (const CodeBytes code : {without_lea(), from_memory(), on_one_path(), of_own_code(), entered_between(), by_other_register(),
                               by_bytes(), displaced_entry(), over_call(), call_between(), not_reached()}) {
    ASSERT_TRUE(decode_function(code).is_complete);
    EXPECT_TRUE(read(code).may_jump_anywhere());
  }
}

TEST_F(JumpTablesTest, HaveAFirstEntryThatIsATarget) {
  for (const uint64_t first : {kFunction + 8, uint64_t{0x7000}, uint64_t{0}}) {
    set_table({first, kFunction + 16});
    EXPECT_FALSE(knows(sum()));
  }
  set_table({kOtherCode, kFunction + 16});
  EXPECT_TRUE(knows(sum()));
}

TEST_F(JumpTablesTest, LieInMemoryThatDoesNotChange) {
  EXPECT_FALSE(knows(sum()));  // nothing lies there
  set_table({kFunction + 16});
  table_.resize(3);
  EXPECT_FALSE(knows(sum()));
  set_table({kFunction + 16});
  table_.push_back(0);  // the end of the segment is no whole entry
  EXPECT_EQ(read(sum()).table_targets, Offsets{16});
}

TEST_F(JumpTablesTest, HaveAnEnd) {
  set_table({});
  for (int i = 0; i < 65536; i++) append(static_cast<int32_t>(kFunction + 16 - kTable));
  EXPECT_FALSE(knows(sum()));
  table_.resize(table_.size() - 4);
  append(int32_t{1});
  EXPECT_TRUE(knows(sum()));
}

TEST_F(JumpTablesTest, HaveAddressesWhereTheseAreFixed) {
  begin_ = kFixedTable;
  append(kFunction + 9);
  append(uint64_t{0});
  append(kFunction + 12);
  EXPECT_FALSE(knows(fixed()));
  is_fixed_ = true;
  const FunctionCode function = read(fixed());
  EXPECT_TRUE(function.knows_tables);
  EXPECT_EQ(function.table_targets, (Offsets{9, 12}));
}

TEST_F(JumpTablesTest, KeepJumpsFromWhereTheyLead) {
  set_table({kFunction + 16});
  EXPECT_EQ(find_window(sum(), read(sum()), 0).refusal, "");
  const auto exit = static_cast<uint32_t>(sum().size()) - 1;
  EXPECT_EQ(find_exit_window(sum(), read(sum()), exit).refusal, "");
  set_table({kFunction + 16, kFunction + 3});
  EXPECT_EQ(find_window(sum(), read(sum()), 0).refusal, "a branch leads into its first five bytes");
  set_table({kFunction + 16, kFunction + exit - 1});
  EXPECT_EQ(find_exit_window(sum(), read(sum()), exit).refusal,
            "a branch leads into the five bytes at the instruction that leaves it");
}

}  // namespace
}  // namespace dvm::runtime
