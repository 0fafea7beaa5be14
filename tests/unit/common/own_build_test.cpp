// The build id of this program: common/own_build.

#include "common/own_build.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

// Looked up in the file by the bytes before it: 4 letters of the owner, 20 bytes of the id, type 3.
std::string id_in_file() {
  using namespace std::string_literals;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}}, head = "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0"s;
  std::string id;
  const size_t at = text.find(head);
  for (size_t i = 0; at != std::string::npos && i < 20; i++) {
    const auto byte = static_cast<unsigned char>(text.at(at + head.size() + i));
    id += "0123456789abcdef"[byte >> 4], id += "0123456789abcdef"[byte & 15];
  }
  return id;
}

TEST(OwnBuild, IsTheOneInTheFile) {
  EXPECT_EQ(dvm::own_build_id().size(), 40u);
  EXPECT_EQ(dvm::own_build_id(), id_in_file());
}

}  // namespace
