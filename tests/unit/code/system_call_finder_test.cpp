// System calls in the code of this very program, of the C library and of the dynamic linker, and the numbers that they make.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>

#include "runtime/code/file_symbols.h"
#include "runtime/code/module_code.h"
#include "runtime/code/system_calls.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"

#define CALLING(name, text)                                                                      \
  asm(".pushsection .text\n.type scf_" #name ", @function\nscf_" #name ": .cfi_startproc\n" text \
      "\n ret\n"                                                                                 \
      ".cfi_endproc\n.size scf_" #name ", . - scf_" #name "\n.popsection")

CALLING(beside, "mov $11, %eax\n syscall");
CALLING(apart, "mov $11, %eax\n mov %rsi, %rdx\n syscall");
CALLING(zero, "xor %eax, %eax\n syscall");
CALLING(long_move, "mov $15, %rax\n syscall");
CALLING(by_register, "mov $202, %r8d\n xor %edi, %edi\n mov %r8d, %eax\n syscall");
CALLING(pushed, "push $9\n pop %rax\n syscall");
CALLING(behind_branch, "mov $11, %eax\n test %rdi, %rdi\n je 1f\n syscall\n 1:");
CALLING(from_before, "mov $202, %r9d\n 1: test %rdi, %rdi\n je 2f\n dec %rdi\n jmp 1b\n nop\n 2: mov %r9d, %eax\n syscall");
CALLING(kept, "push %rbx\n mov $231, %ebx\n call scf_zero\n mov %ebx, %eax\n syscall\n pop %rbx");
CALLING(both_ways, "test %rdi, %rdi\n je 1f\n mov $11, %eax\n jmp 2f\n 1: mov $11, %eax\n 2: syscall");
CALLING(either, "mov $12, %r9d\n test %rdi, %rdi\n je 1f\n mov $11, %r9d\n 1: mov %r9d, %eax\n syscall");
CALLING(lost, "mov $202, %r9d\n call scf_zero\n mov %r9d, %eax\n syscall");
CALLING(by_pad, "mov $202, %r9d\n jmp 1f\n nop\n mov %edi, %r9d\n 1: mov %r9d, %eax\n syscall");
CALLING(by_table, "mov $202, %r9d\n lea (%rdi,%rsi), %rax\n jmp *%rax\n mov $11, %eax\n mov %rsi, %rdx\n syscall");
CALLING(from_table, "mov $202, %r9d\n test %rdi, %rdi\n je 1f\n jmp *%rax\n 1: mov %r9d, %eax\n syscall");
CALLING(entered, "test %rdi, %rdi\n je 1f\n mov $11, %eax\n 1: syscall");
CALLING(called, "mov $11, %eax\n call scf_zero\n syscall");
CALLING(again, "mov $11, %eax\n syscall\n syscall");
CALLING(partly, "mov $11, %eax\n mov %dil, %al\n syscall");
CALLING(given, "mov %rdi, %rax\n syscall");
CALLING(as_32_bits, "mov $91, %eax\n int $0x80");
CALLING(as_interrupt, "int $3");
CALLING(inside, "mov $0x050f, %eax\n mov $0x80cd340f, %ecx");
// Not known to unwinders, and without a symbol that says how long it is.
asm(".pushsection .text\n.type scf_bare, @function\nscf_bare: mov $11, %eax\n syscall\n ret\n.popsection");
asm(".pushsection .text\n.type scf_bare_inside, @function\nscf_bare_inside: mov %sil, 5(%rdi,%rcx)\n ret\n"
    ".type scf_data, @function\nscf_data: .byte 0xcd, 0x80, 0x74, 0x01, 0x06, 0xf4, 0x06, 0x06\n"
    ".type scf_bare_branch, @function\nscf_bare_branch: nop\n syscall\n test %eax, %eax\n je 1f\n hlt\n 1: ret\n.popsection");

namespace dvm::runtime {
namespace {

class SystemCallFinderTest : public testing::Test {
 protected:
  static FramedFunction extent(const std::string& name) {
    static const FileSymbols symbols(code().file());
    const auto found = symbols.named("scf_" + name);
    EXPECT_TRUE(found) << name;
    return found.value_or(FramedFunction{});
  }
  static const ModuleCode& code() {
    static const std::unique_ptr<ModuleCode> opened = std::move(*ModuleCode::open("/proc/self/exe"));
    return *opened;
  }
  static std::vector<SystemCallSite> in(const std::string& name, uint64_t bytes = 0) {
    static const auto elf = *ElfObject::read("/proc/self/exe");
    const FramedFunction function = extent(name);
    const uint64_t begin = elf->offset_of(function.address).value_or(0), size = std::max(function.size, bytes);
    std::vector<SystemCallSite> found;
    for (const SystemCallSite& one : code().system_calls())
      if (one.offset >= begin && one.offset - begin < size) found.push_back(one);
    return found;
  }
  static SystemCallSite only(const std::string& name) {
    const auto found = in(name);
    EXPECT_EQ(found.size(), 1) << name;
    return found.empty() ? SystemCallSite{} : found[0];
  }
};

TEST_F(SystemCallFinderTest, FindsTheNumberBeside) {
  const SystemCallSite call = only("beside");
  EXPECT_EQ(call.number, 11);
  EXPECT_TRUE(call.is_beside);
  EXPECT_FALSE(call.is_of_32_bits);
  EXPECT_EQ(call.behind, call.offset + 2);
}

TEST_F(SystemCallFinderTest, FindsNumbersOfAllWays) {
  const std::map<std::string, uint32_t> numbers = {
      {"apart", 11},         {"zero", 0},          {"long_move", 15}, {"by_register", 202}, {"pushed", 9},
      {"behind_branch", 11}, {"from_before", 202}, {"kept", 231},     {"both_ways", 11},    {"by_table", 11}};
  for (const auto& [name, number] : numbers) {
    EXPECT_EQ(only(name).number, number) << name;
    EXPECT_FALSE(only(name).is_beside) << name;
  }
}

TEST_F(SystemCallFinderTest, IsNotCertainOfOthers) {
  for (const char* name : {"entered", "called", "partly", "given", "either", "lost", "by_pad", "from_table"}) {
    EXPECT_EQ(only(name).number, std::nullopt) << name;
    EXPECT_FALSE(only(name).is_beside) << name;
  }
  const auto twice = in("again");
  ASSERT_EQ(twice.size(), 2);
  EXPECT_EQ(twice[0].number, 11);
  EXPECT_EQ(twice[1].number, std::nullopt);
}

TEST_F(SystemCallFinderTest, KnowsThoseOf32Bits) {
  EXPECT_TRUE(only("as_32_bits").is_of_32_bits);
  EXPECT_TRUE(in("as_interrupt").empty());
}

TEST_F(SystemCallFinderTest, SeesNoneInsideOfInstructions) { EXPECT_TRUE(in("inside").empty()); }

// It could be data, so nothing is known of it.
TEST_F(SystemCallFinderTest, MissesNoneOutsideOfFunctions) {
  const auto found = in("bare", 7);
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].number, std::nullopt);
}

// There, instructions follow one another; and data is followed by what ends a program.
TEST_F(SystemCallFinderTest, SeesNoneInsideOfInstructionsOrDataOutsideOfFunctions) {
  EXPECT_TRUE(in("bare_inside", 6).empty());
  EXPECT_TRUE(in("data", 8).empty());
  EXPECT_EQ(in("bare_branch", 16).size(), 1);
}

// Many bytes are compared at once.
TEST(SystemCallsAmongBytes, AreFoundAtAllPlaces) {
  constexpr unsigned char kReturn = 0xc3, kCalls[][2] = {{0x0f, 0x05}, {0x0f, 0x34}, {0xcd, 0x80}};
  const DecodeFunction decode = [](uint64_t, uint64_t) { return FunctionCode(); };
  for (const auto& call : kCalls)
    for (size_t size = 3; size < 50; size += 7)
      for (size_t place = 0; place + 3 <= size; place++) {
        std::vector<unsigned char> bytes(size, kReturn);
        std::ranges::copy(call, bytes.begin() + static_cast<std::ptrdiff_t>(place));
        const std::vector<FileSegment> code{{0, size, 0}}, data;
        const auto found = find_system_calls({bytes, code, data, {}, 0, false}, decode);
        ASSERT_EQ(found.size(), 1) << size << " " << place;
        EXPECT_EQ(found[0].offset, place);
      }
}

std::string path_of(std::string_view part) {
  const auto objects = mapped_objects(getpid());
  const auto found = std::ranges::find_if(*objects, [&](const MappedObject& one) { return one.name.starts_with(part); });
  EXPECT_NE(found, objects->end()) << part;
  return found == objects->end() ? "" : found->open_path;
}

size_t count_beside(const ModuleCode& code, uint32_t number) {
  return static_cast<size_t>(std::ranges::count_if(
      code.system_calls(), [&](const SystemCallSite& one) { return one.number == number && one.is_beside; }));
}

// Of those that are certain, glibc has none that is not beside.
TEST_F(SystemCallFinderTest, FindsThoseOfTheLibrary) {
  const auto library = ModuleCode::open(path_of("libc.so")), linker = ModuleCode::open(path_of("ld-linux"));
  ASSERT_TRUE(library && linker);
  for (const uint32_t number : {SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk, SYS_madvise, SYS_shmat}) {
    EXPECT_GE(count_beside(**library, number), 1) << number;
    const auto is_apart = [&](const SystemCallSite& one) { return one.number == number && !one.is_beside; };
    EXPECT_TRUE(std::ranges::none_of((*library)->system_calls(), is_apart)) << number;
  }
  for (const uint32_t number : {SYS_mmap, SYS_munmap, SYS_mprotect, SYS_brk})
    EXPECT_EQ(count_beside(**linker, number), 1) << number;
  EXPECT_GT((*library)->system_calls().size(), 300);
  const auto returns = [](const SystemCallSite& one) { return one.number == SYS_rt_sigreturn; };
  EXPECT_EQ(std::ranges::count_if((*library)->system_calls(), returns), 1);
}

// Files are untrusted.
TEST(FileSymbolsTest, HasNoneOfBytesThatAreNoFile) {
  constexpr std::array<unsigned char, 64> kBytes = {0x7f, 'E', 'L', 'F'};
  for (const size_t size : {size_t{0}, size_t{8}, kBytes.size()}) {
    const FileSymbols symbols(CodeBytes(kBytes).first(size));
    EXPECT_FALSE(symbols.named("syscall"));
    EXPECT_FALSE(symbols.before(0));
    EXPECT_TRUE(symbols.may_be_code(0));
  }
}

}  // namespace
}  // namespace dvm::runtime
