// Positions in a script, and what stands at a cursor.

#include "cmd/lsp/document.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace dvm::cmd::lsp {
namespace {

// The word and its kind at the end of a text.
Cursor at_end(std::string_view text) { return look_at(text, text.size()); }

TEST(Document, PositionsCountUtf16UnitsOrBytes) {
  const std::string text = "a\n\xc3\xbc\xf0\x9f\x98\x80z\n";  // two bytes in one unit, four bytes in two
  const Document units(text, false), bytes(text, true);
  EXPECT_EQ(units.position_of(8).line, 1u);
  EXPECT_EQ(units.position_of(8).character, 3u);
  EXPECT_EQ(bytes.position_of(8).character, 6u);
  EXPECT_EQ(units.offset_of({1, 3}), 8u);
  EXPECT_EQ(bytes.offset_of({1, 6}), 8u);
  EXPECT_EQ(units.offset_of({1, 99}), 9u);
  EXPECT_EQ(units.offset_of({99, 0}), text.size());
  EXPECT_EQ(units.offset_of_column(2, 3), 4u);
  EXPECT_EQ(units.offset_of_column(99, 99), text.size());
  EXPECT_EQ(units.end_of_line(1), 1u);
}

TEST(Document, LinesMayEndWithTwoCharacters) {
  const Document text("a\r\nbc\r\n", false);
  EXPECT_EQ(text.offset_of({0, 99}), 1u);
  EXPECT_EQ(text.offset_of({1, 99}), 5u);
  EXPECT_EQ(text.end_of_line(2), 5u);
  EXPECT_EQ(Document("a\rb", false).offset_of({0, 2}), 2u);
}

TEST(Document, BytesAreReplaced) {
  Document text("one two", false);
  text.replace(4, 7, "three");
  EXPECT_EQ(text.text(), "one three");
  text.replace(3, 1, ",");  // ends before it begins
  EXPECT_EQ(text.text(), "one, three");
  text.replace(0, text.text().size(), "");
  EXPECT_EQ(text.text(), "");
}

TEST(Cursor, ADescriptionBeginsAfterABlankOrAComma) {
  const std::string_view text = "int x;\nBEGIN { x = 1; }\nsyscall::read:entry,sysc";
  const Cursor cursor = at_end(text);
  EXPECT_EQ(cursor.context, CursorContext::description);
  EXPECT_EQ(text.substr(cursor.begin), "sysc");
  EXPECT_EQ(text.substr(cursor.clause), "\nsyscall::read:entry,sysc");
}

TEST(Cursor, NothingStandsInCommentsAndStrings) {
  EXPECT_EQ(at_end("/* BEG").context, CursorContext::nothing);
  EXPECT_EQ(at_end("BEGIN { trace(\"a\\\"").context, CursorContext::nothing);
  EXPECT_EQ(at_end("/* a */ BEG").context, CursorContext::description);
  EXPECT_EQ(at_end("BEGIN { trace(\"a\\\"\"); t").context, CursorContext::word);
}

TEST(Cursor, PredicatesAndClausesHaveWords) {
  EXPECT_EQ(at_end("BEGIN /p").context, CursorContext::word);
  EXPECT_EQ(at_end("BEGIN /pid == 1/").context, CursorContext::description);
  EXPECT_EQ(at_end("BEGIN /pid == 1/ { if (x) { t").context, CursorContext::word);
  EXPECT_EQ(at_end("BEGIN { if (x) { } } E").context, CursorContext::description);
}

TEST(Cursor, OptionsFollowAPragma) {
  EXPECT_EQ(at_end("#pragma D option buf").context, CursorContext::pragma);
  EXPECT_EQ(at_end("#define buf").context, CursorContext::nothing);
  EXPECT_EQ(at_end("#pragma D option quiet\nB").context, CursorContext::description);
}

TEST(Cursor, AMemberHasAnOwner) {
  for (const auto& [text, owner] : {std::pair("BEGIN { x = curpsinfo->pr", "curpsinfo->"),
                                    std::pair("BEGIN { x = 1 + a.out`here.place.", "a.out`here.place."),
                                    {"BEGIN /args[0]->a.", "args[0]->a."},
                                    {"BEGIN { x = 1 + ((struct s *)arg0)->", "((struct s *)arg0)->"},
                                    {"BEGIN { self->", "self->"},
                                    {"BEGIN { x[f(1)[2]].", "x[f(1)[2]]."}}) {
    const Cursor cursor = at_end(text);
    EXPECT_EQ(cursor.context, CursorContext::member) << text;
    EXPECT_EQ(cursor.owner, owner);
  }
  EXPECT_EQ(at_end("BEGIN { x = ->").context, CursorContext::word);
}

TEST(Cursor, KnowsTheStatementsBefore) {
  const std::string_view text = "BEGIN { this->a = 1; this->b = a.";
  const Cursor cursor = at_end(text);
  EXPECT_EQ(text.substr(cursor.body, cursor.statement - cursor.body), " this->a = 1;");
}

TEST(Cursor, ManyAreFoundAsEachAlone) {
  const std::string_view text =
      "#define x \\\n y\n/* x */ int x;\nt:::a,t:::b /x \"x\"/ { if (x) { self->x = '}'; } y = a.x; }\nt:::c { x } /* x";
  std::vector<size_t> ends;
  for (size_t at = 1; at <= text.size(); at++)
    if (text[at - 1] == 'x') ends.push_back(at);
  const std::vector<Cursor> all = look_at_all(text, ends);
  ASSERT_EQ(all.size(), ends.size());
  for (size_t i = 0; i < ends.size(); i++) {
    const Cursor alone = look_at(text, ends[i]);
    EXPECT_EQ(all[i].context, alone.context) << ends[i];
    EXPECT_EQ(std::tie(all[i].begin, all[i].clause, all[i].body, all[i].statement, all[i].owner),
              std::tie(alone.begin, alone.clause, alone.body, alone.statement, alone.owner))
        << ends[i];
  }
}

TEST(Word, IsWholeWithItsSigil) {
  EXPECT_EQ(word_at("trace(timestamp)", 8), "timestamp");
  EXPECT_EQ(word_at("@total = sum(1)", 3), "@total");
  EXPECT_EQ(word_at("$target", 7), "$target");
  EXPECT_EQ(word_at("( )", 1), "");
  EXPECT_EQ(word_at("", 5), "");
}

TEST(Cursor, TypesStandWhereTheyMay) {
  for (const std::string_view text : {"BEGIN { x = (u", "BEGIN { x = sizeof (", "BEGIN { u", "BEGIN { x; u", "inline u", "u"})
    EXPECT_EQ(at_end(text).expected, Expected::value_or_type) << text;
  for (const std::string_view text : {"BEGIN { x = u", "BEGIN { f(1, u", "syscall::u"})
    EXPECT_EQ(at_end(text).expected, Expected::value) << text;
  EXPECT_EQ(at_end("BEGIN { x = (struct p").expected, Expected::tag);
  EXPECT_EQ(at_end("BEGIN { x = (struct p").keyword, "struct");
}

TEST(Words, NamesWithTheirScope) {
  const std::string_view text = "self->a + @b[c]";
  EXPECT_EQ(word_at(text, 6), "self->a");
  EXPECT_EQ(word_at(text, 11), "@b");
  EXPECT_EQ(word_at(text, 13), "c");
  EXPECT_EQ(description_at("BEGIN,a:b:c*:d /x/", 6), "a:b:c*:d");
  EXPECT_EQ(description_at("a:b:\"f(int, char)\":entry\n{", 0), "a:b:\"f(int, char)\":entry");
}

TEST(Words, OwnNamesAreFoundInAnyText) {
  EXPECT_EQ(own_names("x = 1; this->y @z[ self-> p->q = 2; if (w == 1) $t = 3; 'self->no' /* @no */ // @no\n\"@no"),
            (std::vector<std::string>{"@z", "this->y", "x"}));
  EXPECT_TRUE(own_names("/*").empty());
  EXPECT_TRUE(own_names("/").empty());
  EXPECT_TRUE(own_names("\"\\").empty());
}

}  // namespace
}  // namespace dvm::cmd::lsp
