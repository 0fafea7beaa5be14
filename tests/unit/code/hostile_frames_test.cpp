// The table of unwinders may say that each function reaches to the end of the code. Then looking around a jump is dear.
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/code/module_code.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kFunctions = 256, kFunction = 16;
constexpr uint64_t kIndex = 0x200, kCommon = 0x1000, kDescriptions = 0x1020, kCode = 0x2100,
                   kEnd = kCode + kFunctions * kFunction;

class HostileFramesTest : public testing::Test {
 protected:
  HostileFramesTest() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_type = ET_DYN, header.e_phoff = sizeof header, header.e_phnum = 2;
    put(0, header);
    put(sizeof header, Elf64_Phdr{PT_LOAD, PF_R | PF_X, 0, 0, 0, kEnd, kEnd, 4096});
    put(sizeof header + sizeof(Elf64_Phdr), Elf64_Phdr{PT_GNU_EH_FRAME, PF_R, kIndex, kIndex, kIndex, 0, 0, 4});
    put<uint32_t>(kIndex, 0x3b031b01);
    put<uint32_t>(kIndex + 8, kFunctions);
    put<uint32_t>(kCommon, 12);
    put<uint32_t>(kCommon + 8, 1);  // version
    for (uint64_t i = 0; i < kFunctions; i++) put_function(i);
    std::ofstream(path_, std::ios::binary).write(file_.data(), static_cast<std::streamsize>(file_.size()));
  }
  ~HostileFramesTest() override { std::filesystem::remove(path_); }

  template <class T>
  void put(uint64_t at, const T& value) {
    std::memcpy(file_.data() + at, &value, sizeof value);
  }
  // nop; then a constant that has the bytes of a jump to the third byte of the next function.
  void put_function(uint64_t number) {
    const uint64_t begin = kCode + number * kFunction, described = kDescriptions + number * 16;
    constexpr unsigned char kCodeOfOne[kFunction] = {0x90, 0xb8, 0x90, 0x90, 0xeb, 12,   0x90, 0x90,
                                                     0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90};
    put(begin, kCodeOfOne);
    put<int32_t>(kIndex + 12 + 8 * number, static_cast<int32_t>(begin - kIndex));
    put<int32_t>(kIndex + 16 + 8 * number, static_cast<int32_t>(described - kIndex));
    put<uint32_t>(described, 12);
    put<uint32_t>(described + 4, static_cast<uint32_t>(described + 4 - kCommon));
    put<int32_t>(described + 8, static_cast<int32_t>(begin - (described + 8)));
    put<uint32_t>(described + 12, static_cast<uint32_t>(kEnd - begin));
  }

  std::vector<char> file_ = std::vector<char>(kEnd);
  std::string path_ = testing::TempDir() + "hostile_frames_test." + std::to_string(getpid());
};

// Where the work ends, a jump counts that may be none.
TEST_F(HostileFramesTest, CostBoundedWork) {
  const auto code = ModuleCode::open(path_);
  ASSERT_TRUE(code) << code.error().message;
  std::vector<ModuleCode::Window> windows;
  for (uint64_t i = 1; i < kFunctions; i++) windows.push_back({{kCode + i * kFunction, 6}, kCode + i * kFunction + 5});
  (*code)->find_entered(windows);
  EXPECT_FALSE(windows.front().is_entered);
  EXPECT_TRUE(windows.back().is_entered);
}

}  // namespace
}  // namespace dvm::runtime
