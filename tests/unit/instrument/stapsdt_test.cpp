// Notes of programs that have markers, and every form that an argument of one can have.

#include "runtime/symbol/stapsdt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/symbol/declared_providers.h"
#include "tests/support/skip.h"

namespace dvm::runtime {
namespace {

using testing::HasSubstr;

constexpr uint64_t kAddress = 0x1200;

std::optional<uint64_t> symbol(std::string_view name) {
  if (name == "sym" || name == ".hidden.1") return 0x4000;
  return std::nullopt;
}

StapsdtArgument argument(std::string_view text) {
  const auto all = parse_stapsdt_arguments(text, kAddress, symbol);
  EXPECT_EQ(all.size(), 1U) << text;
  return all.empty() ? StapsdtArgument{} : all[0];
}

Operand read(std::string_view text) {
  const StapsdtArgument found = argument(text);
  EXPECT_EQ(found.problem, "") << text;
  return found.operand;
}

Operand of_register(uint8_t word, uint8_t size, bool is_signed = false, uint8_t shift = 0) {
  Operand operand = Operand::of_register(word);
  operand.size = size, operand.is_signed = is_signed, operand.shift = shift;
  return operand;
}

TEST(StapsdtArguments, Registers) {
  EXPECT_EQ(read("8@%rax"), of_register(saved::rax, 8));
  EXPECT_EQ(read("-4@%eax"), of_register(saved::rax, 4, true));
  EXPECT_EQ(read("2@%ax"), of_register(saved::rax, 2));
  EXPECT_EQ(read("1@%al"), of_register(saved::rax, 1));
  EXPECT_EQ(read("-1@%ah"), of_register(saved::rax, 1, true, 8));
  EXPECT_EQ(read("1@%sil"), of_register(saved::rsi, 1));
  EXPECT_EQ(read("2@%bp"), of_register(saved::rbp, 2));
  EXPECT_EQ(read("8@%r8"), of_register(saved::r8, 8));
  EXPECT_EQ(read("-4@%r9d"), of_register(saved::r9, 4, true));
  EXPECT_EQ(read("2@%r15w"), of_register(0, 2));
  EXPECT_EQ(read("1@%r10b"), of_register(7, 1));
  EXPECT_EQ(read("%edi"), of_register(saved::rdi, 4));          // before sizes were written
  EXPECT_EQ(read("4@%rax"), of_register(saved::rax, 4));        // the size says how much of it counts
  EXPECT_EQ(read("-4@%dl"), of_register(saved::rdx, 1, true));  // and there is no more than there is
}

TEST(StapsdtArguments, Constants) {
  EXPECT_EQ(read("4@$5"), Operand::constant(5));
  EXPECT_EQ(read("-4@$-7"), Operand::constant(-7));
  EXPECT_EQ(read("4@$-1"), Operand::constant(0xffffffff));
  EXPECT_EQ(read("-1@$255"), Operand::constant(-1));
  EXPECT_EQ(read("8@$0x7fffffffffffffff"), Operand::constant(INT64_MAX));
  EXPECT_EQ(read("8@$18446744073709551615"), Operand::constant(-1));
}

TEST(StapsdtArguments, Memory) {
  EXPECT_EQ(read("8@-16(%rbp)"), Operand::memory(saved::rbp, -16));
  EXPECT_EQ(read("8@(%rax)"), Operand::memory(saved::rax, 0));
  Operand scaled = Operand::memory(saved::rax, 24);
  scaled.index = 5, scaled.scale = 8, scaled.size = 4, scaled.is_signed = true;
  EXPECT_EQ(read("-4@24(%rax,%rbx,8)"), scaled);
  Operand unscaled = Operand::memory(saved::rax, 0);
  unscaled.index = saved::rsi;
  EXPECT_EQ(read("8@(%rax,%rsi)"), unscaled);
  Operand baseless = Operand::memory(kNoWord, 0x4000);
  baseless.index = saved::rcx, baseless.scale = 4;
  EXPECT_EQ(read("8@0x4000(,%rcx,4)"), baseless);
  EXPECT_EQ(read("8@0x601040"), Operand::memory(kNoWord, 0x601040));
}

TEST(StapsdtArguments, SymbolsAreFarFromTheLocation) {
  EXPECT_EQ(read("8@sym(%rip)"), Operand::memory(saved::rip, 0x4000 - 0x1200));
  EXPECT_EQ(read("8@sym+4(%rip)"), Operand::memory(saved::rip, 0x4004 - 0x1200));
  EXPECT_EQ(read("8@40+sym(%rip)"), Operand::memory(saved::rip, 0x4028 - 0x1200));
  EXPECT_EQ(read("8@sym-8(%rip)"), Operand::memory(saved::rip, 0x3ff8 - 0x1200));
  EXPECT_EQ(read("8@.hidden.1(%rip)"), Operand::memory(saved::rip, 0x4000 - 0x1200));
  EXPECT_EQ(read("8@sym"), Operand::memory(saved::rip, 0x4000 - 0x1200));
}

// A float or double is read as its bits.
TEST(StapsdtArguments, FloatingPointNumbersAreBits) {
  EXPECT_EQ(read("8f@-8(%rbp)"), Operand::memory(saved::rbp, -8));
  EXPECT_EQ(read("-8f@%rax"), of_register(saved::rax, 8, false));
  EXPECT_EQ(read("-4f@%eax"), of_register(saved::rax, 4, false));
}

TEST(StapsdtArguments, LowBytesOfVectorRegisters) {
  EXPECT_EQ(read("8f@%xmm0"), Operand::of_vector(0, 8));
  EXPECT_EQ(read("4f@%xmm15"), Operand::of_vector(15, 4));
  EXPECT_EQ(read("8@%xmm9"), Operand::of_vector(9, 8));
  for (const char* text : {"8f@%xmm16", "8f@%xmm", "8f@%xmm1x", "8f@%xmm-1", "8f@%ymm0", "8f@%xmm256"})
    EXPECT_THAT(argument(text).problem, HasSubstr("no general register, nor in %xmm0 to %xmm15")) << text;
}

TEST(StapsdtArguments, WhatCannotBeReadIsRefusedByName) {
  EXPECT_EQ(argument("8f@%st").problem, "'8f@%st': it is in no general register, nor in %xmm0 to %xmm15");
  EXPECT_THAT(argument("8@%fs:16").problem, HasSubstr("in no general register"));
  EXPECT_THAT(argument("16@%rax").problem, HasSubstr("its size"));
  EXPECT_THAT(argument("3@%rax").problem, HasSubstr("its size"));
  EXPECT_THAT(argument("8@nowhere(%rip)").problem, HasSubstr("the symbol nowhere is not in the file"));
  EXPECT_THAT(argument("8@sym(%rax)").problem, HasSubstr("a symbol and a register"));
  EXPECT_THAT(argument("8@8(%rip)").problem, HasSubstr("relative to"));
  EXPECT_THAT(argument("8@(%eax)").problem, HasSubstr("64-bit registers"));
  EXPECT_THAT(argument("8@(%rax,%rbx,3)").problem, HasSubstr("its scale is not"));
  EXPECT_THAT(argument("8@(%rax,%rbx,8,1)").problem, HasSubstr("three parts"));
  EXPECT_THAT(argument("8@$").problem, HasSubstr("constant"));
  EXPECT_THAT(argument("8@$5x").problem, HasSubstr("constant"));
  for (const char* text : {"@", "8@", "-@%rax", "8@(", "8@(%rax", "8@)", "8@-", "8@sym sym(", "8@a b"})
    for (const StapsdtArgument& found : parse_stapsdt_arguments(text, kAddress, symbol))
      EXPECT_EQ(found.operand.kind == Operand::Kind::none, !found.problem.empty()) << text;
}

TEST(StapsdtArguments, EachHasItsPlace) {
  const auto all = parse_stapsdt_arguments("  -4@%eax 8f@%st   4@$5 ", kAddress, symbol);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].operand, of_register(saved::rax, 4, true));
  EXPECT_EQ(all[1].operand.kind, Operand::Kind::none);
  EXPECT_EQ(all[2].operand, Operand::constant(5));
  EXPECT_TRUE(parse_stapsdt_arguments("", kAddress, symbol).empty());
}

TEST(StapsdtNotes, OfAProgram) {
  const std::string path = DVM_BINARY_DIR "/tests/programs/markers_O0";
  if (!std::filesystem::exists(path)) DVM_SKIP("<sys/sdt.h> is not installed (systemtap-sdt-dev)");
  const auto notes = read_stapsdt(path);
  ASSERT_TRUE(notes) << notes.error().message;
  ASSERT_EQ(notes->size(), 9U);
  EXPECT_EQ(notes->at(0).provider, "dvmtest");
  EXPECT_EQ(notes->at(0).name, "round__begin");
  EXPECT_EQ(notes->at(0).arguments, "-4@-4(%rbp) 8@-16(%rbp)");
  EXPECT_EQ(notes->at(0).semaphore, notes->at(1).semaphore);
  EXPECT_NE(notes->at(0).semaphore, notes->at(2).semaphore);
  EXPECT_NE(notes->at(0).semaphore, 0U);
  EXPECT_LT(notes->at(0).offset, notes->at(1).offset);
}

TEST(StapsdtNotes, OfWhatHasNone) {
  const auto none = read_stapsdt(DVM_BINARY_DIR "/tests/programs/looper");
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_TRUE(none->empty());
  EXPECT_FALSE(read_stapsdt("/etc/passwd"));
  EXPECT_FALSE(read_stapsdt("/nonexistent"));
}

// As headers of dvm leave them. The linker may keep equal ones apart.
__asm__(
    "\t.pushsection .dvm.provider, \"MS\", \"progbits\", 1\n"
    "\t.asciz \"provider shop { probe open(); };\"\n"
    "\t.asciz \"provider shop2 { probe open(int a0); };\"\n"
    "\t.asciz \"provider shop { probe open(); };\"\n"
    "\t.asciz \"BEGIN { exit(0); }\"\n"
    "\t.popsection\n");

TEST(DeclaredProviders, AreThoseOfTheProvider) {
  EXPECT_THAT(read_declared_providers("/proc/self/exe", "shop"), testing::ElementsAre("provider shop { probe open(); };"));
  EXPECT_THAT(read_declared_providers("/proc/self/exe", "shop2"),
              testing::ElementsAre("provider shop2 { probe open(int a0); };"));
  EXPECT_THAT(read_declared_providers("/proc/self/exe", "sho"), testing::IsEmpty());
  EXPECT_THAT(read_declared_providers("/bin/true", "shop"), testing::IsEmpty());
  EXPECT_THAT(read_declared_providers("/dev/null", "shop"), testing::IsEmpty());
}

}  // namespace
}  // namespace dvm::runtime
