// Names of files that a process maps one after the other.

#include "runtime/provider/module_names.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace dvm::runtime {
namespace {

constexpr int32_t kProcess = 7;

class ModuleNamesTest : public testing::Test {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/module_names_XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    std::filesystem::create_directory(folder_ / "other");
    for (const char* name : {"prog", "other/prog", "third"}) std::ofstream(folder_ / name) << name;
    std::filesystem::create_hard_link(folder_ / "prog", folder_ / "link");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  MappedObject object(const std::string& path) const {
    MappedObject made;
    made.path = made.open_path = folder_ / path;
    made.name = path.substr(path.rfind('/') + 1);
    return made;
  }

  std::filesystem::path folder_;
  ModuleNames names_;
};

TEST_F(ModuleNamesTest, AFileKeepsItsFirstName) {
  EXPECT_EQ(names_.name_of(kProcess, object("prog")), "prog");
  EXPECT_EQ(names_.name_of(kProcess, object("link")), "prog");
  EXPECT_EQ(names_.name_of(kProcess, object("third")), "third");
}

TEST_F(ModuleNamesTest, AnotherFileOfThatNameIsKnownByItsPath) {
  EXPECT_EQ(names_.name_of(kProcess, object("prog")), "prog");
  for (int again = 0; again < 2; again++) EXPECT_EQ(names_.name_of(kProcess, object("other/prog")), folder_ / "other/prog");
  EXPECT_EQ(names_.name_of(kProcess, object("prog")), "prog");
}

TEST_F(ModuleNamesTest, ProcessesHaveNamesOfTheirOwn) {
  EXPECT_EQ(names_.name_of(kProcess, object("prog")), "prog");
  EXPECT_EQ(names_.name_of(kProcess + 1, object("other/prog")), "prog");
}

TEST_F(ModuleNamesTest, AFileThatIsGoneHasItsOwnName) {
  std::filesystem::remove(folder_ / "third");
  EXPECT_EQ(names_.name_of(kProcess, object("third")), "third");
}

}  // namespace
}  // namespace dvm::runtime
