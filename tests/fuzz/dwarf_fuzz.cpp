// Damaged debug information: every question to it must end with an answer or none, and what it describes must be within bounds.

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/symbol/dwarf_describe.h"
#include "runtime/symbol/dwarf_file.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/signature.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::runtime {
namespace {

using dif::DescribedAs;

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

  // Follows what a type is made of.
  void look_at(dif::TypeRef type, DieTable& table, unsigned depth) {
    const Dwarf_Die* die = table.find(type);
    if (die == nullptr || depth > 6) return;
    const dif::TypeDesc desc = describe(*die, table);
    ASSERT_TRUE(desc.as == DescribedAs::unknown || desc.size <= uint64_t{1} << 40);
    for (const dif::MemberDesc& member : members_of(*die, table)) {
      ASSERT_LE(member.bits, 64U);
      ASSERT_TRUE(member.bits == 0 || member.shift + member.bits <= 64);
      look_at(member.type, table, depth + 2);
    }
    asked_ += enumerators_of(*die).size();
    look_at(desc.target, table, depth + 1);
  }

  void ask(const DwarfFile& file) {
    DieTable table;
    for (auto as : {DescribedAs::structure, DescribedAs::enumeration, DescribedAs::alias})
      for (const char* name : {"node", "bits", "color", "odd_t", "Cat", "Diet", "int"})
        if (auto die = file.find_type(as, name)) look_at(table.add(*die), table, 0);
    for (const char* name : {"BLUE", "meat"})
      if (auto found = file.find_enumerator(name)) asked_ += static_cast<uint64_t>(enumerator_value(found->enumerator)) & 1;
    for (const ElfFunction& function : elf_->functions())
      if (auto die = file.find_function(function.address))
        for (bool is_return : {false, true}) asked_ += arguments_of(*die, is_return, table).size();
    for (const ElfData& data : elf_->data())
      if (auto die = file.find_variable(data.name, data.address)) look_at(type_of(*die, table), table, 0);
  }

  void read(const std::string& bytes) {
    ASSERT_TRUE(file_.write(bytes));
    auto file = DwarfFile::open(file_.path());
    file ? read_++ : refused_++;
    if (file) ask(**file);
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
