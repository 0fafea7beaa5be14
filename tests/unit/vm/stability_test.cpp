// Attributes and versions as text.

#include "dvm/dif/stability.h"

#include <gtest/gtest.h>

namespace dvm::dif {

namespace {

TEST(Stability, AttributesAreReadAndPrinted) {
  for (const char* text :
       {"Stable/Stable/Common", "Private/Internal/Unknown", "Standard/External/ISA", "Evolving/Obsolete/Group"}) {
    const auto attributes = parse_attributes(text);
    ASSERT_TRUE(attributes) << text;
    EXPECT_EQ(print(*attributes), text);
    EXPECT_EQ(unpack_attributes(pack(*attributes)), *attributes);
  }
  EXPECT_EQ(print(*parse_attributes("stable/UNSTABLE/cpu")), "Stable/Unstable/CPU");
  for (const char* wrong : {"", "/", "//", "Stable/Stable/", "Stable/Stable/Common/", "Steady/Stable/Common"})
    EXPECT_FALSE(parse_attributes(wrong)) << wrong;
}

TEST(Stability, EachPartOfAMinimumCounts) {
  const Attributes minimum = *parse_attributes("Evolving/Unstable/ISA");
  EXPECT_TRUE(minimum.reaches(minimum));
  EXPECT_TRUE(parse_attributes("Stable/Stable/Common")->reaches(minimum));
  EXPECT_FALSE(parse_attributes("Unstable/Stable/Common")->reaches(minimum));
  EXPECT_FALSE(parse_attributes("Stable/Private/Common")->reaches(minimum));
  EXPECT_FALSE(parse_attributes("Stable/Stable/Group")->reaches(minimum));
}

TEST(Stability, VersionsCompareAsNumbers) {
  EXPECT_LT(*parse_version("1.2"), *parse_version("1.2.1"));
  EXPECT_LT(*parse_version("1.9.1"), *parse_version("1.10"));
  EXPECT_EQ(print_version(*parse_version("1.12.1")), "1.12.1");
  EXPECT_EQ(print_version(*parse_version("1.10")), "1.10");
  EXPECT_TRUE(is_known_version(kNewestVersion));
  EXPECT_FALSE(is_known_version(*parse_version("1.99")));
  for (const char* wrong : {"", "1", "1.", "1.2.", ".1", "1.2.3.4", "256.0", "1.5000"})
    EXPECT_FALSE(parse_version(wrong)) << wrong;
}

}  // namespace

}  // namespace dvm::dif
