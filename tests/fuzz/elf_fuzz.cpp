// Damaged ELF files: reading their symbols must end with functions inside the file's segments or an error, whatever they hold.

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/fuzz/read_elf.h"

namespace dvm::runtime {
namespace {

class ElfFuzz : public testing::Test {
 protected:
  void SetUp() override {
    whole_ = fuzz::read_file(DVM_BINARY_DIR "/tests/fuzz/elf_sample");
    ASSERT_GT(whole_.size(), sizeof(Elf64_Ehdr));
    std::memcpy(&header_, whole_.data(), sizeof header_);
  }

  void read(const std::string& bytes) { (fuzz::read_elf(file_, bytes) ? read_ : refused_)++; }

  void run(unsigned seed, size_t from, size_t to, int rounds) {
    std::mt19937 random(seed);
    for (int i = 0; i < rounds && !HasFatalFailure(); i++) read(fuzz::damage(whole_, random, from, to));
    RecordProperty("read", read_);
    RecordProperty("refused", refused_);
  }

  fuzz::MemoryFile file_;
  std::string whole_;
  Elf64_Ehdr header_{};
  int read_ = 0, refused_ = 0;
};

TEST_F(ElfFuzz, Headers) {
  run(1, 0, header_.e_phoff + header_.e_phnum * sizeof(Elf64_Phdr), 1500);
  EXPECT_GT(refused_, 0);
  EXPECT_GT(read_, 0);
}

TEST_F(ElfFuzz, SectionHeaders) {
  run(2, header_.e_shoff, whole_.size(), 1500);
  EXPECT_GT(read_, 0);
}

TEST_F(ElfFuzz, SymbolTables) {
  std::vector<Elf64_Shdr> sections(header_.e_shnum);
  std::memcpy(sections.data(), whole_.data() + header_.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM && section.sh_type != SHT_NOTE) continue;
    run(section.sh_type, section.sh_offset, section.sh_offset + section.sh_size, 500);
  }
  EXPECT_GT(read_, 500);
}

TEST_F(ElfFuzz, Anywhere) { run(4, 0, whole_.size(), 1000); }

TEST_F(ElfFuzz, CutShort) {
  for (size_t size = 0; size < whole_.size(); size += 97) read(whole_.substr(0, size));
  EXPECT_GT(refused_, 0);
}

TEST_F(ElfFuzz, Junk) {
  std::mt19937 random(6);
  for (int i = 0; i < 300; i++) {
    std::string bytes(random() % 4096, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (i % 2 == 0 && bytes.size() > 64) std::memcpy(bytes.data(), whole_.data(), 20);
    read(bytes);
  }
  EXPECT_GT(refused_, 100);
}

}  // namespace
}  // namespace dvm::runtime
