// Attributes and versions as text.

#include "dvm/dif/stability.h"

#include <gtest/gtest.h>

#include <set>

#include "dvm/dif/action.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/dif/versions.h"

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
  EXPECT_TRUE(is_known_version(*parse_version("1.6.4")));
  EXPECT_FALSE(is_known_version(*parse_version("1.99")));
  for (const char* wrong : {"", "1", "1.", "1.2.", ".1", "1.2.3.4", "256.0", "1.5000"})
    EXPECT_FALSE(parse_version(wrong)) << wrong;
}

// A row for a name that no table has would hide nothing.
TEST(Stability, NamesHaveTheVersionThatBroughtThem) {
  EXPECT_EQ(introduced_in("count"), *parse_version("1.0"));
  EXPECT_EQ(introduced_in("llquantize"), *parse_version("1.6.4"));
  std::set<std::string_view> names;
  for (const auto& row : kBuiltIns) names.insert(row.name);
  for (const auto& row : kSubroutines) names.insert(row.name);
  for (const auto& row : kActions) names.insert(row.name);
  for (const auto& row : kAggregations) names.insert(row.name);
#define DVM_SINCE(name, major, minor, micro)   \
  EXPECT_TRUE(names.contains(#name)) << #name; \
  EXPECT_TRUE(is_known_version(introduced_in(#name))) << #name;
#include "vm/dif/versions.def"
}

}  // namespace

}  // namespace dvm::dif
