// The code of a file, jumps from outside of a function, and functions by the unwinders' table, on this very program.
#include "runtime/code/module_code.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include "runtime/code/frame_index.h"
#include "runtime/instrument/uprobe/site_plan.h"
#include "runtime/symbol/elf.h"

// The second function jumps into the first, behind its first instruction, by an offset of four bytes and of one. No code jumps
// into the third. The room around them keeps bytes of other code that look like a short jump from reaching them.
asm(".pushsection .text\n.skip 256, 0xcc\n"
    ".type mct_shared, @function\nmct_shared: mov %rdi, %rax\nmct_tail: cmp $1, %rdx\n je 1f\n 1: ret\n.size mct_shared, . - "
    "mct_shared\n"
    ".type mct_far, @function\nmct_far: mov %rsi, %rax\n .byte 0xe9\n .long mct_tail - . - 4\n.size mct_far, . - mct_far\n"
    ".type mct_near_shared, @function\nmct_near_shared: mov %rdi, %rax\n2: cmp $1, %rdx\n je 1f\n 1: ret\n.size mct_near_shared, "
    ". - mct_near_shared\n"
    ".type mct_near, @function\nmct_near: mov %rsi, %rax\n jmp 2b\n.size mct_near, . - mct_near\n"
    ".type mct_alone, @function\nmct_alone: mov %rdi, %rax\n cmp $1, %rdx\n je 1f\n 1: ret\n.size mct_alone, . - mct_alone\n"
    ".type mct_unshared, @function\nmct_unshared: mov %rdi, %rax\n3: cmp $1, %rdx\n je 1f\n 1: ret\n.size mct_unshared, . - "
    "mct_unshared\n"
    ".type mct_constant, @function\nmct_constant: .cfi_startproc\n.byte 0xb8, 0x90, 0xeb, 3b - . - 1, 0\n ret\n"  // mov to %eax
    ".cfi_endproc\n.size mct_constant, . - mct_constant\n.skip 256, 0xcc\n"
    ".popsection");

// A part that was moved away jumps back by a table.
asm(".pushsection .text\n.skip 256, 0xcc\n"
    ".type mct_tabled, @function\nmct_tabled: mov %rdi, %rax\n4: cmp $1, %rdx\n je 5f\n 5: ret\n.size mct_tabled, . - "
    "mct_tabled\n"
    ".type mct_part, @function\nmct_part: .cfi_startproc\n lea mct_table(%rip), %r10\n movslq (%r10,%rdi,4), %rax\n add %r10, "
    "%rax\n jmp *%rax\n"
    "6: ret\n.cfi_endproc\n.size mct_part, . - mct_part\n.skip 256, 0xcc\n.popsection\n"
    ".pushsection .rodata\n.balign 4\nmct_table: .long 6b - mct_table, 4b - mct_table\n.popsection");

// Behind a table with one entry begins that of mct_known, whose entries would lead four bytes further back from the first table.
// Of mct_unknown it is not known where it ends.
asm(".pushsection .text\n.skip 256, 0xcc\n"
    ".type mct_spared, @function\nmct_spared: mov %rdi, %rax\n cmp $1, %rdx\n .byte 0x74, 0\n ret\n.size mct_spared, . - "
    "mct_spared\n"
    ".type mct_known, @function\nmct_known: .cfi_startproc\n5: lea mct_known_table(%rip), %r10\n movslq (%r10,%rdi,4), %rax\n"
    "add %r10, %rax\n jmp *%rax\n6: ret\n.cfi_endproc\n.size mct_known, . - mct_known\n"
    "lea mct_single_table(%rip), %r10\n movslq (%r10,%rdi,4), %rax\n add %r10, %rax\n jmp *%rax\n.skip 256, 0xcc\n"
    ".type mct_lost, @function\nmct_lost: mov %rdi, %rax\n cmp $1, %rdx\n .byte 0x74, 0\n ret\n.size mct_lost, . - mct_lost\n"
    ".type mct_unknown, @function\nmct_unknown: 7: lea mct_unknown_table(%rip), %r10\n movslq (%r10,%rdi,4), %rax\n"
    "add %r10, %rax\n jmp *%rax\n.size mct_unknown, . - mct_unknown\n.skip 256, 0xcc\n.popsection\n"
    ".pushsection .rodata\n.balign 4\nmct_single_table: .long 6b - mct_single_table\n"
    "mct_known_table: .long 5b - mct_known_table, 6b - mct_known_table\n"
    ".skip 64, 0x7f\nmct_long_table: .long 6b - mct_long_table\nmct_unknown_table: .long 7b - mct_unknown_table\n.popsection\n"
    ".pushsection .text\nlea mct_long_table(%rip), %r10\n movslq (%r10,%rdi,4), %rax\n add %r10, %rax\n jmp *%rax\n"
    ".skip 256, 0xcc\n.popsection");

// As a linker does that puts constants into the segment of the code.
asm(".pushsection .text\n.skip 256, 0xcc\n"
    ".type mct_beside, @function\nmct_beside: mov %rdi, %rax\n4: cmp $1, %rdx\n je 5f\n 5: ret\n.size mct_beside, . - "
    "mct_beside\n"
    "lea mct_beside_table(%rip), %r10\n movslq (%r10,%rdi,4), %rax\n add %r10, %rax\n jmp *%rax\n6: ret\n.balign 4\n"
    "mct_beside_table: .long 6b - mct_beside_table, 4b - mct_beside_table\n.skip 256, 0xcc\n.popsection");

// Where a transaction goes on when it is aborted.
asm(".pushsection .text\n.skip 256, 0xcc\n"
    ".type mct_retried, @function\nmct_retried: mov %rdi, %rax\n7: cmp $1, %rdx\n je 8f\n 8: ret\n.size mct_retried, . - "
    "mct_retried\n.skip 256, 0xcc\n"
    ".type mct_transaction, @function\nmct_transaction: .byte 0xc7, 0xf8\n .long 7b - . - 4\n ret\n.size mct_transaction, . - "
    "mct_transaction\n.popsection");

extern "C" __attribute__((noinline, used)) int mct_framed(int x) { return x * x + 41; }

namespace dvm::runtime {
namespace {

class ModuleCodeTest : public testing::Test {
 protected:
  const ElfFunction& function(std::string_view name) const {
    for (const ElfFunction& one : elf_->functions())
      if (one.name == name) return one;
    ADD_FAILURE() << name;
    return elf_->functions().front();
  }
  EntryPlace chosen(std::string_view name) const {
    const ElfFunction& f = function(name);
    const EntrySought sought{{f.offset, f.size, f.alone}};
    return choose_entries(*code_, std::span(&sought, 1)).at(0);
  }

  std::shared_ptr<const ElfObject> elf_ = *ElfObject::read("/proc/self/exe");
  std::unique_ptr<ModuleCode> code_ = std::move(*ModuleCode::open("/proc/self/exe"));
};

// The kernel writes the breakpoints of other tracers into private mappings only.
TEST_F(ModuleCodeTest, SeesNoBreakpointsOfOtherTracers) {
  const auto at = reinterpret_cast<uintptr_t>(code_->file().data());
  std::ifstream maps("/proc/self/maps");
  std::string range, mode, line;
  for (; maps >> range >> mode && std::getline(maps, line); mode.clear())
    if (std::stoull(range, nullptr, 16) <= at && at < std::stoull(range.substr(range.find('-') + 1), nullptr, 16)) break;
  EXPECT_EQ(mode, "r--s");
}

TEST_F(ModuleCodeTest, SeesJumpsFromOutside) {
  EXPECT_EQ(chosen("mct_shared").moved, 0U);
  EXPECT_EQ(chosen("mct_near_shared").moved, 0U);
  EXPECT_EQ(chosen("mct_alone").moved, 7U);
}

TEST_F(ModuleCodeTest, SeesAbortedTransactions) { EXPECT_EQ(chosen("mct_retried").moved, 0U); }

TEST_F(ModuleCodeTest, SeesJumpsByTablesFromOutside) {
  EXPECT_EQ(chosen("mct_tabled").moved, 0U);
  EXPECT_EQ(chosen("mct_beside").moved, 0U);
}

TEST_F(ModuleCodeTest, ReadsATableUpToTheNextOneThatIsUnderstood) {
  EXPECT_EQ(chosen("mct_spared").moved, 7U);
  EXPECT_EQ(chosen("mct_lost").moved, 0U);
}

TEST_F(ModuleCodeTest, FindsEachFramedFunction) {
  const std::vector<FramedFunction> all = framed_functions(code_->file());
  EXPECT_GT(all.size(), 100);
  for (const FramedFunction& one : all) {
    const auto found = framed_before(code_->file(), one.address);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->address, one.address);
    EXPECT_EQ(found->size, one.size);
  }
}

TEST_F(ModuleCodeTest, SeesJumpsIntoWindowsThatOverlap) {
  const uint64_t begin = function("mct_shared").offset, size = function("mct_shared").size;
  std::vector<ModuleCode::Window> windows = {
      {{begin, size}, begin + 6}, {{begin + 2, size - 2}, begin + 8}, {{begin + 7, 1}, begin + 8}};
  code_->find_entered(windows);
  EXPECT_TRUE(windows[0].is_entered);
  EXPECT_TRUE(windows[1].is_entered);
  EXPECT_FALSE(windows[2].is_entered);
}

// In the constant stand the bytes of a jump there.
TEST_F(ModuleCodeTest, SeesNoJumpsInsideOfInstructions) { EXPECT_EQ(chosen("mct_unshared").moved, 7U); }

TEST_F(ModuleCodeTest, ChoosesForManyAtOnce) {
  std::vector<EntrySought> sought;
  for (const char* name : {"mct_alone", "mct_shared", "mct_alone"})
    sought.push_back({{function(name).offset, function(name).size, function(name).alone}});
  const std::vector<EntryPlace> places = choose_entries(*code_, sought);
  EXPECT_EQ(places[0].moved, 7U);
  EXPECT_EQ(places[1].moved, 0U);
  EXPECT_EQ(places[2].moved, 7U);
}

TEST_F(ModuleCodeTest, HasNoBytesOutsideOfCode) {
  EXPECT_TRUE(code_->bytes(0, 16).empty());
  EXPECT_TRUE(code_->bytes(UINT64_MAX, 16).empty());
  EXPECT_EQ(code_->bytes(function("mct_far").offset, 3).size(), 3U);
}

TEST_F(ModuleCodeTest, FindsFunctionsByTheTableOfUnwinders) {
  const ElfFunction& f = function("mct_framed");
  for (const uint64_t address : {f.address, f.address + f.size - 1}) {
    const auto framed = framed_function(code_->file(), address);
    ASSERT_TRUE(framed);
    EXPECT_EQ(framed->address, f.address);
    EXPECT_EQ(framed->size, f.size);
  }
  EXPECT_FALSE(framed_function(code_->file(), 0));
  EXPECT_FALSE(framed_function(code_->file().first(64), f.address));
  EXPECT_FALSE(framed_function({}, f.address));
}

TEST(ModuleCode, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(ModuleCode::open("/nowhere/at/all").error().message, "No such file or directory");
  EXPECT_EQ(ModuleCode::open("/").error().message, "it is not a regular file");
}

TEST(ModuleCode, AFileThatIsCutShortMeanwhileReadsAsZeros) {
  const std::string path = testing::TempDir() + "module_code_test." + std::to_string(getpid());
  std::filesystem::copy_file("/proc/self/exe", path);
  const auto file = ModuleCode::open(path);
  ASSERT_TRUE(file) << file.error().message;
  const CodeBytes bytes = (*file)->file();
  EXPECT_EQ(bytes[1], 'E');
  std::filesystem::resize_file(path, 0);
  EXPECT_EQ(bytes[1], 0);
  EXPECT_EQ(bytes.back(), 0);
  std::filesystem::remove(path);
}

TEST(ModuleCodes, OpenAFileAgainOnlyIfItHasChanged) {
  const std::string path = testing::TempDir() + "module_codes_test." + std::to_string(getpid());
  std::ofstream(path) << "one";
  ModuleCodes files;
  const auto first = files.open(path);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(files.open(path), first);
  std::ofstream(path, std::ios::app) << "more";
  const auto second = files.open(path);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->file().size(), 7U);
  EXPECT_EQ(first->file().size(), 3U);
  std::filesystem::remove(path);
}

// As a build executes many programs, each for a short time.
TEST(ModuleCodes, CloseTheOldestThatNobodyHolds) {
  const std::string path = testing::TempDir() + "module_codes_test." + std::to_string(getpid());
  const auto make = [&](size_t number) {
    std::filesystem::remove(path);
    std::ofstream(path) << std::string(number + 1, 'x');
  };
  ModuleCodes files;
  std::vector<std::weak_ptr<const ModuleCode>> opened;
  make(0);
  const auto held = files.open(path);
  for (size_t i = 1; i <= ModuleCodes::kMost + 40; i++) {
    make(i);
    opened.push_back(files.open(path));
    ASSERT_EQ(opened.back().lock()->file().size(), i + 1);
  }
  EXPECT_EQ(files.size(), ModuleCodes::kMost);
  EXPECT_EQ(held->file().size(), 1U);
  EXPECT_TRUE(opened.front().expired());
  EXPECT_FALSE(opened.back().expired());
  std::filesystem::remove(path);
}

TEST(SitePlan, RefusesProbesInCodeThatItCannotRead) {
  Probe missing, no_code, gone;
  missing.site = UprobeSite{"/nowhere/at/all", 16, false, getpid()};
  no_code.site = UprobeSite{"/proc/self/exe", 16, false, getpid()};
  gone.site = UprobeSite{"/proc/0/exe", 16, false, INT32_MAX};
  ModuleCodes files;
  std::vector<Refused> refused;
  EXPECT_TRUE(plan_sites(std::vector<EnabledProbe>{{&missing, {}}, {&no_code, {}}, {&gone, {}}}, refused, files).empty());
  ASSERT_EQ(refused.size(), 3U);
  EXPECT_EQ(refused[0].reason, "its file cannot be read, so it is not known what a probe there would do");
  EXPECT_EQ(refused[1].reason, "no instruction that dvm knows begins there");
  EXPECT_EQ(refused[2].reason, "its process has ended");
}

TEST(ModuleCodeDeathTest, OtherBusErrorsStillEndTheProgram) {
  ASSERT_TRUE(ModuleCode::open("/proc/self/exe"));
  EXPECT_DEATH(raise(SIGBUS), "");  // a sanitizer turns the signal into an exit status
}

}  // namespace
}  // namespace dvm::runtime
