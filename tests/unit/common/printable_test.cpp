// Text from outside, made printable.

#include "common/printable.h"

#include <gtest/gtest.h>

namespace dvm {
namespace {

using namespace std::literals;

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\033[31mb"), "a\\033[31mb");
  EXPECT_EQ(printable("\0\a\b\t\n\v\f\r\x7f"sv), "\\0\\a\\b\\t\\n\\v\\f\\r\\177");
  EXPECT_EQ(printable("\u009b31m"), "\\302\\23331m");  // CSI in one character
  EXPECT_EQ(printable("\x9b"), "\\233");
}

TEST(Printable, LeavesWhatCanBeReadAsItIs) {
  EXPECT_EQ(printable("ns::f<int>+0x12 \"\\\\"), "ns::f<int>+0x12 \"\\\\");
  EXPECT_EQ(printable("gr\u00fc\u00df, \u65e5\u672c, \U0001f980, \u00a0"), "gr\u00fc\u00df, \u65e5\u672c, \U0001f980, \u00a0");
  EXPECT_EQ(printable("a\tb\nc\r", kLayout), "a\tb\nc\\r");
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\377\\376");
  EXPECT_EQ(printable("\xc3"), "\\303");             // cut
  EXPECT_EQ(printable("\xe6\x97x"), "\\346\\227x");  // likewise
  EXPECT_EQ(printable("\xc0\x9b"), "\\300\\233");    // longer than need be
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\340\\202\\233");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\355\\240\\200");  // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\364\\220\\200\\200");
}

TEST(Printable, OnlyFromAPlaceOn) {
  std::string text = "\033[1m\033";
  make_printable(text, 4);
  EXPECT_EQ(text, "\033[1m\\033");
  make_printable(text, 100);
  EXPECT_EQ(text, "\033[1m\\033");
}

}  // namespace
}  // namespace dvm
