// Source files, diagnostics and how they are shown.

#include <gtest/gtest.h>

#include "compiler/diagnostic/diagnostics.h"

namespace dvm::compiler {
namespace {

TEST(SourceFile, FindsLinesAndColumns) {
  const Source source{"x.d", "ab\n\nc\r\nlast", false};
  const SourceFile file(source);
  EXPECT_EQ(file.line(0), 1u);
  EXPECT_EQ(file.line(2), 1u);  // the newline belongs to its line
  EXPECT_EQ(file.line(3), 2u);
  EXPECT_EQ(file.line(4), 3u);
  EXPECT_EQ(file.column(1), 2u);
  EXPECT_EQ(file.column(9), 3u);
  EXPECT_EQ(file.line_text(3), "c");
  EXPECT_EQ(file.line_text(4), "last");
  EXPECT_EQ(file.line_text(5), "");
  EXPECT_EQ(file.text({7, 100}), "last");
  EXPECT_EQ(file.text({50, 100}), "");
}

TEST(SourceFile, OnlyANewlineEndsALine) {
  const Source source{"x.d", "a\rb\r\n\r\n", false};
  const SourceFile file(source);
  EXPECT_EQ(file.line_text(1), "a\rb");
  EXPECT_EQ(file.line_text(2), "");
}

struct Collected {
  explicit Collected(Source s) : source(std::move(s)), file(source), diagnostics(list) { diagnostics.set_source(&file); }

  Source source;
  SourceFile file;
  std::vector<Diagnostic> list;
  Diagnostics diagnostics;
};

TEST(Diagnostics, RendersAsDtraceDoesThenTheCaret) {
  Collected c({"x.d", "BEGIN {\n\ttrace(nosuch); }\n", false});
  c.diagnostics.error(Tag::D_IDENT_UNDEF, {15, 21}, "failed to resolve nosuch: Unknown variable name", {"did you mean 'such'?"});
  EXPECT_EQ(render(c.list[0], c.source, true),
            "dvm: failed to compile script x.d: [D_IDENT_UNDEF] line 2: failed to resolve nosuch: Unknown variable name\n"
            "     trace(nosuch); }\n"
            "           ^~~~~~\n"
            "    hint: did you mean 'such'?\n");
  EXPECT_EQ(render(c.list[0], c.source, false).substr(0, 51), "dvm: failed to compile script x.d: line 2: failed t");
}

TEST(Diagnostics, CaretsCountCharactersNotBytes) {
  Collected c({"x.d", "x = \"\u00e9\" + \u00e9y;\n", false});
  c.diagnostics.error(Tag::D_SYNTAX, {11, 14}, "m");
  EXPECT_EQ(render(c.list[0], c.source, false),
            "dvm: failed to compile script x.d: line 1: m\n"
            "    x = \"\u00e9\" + \u00e9y;\n"
            "              ^~\n");
}

TEST(Diagnostics, CaretsStandBelowWideAndCombiningCharacters) {
  Collected c({"x.d", "x = \"\u4e2d\U0001f600e\u0301\xff\" + y;\n", false});
  c.diagnostics.error(Tag::D_SYNTAX, {5, 15}, "m");
  c.diagnostics.error(Tag::D_SYNTAX, {20, 21}, "m");
  const std::string line = "    x = \"\u4e2d\U0001f600e\u0301\\377\" + y;\n";
  EXPECT_EQ(render(c.list[0], c.source, false), "dvm: failed to compile script x.d: line 1: m\n" + line + "         ^~~~~\n");
  EXPECT_EQ(render(c.list[1], c.source, false),
            "dvm: failed to compile script x.d: line 1: m\n" + line + "                      ^\n");
}

TEST(Diagnostics, LongLinesEndWithAWholeCharacter) {
  const std::string begin(159, 'x');
  Collected c({"x.d", begin + "\u00e9y", false});
  c.diagnostics.error(Tag::D_SYNTAX, {0, 1}, "m");
  c.list[0].written = c.list[0].source_line;
  EXPECT_EQ(render(c.list[0], c.source, false),
            "dvm: failed to compile script x.d: line 1: m\n    " + begin + "\n    ^\n    written as: " + begin + "\n");
  Collected bad({"x.d", std::string(1000, '\x80'), false});
  bad.diagnostics.error(Tag::D_SYNTAX, {500, 501}, "m");
  EXPECT_LT(render(bad.list[0], bad.source, false).size(), 2000u);
}

TEST(Diagnostics, ProgramsOfTheCommandLineNameTheRegion) {
  Collected c({"BEGIN { y }", "BEGIN { y }", true});
  c.diagnostics.set_region("action list");
  c.diagnostics.error(Tag::D_IDENT_UNDEF, {8, 9}, "failed to resolve y: Unknown variable name");
  EXPECT_EQ(render(c.list[0], c.source, false).substr(0, 101),
            "dvm: invalid probe specifier BEGIN { y }: in action list: failed to resolve y: Unknown variable name\n");
}

TEST(Diagnostics, RangesStayInsideTheirLine) {
  Collected c({"x.d", "a\nbc", false});
  c.diagnostics.error(Tag::D_SYNTAX, {0, 100}, "m");
  c.diagnostics.error(Tag::D_SYNTAX, {100, 90}, "m");
  EXPECT_EQ(c.list[0].length, 1u);
  EXPECT_EQ(c.list[1].line, 2u);
  EXPECT_EQ(c.list[1].length, 1u);
  EXPECT_FALSE(render(c.list[1], c.source, true).empty());
}

TEST(Diagnostics, StopsAfterAHundredOfAScript) {
  Collected c({"x.d", "a", false});
  for (int i = 0; i < 1000; i++) c.diagnostics.error(Tag::D_SYNTAX, {0, 1}, "m");
  EXPECT_EQ(c.list.size(), 100u);
  EXPECT_EQ(c.diagnostics.errors(), 1000u);
}

TEST(Diagnostics, TagsByName) {
  EXPECT_EQ(find_tag("D_SYNTAX"), Tag::D_SYNTAX);
  EXPECT_EQ(name(Tag::D_NOREG), "D_NOREG");
  EXPECT_FALSE(find_tag("D_NONE").has_value());
}

}  // namespace
}  // namespace dvm::compiler
