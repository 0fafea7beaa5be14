// Valid and invalid UTF-8.

#include "common/utf8.h"

#include <gtest/gtest.h>

namespace dvm {
namespace {

TEST(Utf8, EveryCharacterStays) {
  for (uint32_t c = 1; c <= 0x10ffff; c++) {
    if (c == 0xd800) c = 0xe000;  // surrogates are no characters
    std::string text;
    append_utf8(text, c);
    ASSERT_EQ(utf8_length(text), text.size()) << c;
    ASSERT_EQ(valid_utf8("a" + text + "b"), "a" + text + "b") << c;
  }
}

TEST(Utf8, EachByteOfNoCharacterIsReplaced) {
  EXPECT_EQ(valid_utf8(""), "");
  EXPECT_EQ(valid_utf8("a\xff"
                       "b\x80"),
            "a\ufffdb\ufffd");
  EXPECT_EQ(valid_utf8("\xc3"), "\ufffd");                                // cut off
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\ufffd\ufffd");                      // cut off
  EXPECT_EQ(valid_utf8("\xc0\x80"), "\ufffd\ufffd");                      // longer than need be
  EXPECT_EQ(valid_utf8("\xe0\x80\x80"), "\ufffd\ufffd\ufffd");            // longer than need be
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");            // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");  // above the last character
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), std::string("a\0b", 3));
}

}  // namespace
}  // namespace dvm
