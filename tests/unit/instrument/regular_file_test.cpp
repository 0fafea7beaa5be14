// Paths of a traced process, and the files that may be opened through them.

#include "common/regular_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/symbol/elf.h"
#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

using testing::HasSubstr;

class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() : folder_(testing::TempDir() + "regular_file_test." + std::to_string(getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~RegularFileTest() override { std::filesystem::remove_all(folder_); }
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }

  std::string folder_;
};

TEST_F(RegularFileTest, OpensRegularFilesOnlyAndWaitsForNobody) {
  std::ofstream(path("plain")) << "text";
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  auto plain = RegularFile::open(path("plain"));
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->size(), 4U);
  char text[4];
  EXPECT_EQ(read(plain->fd(), text, sizeof text), 4);
  for (const std::string& other : {path("pipe"), std::string("/dev/zero"), folder_}) {
    const auto refused = RegularFile::open(other);
    ASSERT_FALSE(refused) << other;
    EXPECT_EQ(refused.error().message, "it is not a regular file");
  }
  EXPECT_EQ(RegularFile::open(path("none")).error().message, "No such file or directory");
}

TEST_F(RegularFileTest, FollowsALinkUnlessItIsNotToBe) {
  std::ofstream(path("plain")) << "text";
  std::filesystem::create_symlink("plain", path("link"));
  EXPECT_TRUE(RegularFile::open(path("link")));
  EXPECT_FALSE(RegularFile::open(path("link"), RegularFile::Links::refuse));
  EXPECT_TRUE(RegularFile::open(path("plain"), RegularFile::Links::refuse));
}

TEST_F(RegularFileTest, TheErrorNamesTheLimit) {
  EXPECT_TRUE(check_cost(64 << 20, 0));
  EXPECT_TRUE(check_cost((64 << 20) + 16 * 4096, 4096));
  EXPECT_THAT(check_cost((64 << 20) + 16 * 4096 + 1, 4096).error().message,
              HasSubstr("with 4096 on disk: more than 67174400 are not read (64 MiB and 16 times that)"));
  EXPECT_TRUE(check_cost(UINT64_MAX / 2, UINT64_MAX / 4));
  EXPECT_TRUE(check_memory(1 << 20));
  EXPECT_THAT(check_memory(UINT64_MAX).error().message, HasSubstr("half of this machine's"));
}

// A small file on disk, whatever it says of its size.
TEST_F(RegularFileTest, AFileThatIsMostlyAHoleIsRefused) {
  std::filesystem::copy_file(DVM_BINARY_DIR "/tests/unit/instrument/source_fixed", path("sparse"));
  EXPECT_TRUE(ElfObject::read(path("sparse")));
  std::filesystem::resize_file(path("sparse"), uint64_t{1} << 40);
  const auto refused = ElfObject::read(path("sparse"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("it claims to hold 1099511627776 bytes, with "));
}

// A table in a hole within the file: each section may be as large as the file, and there may be any number of them.
TEST_F(RegularFileTest, SectionsThatShareTheSameBytesCostEachTheirSize) {
  std::filesystem::copy_file(DVM_BINARY_DIR "/tests/unit/instrument/source_fixed", path("shared"));
  std::filesystem::resize_file(path("shared"), 60 << 20);
  std::fstream file(path("shared"), std::ios::in | std::ios::out | std::ios::binary);
  Elf64_Ehdr header;
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  for (unsigned i = 1; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    const auto at = static_cast<std::streamoff>(header.e_shoff + i * sizeof section);
    file.seekg(at).read(reinterpret_cast<char*>(&section), sizeof section);
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    section.sh_offset = 0, section.sh_size = 50 << 20;
    file.seekp(at).write(reinterpret_cast<const char*>(&section), sizeof section);
  }
  file.close();
  const auto refused = ElfObject::read(path("shared"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("more than"));
}

}  // namespace
}  // namespace dvm::runtime
