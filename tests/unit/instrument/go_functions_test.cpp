// Go's table of functions: what it says, and that nothing in it is trusted.

#include "runtime/symbol/go_functions.h"

#include <gtest/gtest.h>

#include <climits>

#include "runtime/symbol/file_bytes.h"
#include "tests/support/go_file.h"

namespace dvm::runtime {
namespace {

using test::GoFile;
using Maker = GoFunctions::Maker;

constexpr uint64_t kCount = 8, kFunctions = 64;  // in the table

CodeBytes bytes_of(std::string_view file) { return {reinterpret_cast<const uint8_t*>(file.data()), file.size()}; }
std::optional<GoFunctions> read(const GoFile& file) { return GoFunctions::read(bytes_of(file.bytes), GoFile::kText); }

// Those of the functions at 0, 16 and 32.
std::vector<Maker> makers(const GoFunctions& functions) {
  return {functions.maker_of(GoFile::kText), functions.maker_of(GoFile::kText + 16), functions.maker_of(GoFile::kText + 32)};
}

TEST(GoFunctions, TellWhoMadeAFunction) {
  for (const uint32_t magic : {GoFile::kSince18, GoFile::kSince20}) {
    const GoFile file({{0, 0}, {16, GoFile::kAssembly}, {32, 3}}, magic);
    const auto functions = read(file);
    ASSERT_TRUE(functions) << magic;
    EXPECT_EQ(makers(*functions), (std::vector{Maker::compiler, Maker::assembler, Maker::compiler}));
    for (const uint64_t address :
         {uint64_t{0}, GoFile::kText - 1, GoFile::kText + 1, GoFile::kText + 33, GoFile::kTextEnd, UINT64_MAX})
      EXPECT_EQ(functions->maker_of(address), Maker::unknown) << address;
  }
}

TEST(GoFunctions, AreNoneInOtherFormats) {
  EXPECT_FALSE(GoFunctions::read({}, GoFile::kText));
  GoFile other_magic({{0, 0}}, 0xfffffffb), other_pointers, other_name, without_bytes;
  other_pointers.bytes[other_pointers.table + 7] = 4;
  other_name.put<uint32_t>(other_name.section(GoFile::kTable), 24);  // "runtime.text"
  without_bytes.put<uint32_t>(without_bytes.section(GoFile::kTable) + offsetof(Elf64_Shdr, sh_type), SHT_NOBITS);
  for (const GoFile* file : {&other_magic, &other_pointers, &other_name, &without_bytes}) EXPECT_FALSE(read(*file));
}

TEST(GoFunctions, AreRefusedIfTheyDoNotFitInTheirTable) {
  for (const uint64_t count : {uint64_t{1} << 31, uint64_t{1} << 61, UINT64_MAX, uint64_t{100}}) {
    GoFile file;
    file.put(file.table + kCount, count);
    EXPECT_FALSE(read(file)) << count;
  }
  for (const uint64_t begin : {uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - 7, uint64_t{1000}}) {
    GoFile file;
    file.put(file.table + kFunctions, begin);
    EXPECT_FALSE(read(file)) << begin;
  }
}

TEST(GoFunctions, AreRefusedIfTheirSectionIsNotInTheFile) {
  for (const size_t field : {offsetof(Elf64_Shdr, sh_offset), offsetof(Elf64_Shdr, sh_size)})
    for (const uint64_t value : {uint64_t{1} << 32, UINT64_MAX, UINT64_MAX - 100}) {
      GoFile file;
      file.put(file.section(GoFile::kTable) + field, value);
      EXPECT_FALSE(read(file)) << field << " " << value;
    }
  GoFile name, names, headers;
  name.put<uint32_t>(name.section(GoFile::kTable), UINT32_MAX);
  names.put(names.section(GoFile::kStrings) + offsetof(Elf64_Shdr, sh_offset), UINT64_MAX);
  headers.put(offsetof(Elf64_Ehdr, e_shoff), UINT64_MAX - 10);
  for (const GoFile* file : {&name, &names, &headers}) EXPECT_FALSE(read(*file));
}

// Where the second of the functions is described.
uint64_t second_entry(const GoFile& file) { return file.table + GoFile::kHeader + 8; }

TEST(GoFunctions, ADescriptionElsewhereOrOfAnotherIsUnknown) {
  for (const uint32_t described : {UINT32_MAX, uint32_t{1} << 31, uint32_t{10000}, uint32_t{8 * 3 + 4}}) {
    GoFile file;
    file.put(second_entry(file) + 4, described);
    const auto functions = read(file);
    ASSERT_TRUE(functions);
    EXPECT_EQ(makers(*functions), (std::vector{Maker::compiler, Maker::unknown, Maker::compiler})) << described;
  }
}

TEST(GoFunctions, OutOfOrderAreUnknownOrThemselves) {
  const GoFile file({{32, 0}, {16, GoFile::kAssembly}, {0, 0}, {16, GoFile::kAssembly}});
  const auto functions = read(file);
  ASSERT_TRUE(functions);
  EXPECT_NE(functions->maker_of(GoFile::kText + 16), Maker::compiler);
  EXPECT_NE(functions->maker_of(GoFile::kText), Maker::assembler);
  EXPECT_EQ(GoFunctions::read(bytes_of(file.bytes), UINT64_MAX)->maker_of(15), Maker::unknown);  // wraps around
}

TEST(GoFunctions, CutShortSayNothingWrong) {
  const GoFile whole;
  for (size_t size = 0; size < whole.bytes.size(); size++)  // the section headers are at the end
    EXPECT_FALSE(GoFunctions::read(bytes_of(whole.bytes).first(size), GoFile::kText) && size < whole.section(GoFile::kStrings));
  for (uint64_t size = 0; size < whole.table_size; size++) {
    GoFile cut;
    cut.put(cut.section(GoFile::kTable) + offsetof(Elf64_Shdr, sh_size), size);
    const auto functions = read(cut);
    EXPECT_EQ(functions.has_value(), size >= GoFile::kHeader + 3 * 8);
    if (!functions) continue;
    const std::vector<Maker> right = {Maker::compiler, Maker::assembler, Maker::compiler}, found = makers(*functions);
    for (size_t i = 0; i < right.size(); i++) EXPECT_TRUE(found[i] == right[i] || found[i] == Maker::unknown) << size;
  }
}

}  // namespace
}  // namespace dvm::runtime
