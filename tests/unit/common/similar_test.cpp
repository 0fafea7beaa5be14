// Near names for "did you mean": common/similar.

#include "common/similar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::ElementsAre;

std::vector<std::string> similar(std::string_view name, const std::vector<std::string_view>& candidates) {
  return dvm::similar_names(name, candidates);
}

TEST(Similar, NearestFirst) {
  EXPECT_THAT(similar("mallco", {"free", "malloc", "calloc", "malloc_usable_size", "mallcos"}),
              ElementsAre("malloc", "mallcos", "calloc"));
  EXPECT_THAT(similar("fnuc", {"fun", "func", "nuc"}), ElementsAre("func", "nuc"));
  EXPECT_THAT(similar("x", {"y", "abc"}), ElementsAre());
  EXPECT_THAT(similar("xy", {"y", "abc"}), ElementsAre("y"));
  EXPECT_THAT(similar("", {"y"}), ElementsAre());
  EXPECT_THAT(similar("func", {"a", "something_else"}), ElementsAre());
  EXPECT_EQ(similar("func1", {"func2", "func3", "func4", "func5", "func6"}).size(), 3U);
}

TEST(Similar, LongNamesHaveNone) { EXPECT_THAT(similar(std::string(1000, 'a'), {"a"}), ElementsAre()); }

}  // namespace
