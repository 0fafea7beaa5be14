// Symbols of ELF files, demangling and near names.

#include "runtime/symbol/elf.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime/symbol/demangle.h"

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kPrograms = DVM_BINARY_DIR "/tests/unit/instrument/";

std::vector<ElfFunction> functions_at(const ElfObject& elf, uint64_t address) {
  std::vector<ElfFunction> out;
  for (const ElfFunction& f : elf.functions()) {
    if (f.address == address) out.push_back(f);
  }
  return out;
}

uint64_t address_of(const ElfObject& elf, std::string_view name) {
  for (const ElfFunction& f : elf.functions()) {
    if (f.name == name) return f.address;
  }
  return 0;
}

TEST(Elf, HasTheFunctionsOfAProgramEachOnce) {
  auto elf = ElfObject::read(kPrograms + "source_fixed");
  ASSERT_TRUE(elf) << elf.error().message;
  auto named = [&](std::string_view name) {
    return std::count_if((*elf)->functions().begin(), (*elf)->functions().end(),
                         [&](const ElfFunction& f) { return f.name == name; });
  };
  EXPECT_EQ(named("main"), 1);
  EXPECT_EQ(named("sp_second"), 1);
  EXPECT_EQ(named("sink"), 0);    // data
  EXPECT_EQ(named("printf"), 0);  // of another file
  EXPECT_EQ(named("puts"), 0);
}

TEST(Elf, FileOffsetsFollowTheSegments) {
  auto fixed = ElfObject::read(kPrograms + "source_fixed");
  ASSERT_TRUE(fixed);
  uint64_t address = address_of(**fixed, "sp_first");
  ASSERT_NE(address, 0U);
  EXPECT_EQ(functions_at(**fixed, address)[0].offset, address - 0x400000);
}

TEST(Elf, BestNameOfAnAddressComesFirst) {
  auto elf = ElfObject::read(kPrograms + "source_pie");
  ASSERT_TRUE(elf);
  auto names = functions_at(**elf, address_of(**elf, "sp_first"));
  ASSERT_EQ(names.size(), 3U);
  EXPECT_EQ(names[0].name, "sp_first");
  EXPECT_EQ(names[1].name, "sp_alias_of_first");
  EXPECT_EQ(names[2].name, "_sf") << "underscores count before the length";
}

// tests/programs/symbols.c has them.
TEST(Elf, WithoutASizeAFunctionReachesToTheNext) {
  auto elf = ElfObject::read(DVM_BINARY_DIR "/tests/programs/symbols");
  ASSERT_TRUE(elf);
  const uint64_t address = address_of(**elf, "without_size");
  ASSERT_NE(address, 0U);
  EXPECT_EQ(functions_at(**elf, address)[0].size, address_of(**elf, "after_it") - address);
}

TEST(Elf, AnAddressIsInTheInnermostFunction) {
  auto elf = ElfObject::read(DVM_BINARY_DIR "/tests/programs/symbols");
  ASSERT_TRUE(elf);
  const ElfFunction outer = functions_at(**elf, address_of(**elf, "outer"))[0];
  const ElfFunction inner = functions_at(**elf, address_of(**elf, "inner"))[0];
  const auto name_at = [&](uint64_t address) {
    const ElfFunction* function = (*elf)->function_at(address);
    return function == nullptr ? std::string_view() : function->name;
  };
  EXPECT_EQ(name_at(outer.address), "outer");
  EXPECT_EQ(name_at(inner.address), "inner");
  EXPECT_EQ(name_at(inner.address + inner.size - 1), "inner");
  EXPECT_EQ(name_at(inner.address + inner.size), "outer");
  EXPECT_NE(name_at(outer.address + outer.size), "outer");
  EXPECT_EQ(name_at(1), "");
}

TEST(Elf, WhatIsNoProgramIsAnError) {
  auto reason = [](const std::string& path) {
    auto elf = ElfObject::read(path);
    return elf ? std::string("read") : elf.error().message;
  };
  EXPECT_THAT(reason("/nonexistent"), HasSubstr("No such file"));
  EXPECT_THAT(reason("/etc/passwd"), HasSubstr("not an ELF file"));
  EXPECT_THAT(reason("/dev/null"), HasSubstr("not a regular file"));
  EXPECT_NE(reason("/"), "read");
  std::string fifo = testing::TempDir() + "elf-fifo";
  mkfifo(fifo.c_str(), 0600);
  EXPECT_NE(reason(fifo), "read");
  std::filesystem::remove(fifo);
}

TEST(Elf, OtherMachinesAreAnError) {
  std::string path = testing::TempDir() + "elf-machine";
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header;
  header.e_type = ET_DYN;
  header.e_machine = EM_AARCH64;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<char*>(&header), sizeof header);
  auto elf = ElfObject::read(path);
  ASSERT_FALSE(elf);
  EXPECT_THAT(elf.error().message, HasSubstr("x86-64"));
  std::filesystem::remove(path);
}

TEST(ElfCache, ReadsAFileAgainOnlyWhenItChanged) {
  std::string path = testing::TempDir() + "elf-cache";
  std::filesystem::copy_file(kPrograms + "source_pie", path, std::filesystem::copy_options::overwrite_existing);
  ElfCache cache;
  auto first = cache.read(path), second = cache.read(path);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  std::filesystem::copy_file(kPrograms + "source_fixed", path, std::filesystem::copy_options::overwrite_existing);
  auto third = cache.read(path);
  ASSERT_TRUE(third);
  EXPECT_NE(*first, *third);
  std::filesystem::remove(path);
  EXPECT_FALSE(cache.read(path));
  EXPECT_FALSE(cache.read("/dev/null"));
}

TEST(Demangle, LeavesArgumentsOff) {
  EXPECT_EQ(demangle_without_arguments("_ZN1a1bEi"), "a::b");
  EXPECT_EQ(demangle_without_arguments("_ZNK1a1bEPFivE"), "a::b");
  EXPECT_EQ(demangle_without_arguments("_ZN1aclEv"), "a::operator()");
  EXPECT_EQ(demangle_without_arguments("malloc"), "");
  EXPECT_EQ(demangle_without_arguments("_Z"), "");
  EXPECT_EQ(demangle_without_arguments("_R"), "");
  EXPECT_EQ(demangle_without_arguments("_Z" + std::string(100'000, 'P')), "");
}

// Each argument has the type of the one before twice, so the text is 2^40 times as long as the first.
TEST(Demangle, LeavesOutWhatMeansTooMuch) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f1AIiiE";
  for (unsigned i = 0; i < 40; i++) {
    const std::string before = (i < 36 ? "S" : "S1") + std::string(1, kDigits[i % 36]) + "_";
    name += "S_I" + before + before + "E";
  }
  EXPECT_EQ(demangle_without_arguments(name), "");
  EXPECT_EQ(demangled_names(name, true), std::vector<std::string>());
  EXPECT_EQ(demangled_names("_Z1f1AIiiES_IS0_S0_E", true).back(), "f(A<int, int>, A<A<int, int>, A<int, int> >)");
}

TEST(Demangle, NamesAFunctionInSeveralWays) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(demangled_names("_ZN1a1bEi", false), Names{"a::b"});
  EXPECT_EQ(demangled_names("_ZN1a1bEi", true), (Names{"a::b", "a::b(int)"}));
  EXPECT_EQ(demangled_names("_ZN1a1bIiEET_S1_", false), (Names{"int a::b<int>", "a::b<int>"}));
  EXPECT_EQ(demangled_names("_ZN1a1bIiEET_S1_", true), (Names{"int a::b<int>", "a::b<int>", "a::b<int>(int)"}));
  EXPECT_EQ(demangled_names("_RNvCs4fqI2P2rA04_5crate5newer", true), Names{"crate::newer"});
  EXPECT_EQ(demangled_names("malloc", true), Names{});
}

TEST(Demangle, KnowsBothFormsOfRust) {
  EXPECT_EQ(demangle_without_arguments("_RNvCs4fqI2P2rA04_5crate5newer"), "crate::newer");
  EXPECT_EQ(demangle_without_arguments("_RNvMCs4fqI2P2rA04_5crateNtB2_4Type6method"), "<crate::Type>::method");
  EXPECT_EQ(demangle_without_arguments("_ZN5crate5older17h0123456789abcdefE"), "crate::older");
  EXPECT_EQ(demangle_without_arguments("_ZN36_$LT$a..T$u20$as$u20$core..Debug$GT$3fmt17h0123456789abcdefE"),
            "<a::T as core::Debug>::fmt");
}

// Each tuple has the one before it twice: a million pairs.
TEST(Demangle, DoesNotWriteWhatItCannotEnd) {
  EXPECT_EQ(demangle_without_arguments("_RINvC1a1bTuuETB7_B7_EE"), "a::b::<((), ()), (((), ()), ((), ()))>");
  EXPECT_EQ(
      demangle_without_arguments(
          "_RINvC1a1bTuuETB7_B7_ETBb_Bb_ETBj_Bj_ETBr_Br_ETBz_Bz_ETBH_BH_ETBP_BP_ETBX_BX_ETB15_B15_ETB1d_B1d_ETB1n_B1n_ETB1x_"
          "B1x_ETB1H_B1H_ETB1R_B1R_ETB21_B21_ETB2b_B2b_ETB2l_B2l_ETB2v_B2v_ETB2F_B2F_ETB2P_B2P_EE"),
      "");
}

}  // namespace
}  // namespace dvm::runtime
