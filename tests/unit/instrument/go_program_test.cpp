// Facts that are read from a Go program: its version, its Go functions, and the offset of goid.

#include "runtime/symbol/go_program.h"

#include <gtest/gtest.h>

#include "runtime/symbol/goroutine.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/support/go_file.h"

namespace dvm::runtime {
namespace {

using test::GoFile;

constexpr uint64_t kPointerSize = 14, kFlags = 15, kPointer = 16, kInline = 32;  // in the build information

// A file as dvm opens it.
struct Opened {
  explicit Opened(const GoFile& from) {
    EXPECT_TRUE(file.write(from.bytes));
    auto opened = ModuleCode::open(file.path());
    auto read = ElfObject::read(file.path());
    EXPECT_TRUE(opened && read);
    if (!opened || !read) return;
    code = std::move(*opened), elf = std::move(*read);
    program = GoProgram::read(*code, *elf);
  }
  fuzz::MemoryFile file;
  std::unique_ptr<ModuleCode> code;
  std::shared_ptr<const ElfObject> elf;
  std::optional<GoProgram> program;
};

unsigned version_of(const GoFile& from) {
  const Opened opened(from);
  return opened.program ? opened.program->version() : UINT32_MAX;
}

GoFile with_version(const std::string& version) {
  GoFile file;
  file.bytes.replace(file.build + kInline + 1, version.size(), version);
  file.bytes[file.build + kInline] = static_cast<char>(version.size());
  return file;
}

TEST(GoProgram, IsOneWithItsNote) {
  GoFile file;
  EXPECT_TRUE(Opened(file).program);
  file.bytes[file.note + 12] = 'C';
  EXPECT_FALSE(Opened(file).program);
}

TEST(GoProgram, HasAVersion) {
  EXPECT_EQ(version_of(GoFile()), 19U);
  EXPECT_EQ(version_of(with_version("go1.4")), 4U);
  EXPECT_EQ(version_of(with_version("go2.1")), 0U);
  EXPECT_EQ(version_of(with_version("")), 0U);
}

// Until 1.17: a pointer to the address and length of the text.
TEST(GoProgram, HasAVersionElsewhere) {
  GoFile file;
  const uint64_t text = file.build + kInline + 1, header = file.table;
  file.bytes[file.build + kFlags] = 0;
  file.put(file.build + kPointer, GoFile::kAddress + header);
  file.put(header, GoFile::kAddress + text);
  file.put(header + 8, uint64_t{8});
  EXPECT_EQ(version_of(file), 19U);
  GoFile other = file;
  other.bytes[other.build + kPointerSize] = 4;
  EXPECT_EQ(version_of(other), 0U);
  for (const uint64_t damaged : {uint64_t{0}, UINT64_MAX, GoFile::kAddress + file.bytes.size() - 1}) {
    GoFile nowhere = file, elsewhere = file, long_one = file;
    nowhere.put(file.build + kPointer, damaged);
    elsewhere.put(header, damaged);
    long_one.put(header + 8, damaged);
    EXPECT_EQ(version_of(nowhere), 0U) << damaged;
    EXPECT_EQ(version_of(elsewhere), 0U) << damaged;
    EXPECT_EQ(version_of(long_one), 0U) << damaged;
  }
}

TEST(GoProgram, AVersionThatLeavesTheFileIsNotKnown) {
  GoFile file;
  file.bytes.resize(file.build + kInline + 4);
  file.put(offsetof(Elf64_Ehdr, e_shnum), uint16_t{0});
  file.put(offsetof(Elf64_Ehdr, e_shoff), uint64_t{0});
  EXPECT_EQ(version_of(file), 0U);
}

// As many segments as there can be, each of them all of a large file: what is searched for is searched for in the file once.
TEST(GoProgram, IsReadOnceThoughItsSegmentsOverlap) {
  GoFile file;
  file.bytes[file.build] = 0;  // nothing to be found
  const uint64_t segments = file.bytes.size() / 8 * 8 + 8;
  file.bytes.resize(16 << 20);
  Elf64_Phdr one{PT_LOAD, PF_R | PF_W, 0, 0, 0, file.bytes.size(), 0, 8};
  for (uint64_t n = 0; n < PN_XNUM - 1; n++) {
    one.p_type = n % 2 ? PT_LOAD : PT_NOTE;
    file.put(segments + n * sizeof one, one);
  }
  file.put(offsetof(Elf64_Ehdr, e_phoff), segments);
  file.put(offsetof(Elf64_Ehdr, e_phnum), uint16_t{PN_XNUM - 1});
  EXPECT_FALSE(Opened(file).program);
  file.put(segments, Elf64_Phdr{PT_NOTE, PF_R, file.note, 0, 0, 16, 0, 8});
  EXPECT_EQ(version_of(file), 0U);
}

GoAbi abi_of(const Opened& opened, std::string_view name, uint64_t address) {
  return opened.program->abi_of(ElfFunction{.name = name, .address = address});
}

TEST(GoProgram, KnowsItsFunctions) {
  const Opened opened{GoFile()};
  EXPECT_EQ(opened.program->text(), GoFile::kText);
  EXPECT_EQ(abi_of(opened, "main.f", GoFile::kText), GoAbi::registers);
  EXPECT_EQ(abi_of(opened, "_cgoexp_0123_f", GoFile::kText), GoAbi::registers);
  EXPECT_EQ(abi_of(opened, "runtime.memmove.abi0", GoFile::kText + 16), GoAbi::stack);
  EXPECT_EQ(abi_of(opened, "main.f", GoFile::kText - 1), GoAbi::none);
  EXPECT_EQ(abi_of(opened, "main.f", GoFile::kTextEnd), GoAbi::none);
  EXPECT_EQ(abi_of(opened, "f", GoFile::kText), GoAbi::none);
  EXPECT_EQ(abi_of(opened, "f.cold", GoFile::kText), GoAbi::none);
  const Opened old{with_version("go1.16")};
  EXPECT_EQ(abi_of(old, "main.f", GoFile::kText), GoAbi::stack);
}

std::string_view problem(const Opened& opened, uint64_t address, GoAbi abi) {
  return Goroutines(*opened.program, opened.code->file(), opened.file.path()).at(address, abi).problem;
}

TEST(Goroutines, AreKnownInWhatTheCompilerMade) {
  const Opened opened{GoFile()};
  const Goroutine known =
      Goroutines(*opened.program, opened.code->file(), opened.file.path()).at(GoFile::kText, GoAbi::registers);
  EXPECT_EQ(known.problem, "");
  EXPECT_EQ(known.number, Operand::memory(saved::r14, 152));
  EXPECT_NE(problem(opened, GoFile::kText + 16, GoAbi::registers).find("assembly"), std::string_view::npos);
  EXPECT_NE(problem(opened, GoFile::kText, GoAbi::stack).find("assembly"), std::string_view::npos);
  EXPECT_EQ(problem(opened, GoFile::kText + 1, GoAbi::registers), kNoGoFunction);
  EXPECT_EQ(problem(opened, GoFile::kText, GoAbi::none), kNoGoFunction);
}

TEST(Goroutines, NeedTheTableAndAKnownVersion) {
  GoFile file;
  file.put(file.table, uint32_t{0});
  EXPECT_NE(problem(Opened(file), GoFile::kText, GoAbi::registers).find("table of functions"), std::string_view::npos);
  EXPECT_NE(problem(Opened(with_version("go1.99")), GoFile::kText, GoAbi::registers).find("this version"),
            std::string_view::npos);
  const std::string path = Opened(GoFile()).file.path();
  EXPECT_EQ(goid_offset(path, 17), std::nullopt);
  EXPECT_EQ(goid_offset(path, 18), 152U);
  EXPECT_EQ(goid_offset(path, 24), 160U);
  EXPECT_EQ(goid_offset(path, 25), 152U);
}

}  // namespace
}  // namespace dvm::runtime
