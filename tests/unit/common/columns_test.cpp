// The width of text on a terminal.

#include "common/columns.h"

#include <gtest/gtest.h>

namespace dvm {
namespace {

TEST(Columns, EachCharacterHasItsWidth) {
  EXPECT_EQ(terminal_columns(""), 0u);
  EXPECT_EQ(terminal_columns("a\u00e9 z"), 4u);
  EXPECT_EQ(terminal_columns("\u4e2d\u6587"), 4u);
  EXPECT_EQ(terminal_columns("\U0001f600"), 2u);
  EXPECT_EQ(terminal_columns("e\u0301"), 1u);         // a combining accent
  EXPECT_EQ(terminal_columns("a\u200db\ufe0f"), 2u);  // a joiner, a variation selector
}

TEST(Columns, UnknownCharactersTakeOne) {
  EXPECT_EQ(terminal_columns("\u0378"), 1u);  // assigned to nothing
  EXPECT_EQ(terminal_columns("\xff\xc3"), 2u);
}

}  // namespace
}  // namespace dvm
