#include "view/flame_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

namespace dvm::view {
namespace {

using testing::HasSubstr;
using testing::Not;

const FlameStyle kStyle{.title = "t", .unit = "samples"};

FoldedStack stack(const std::vector<std::string>& names, int64_t weight) {
  FoldedStack made;
  for (const std::string& name : names) made.frames.push_back({name});
  made.weight = weight;
  return made;
}

std::string drawn(const std::vector<FoldedStack>& stacks, const std::vector<FoldedStack>* before = nullptr) {
  const auto text = flame_graph(stacks, kStyle, before);
  return text ? *text : text.error().message;
}

// The attributes of the box with this tooltip: x, width, y.
std::vector<double> box(const std::string& text, const std::string& tooltip) {
  const std::regex shape("<title>" + tooltip + "</title><rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\"");
  std::smatch found;
  if (!std::regex_search(text, found, shape)) return {};
  return {std::stod(found[1]), std::stod(found[3]), std::stod(found[2])};
}

TEST(FlameGraph, ABoxIsAsWideAsItsShareAndLiesOnItsCaller) {
  const std::string text = drawn({stack({"main", "a"}, 3), stack({"main", "b"}, 1), stack({"idle"}, 4)});
  const auto all = box(text, "all \\(8 samples, 100.00 %\\)"), main = box(text, "main \\(4 samples, 50.00 %\\)"),
             a = box(text, "a \\(3 samples, 37.50 %\\)"), b = box(text, "b \\(1 samples, 12.50 %\\)");
  ASSERT_EQ(all.size() + main.size() + a.size() + b.size(), 12U) << text;
  EXPECT_DOUBLE_EQ(all[1], 1180);
  EXPECT_DOUBLE_EQ(main[1], 590);
  EXPECT_DOUBLE_EQ(a[1] + b[1], 590);
  EXPECT_DOUBLE_EQ(a[0], main[0]);
  EXPECT_DOUBLE_EQ(b[0], a[0] + a[1]);
  EXPECT_LT(a[2], main[2]);
  EXPECT_LT(main[2], all[2]);
}

TEST(FlameGraph, NamesAreEscapedWhateverBytesTheyHold) {
  const std::string text = drawn({stack({"operator<<(a&)\"\x01\xff\xc3\xa4\xe2\x82"}, 1)});
  EXPECT_THAT(text, HasSubstr("<title>operator&#60;&#60;(a&#38;)&#34;__\xc3\xa4__ (1 samples, 100.00 %)</title>"));
}

TEST(FlameGraph, NamesAreCutBetweenCharacters) {
  std::string name;
  for (int i = 0; i < 200; i++) name += "\xc3\xa4";
  const std::string text = drawn({stack({name}, 1)});
  EXPECT_THAT(text, HasSubstr("\xc3\xa4..</text>"));
  EXPECT_THAT(text, Not(HasSubstr("_..")));
  EXPECT_THAT(drawn({stack({"\xef\xbf\xbf|\xed\xa0\x80"}, 1)}), HasSubstr("<title>_|___ ("));  // no characters of XML
}

TEST(FlameGraph, TheWidestBoxesAreDrawnOfVeryMany) {
  std::vector<FoldedStack> stacks = {stack({"wide", "inner"}, 50)};
  for (int i = 0; i < 11'000; i++) stacks.push_back(stack({fmt::format("f{}", i), fmt::format("g{}", i)}, 1));
  const std::string text = drawn(stacks);
  // Of equal width are 22,000 boxes: most of the upper row are left out.
  EXPECT_EQ(box(text, "f10999 \\(1 samples, 0.01 %\\)").size(), 3u);
  EXPECT_EQ(box(text, "inner \\(50 samples, 0.45 %\\)").size(), 3u);
  EXPECT_THAT(text, Not(HasSubstr("g9999")));
  EXPECT_THAT(text, HasSubstr("11050 samples; 2003 frames of 0.11 pixels or less are merged: &#34;and N more&#34;"));
}

TEST(FlameGraph, NarrowFramesAreCounted) {
  std::vector<FoldedStack> stacks = {stack({"wide"}, 1'000'000), stack({"thin"}, 1), stack({"negative"}, -5)};
  const std::string text = drawn(stacks);
  EXPECT_THAT(text, HasSubstr("1000001 samples; 1 frames of 0.0012 pixels or less are merged"));
  EXPECT_THAT(text, Not(HasSubstr("thin")));
  EXPECT_THAT(text, Not(HasSubstr("<title>and")));
}

TEST(FlameGraph, NarrowFramesAreOneBoxOnTheirCaller) {
  std::vector<FoldedStack> stacks = {stack({"main", "a"}, 100'000)};
  for (int i = 0; i < 100'000; i++) stacks.push_back(stack({"main", fmt::format("f{}", i), "inner"}, 1));
  const std::string text = drawn(stacks);
  const auto rest = box(text, "and 200000 more \\(100000 samples, 50.00 %\\)"), main = box(text, "main [^<]*"),
             a = box(text, "a [^<]*");
  ASSERT_EQ(rest.size() + main.size() + a.size(), 9U) << text.substr(0, 2000);
  EXPECT_DOUBLE_EQ(rest[0], a[0] + a[1]);
  EXPECT_DOUBLE_EQ(rest[0] + rest[1], main[0] + main[1]);
  EXPECT_DOUBLE_EQ(rest[2], a[2]);
  EXPECT_THAT(text, HasSubstr("200000 samples; 200000 frames of 0.0059 pixels or less are merged"));
}

TEST(FlameGraph, ADifferenceIsRedWhereTheShareGrew) {
  const std::vector<FoldedStack> before = {stack({"a"}, 1), stack({"b"}, 1)};
  const std::string text = drawn({stack({"a"}, 3), stack({"b"}, 1)}, &before);
  EXPECT_TRUE(std::regex_search(text, std::regex("a \\(3 samples, 75.00 %; \\+25.00 %\\)</title>.*fill=\"rgb\\(245,85,85\\)\"")));
  EXPECT_TRUE(std::regex_search(text, std::regex("b \\(1 samples, 25.00 %; -25.00 %\\)</title>.*fill=\"rgb\\(85,85,245\\)\"")));
  EXPECT_TRUE(
      std::regex_search(text, std::regex("all \\(4 samples, 100.00 %; \\+0.00 %\\)</title>.*fill=\"rgb\\(235,235,235\\)\"")));
  EXPECT_THAT(text, HasSubstr(">4 samples; red: a larger share than before; blue: a smaller one</text>"));
}

TEST(FlameGraph, TooltipsNameTheLinesWithTheMostWeight) {
  const auto at = [](const char* place, int64_t weight) {
    return FoldedStack{{{"main"}, {"work", FrameKind::user, place}}, weight};
  };
  EXPECT_THAT(drawn({at("a.c:3", 1), at("b<.c:7", 3)}),
              HasSubstr("<title>work (4 samples, 100.00 %)&#10;b&#60;.c:7 75 %&#10;a.c:3 25 %</title>"));
  EXPECT_THAT(drawn({at("a.c:3", 1)}), HasSubstr("<title>work (1 samples, 100.00 %)&#10;a.c:3</title>"));
  std::vector<FoldedStack> many;
  for (const char* place : {"1", "2", "3", "4", "5", "6"}) many.push_back(at(place, 1));
  EXPECT_THAT(drawn(many), HasSubstr("&#10;4 17 %&#10;2 more lines</title>"));
}

TEST(FlameGraph, TheKernelAndInlinedFunctionsHaveTheirColours) {
  const std::string text = drawn({{{{"main"}, {"read", FrameKind::inlined}, {"read", FrameKind::kernel}}, 1}});
  EXPECT_THAT(text, HasSubstr("1 samples; violet: kernel; green: inlined"));
  std::set<std::string> colours;
  const std::regex fill("<title>[a-z]* [^>]*</title><rect [^>]*fill=\"(rgb[^\"]*)\"");
  for (std::sregex_iterator one(text.begin(), text.end(), fill), end; one != end; ++one) colours.insert((*one)[1]);
  EXPECT_EQ(colours.size(), 4U);
  EXPECT_THAT(drawn({stack({"main"}, 1)}), Not(HasSubstr("violet")));
}

TEST(FlameGraph, WhatCannotBeDrawnIsRefused) {
  EXPECT_EQ(drawn({}), "no stack has a weight above 0");
  EXPECT_EQ(drawn({stack({"a"}, 0)}), "no stack has a weight above 0");
  EXPECT_EQ(drawn({stack(std::vector<std::string>(1001, "a"), 1)}), "a stack has 1001 frames; a flame graph takes 1000");
  EXPECT_THAT(drawn({stack(std::vector<std::string>(1000, "a"), 1)}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace dvm::view
