// Damaged debug information: every question to it must end with an answer or none, and what it describes must be within bounds.

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/fuzz/read_dwarf.h"

namespace dvm::runtime {
namespace {

struct Range {
  size_t from = 0, to = 0;
};

class DwarfFuzz : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string path = DVM_BINARY_DIR "/tests/programs/" + GetParam();
    whole_ = fuzz::read_file(path);
    ASSERT_GT(whole_.size(), sizeof(Elf64_Ehdr));
    auto elf = ElfObject::read(path);
    ASSERT_TRUE(elf);
    elf_ = *elf;
  }

  Range section(std::string_view name) const {
    Elf64_Ehdr header;
    std::memcpy(&header, whole_.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), whole_.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    const char* names = whole_.data() + sections[header.e_shstrndx].sh_offset;
    for (const Elf64_Shdr& s : sections)
      if (name == names + s.sh_name) return {s.sh_offset, s.sh_offset + s.sh_size};
    return {};
  }

  void read(const std::string& bytes) {
    ASSERT_TRUE(file_.write(bytes));
    auto file = DwarfFile::open(file_.path());
    file ? read_++ : refused_++;
    if (file) asked_ += fuzz::DwarfQuestions(**file, *elf_).ask();
  }

  void damage(std::string_view name, unsigned seed, int rounds) {
    const Range where = section(name);
    ASSERT_GT(where.to, where.from) << name;
    std::mt19937 random(seed);
    for (int i = 0; i < rounds && !HasFatalFailure(); i++) read(fuzz::damage(whole_, random, where.from, where.to));
  }

  fuzz::MemoryFile file_;
  std::string whole_;
  std::shared_ptr<const ElfObject> elf_;
  uint64_t asked_ = 0;
  int read_ = 0, refused_ = 0;
};

TEST_P(DwarfFuzz, Undamaged) {
  read(whole_);
  EXPECT_EQ(read_, 1);
  EXPECT_GT(asked_, 10U);
}

TEST_P(DwarfFuzz, Descriptions) {
  damage(".debug_info", 1, 600);
  EXPECT_GT(read_, 100);
}

TEST_P(DwarfFuzz, Abbreviations) {
  damage(".debug_abbrev", 2, 600);
  EXPECT_GT(read_, 100);
}

TEST_P(DwarfFuzz, OtherSections) {
  for (const char* name : {".debug_str", ".debug_aranges", ".debug_line_str"}) damage(name, 3, 100);
  EXPECT_GT(read_, 100);
}

TEST_P(DwarfFuzz, Anywhere) {
  std::mt19937 random(4);
  for (int i = 0; i < 300; i++) read(fuzz::damage(whole_, random, 0, whole_.size()));
  EXPECT_GT(refused_, 0);
}

INSTANTIATE_TEST_SUITE_P(Programs, DwarfFuzz, testing::Values("types", "classes"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace dvm::runtime
