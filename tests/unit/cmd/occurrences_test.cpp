// Uses and declarations of names in scripts.

#include "cmd/lsp/occurrences.h"

#include <gtest/gtest.h>

#include <string>

namespace dvm::cmd::lsp {
namespace {

// The text with each place marked: <x> where it is meant, <<x>> where it is declared.
std::string marked(std::string text, std::string_view name) {
  const std::vector<Occurrence> all = occurrences(text, name);
  const Occurrence* declared = declaration(text, all);
  const size_t at = declared ? declared->begin : std::string::npos;
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    const bool is_it = one->begin == at;
    text.insert(one->begin + one->size, is_it ? ">>" : ">").insert(one->begin, is_it ? "<<" : "<");
  }
  return text;
}

TEST(Occurrences, VariablesOfEachScopeAreTheirOwn) {
  const std::string text = "BEGIN { x = 1; self->x = x; this->x = self->x; @x[this->x] = count(); }";
  EXPECT_EQ(marked(text, "x"), "BEGIN { <<x>> = 1; self->x = <x>; this->x = self->x; @x[this->x] = count(); }");
  EXPECT_EQ(marked(text, "self->x"), "BEGIN { x = 1; self-><<x>> = x; this->x = self-><x>; @x[this->x] = count(); }");
  EXPECT_EQ(marked(text, "this->x"), "BEGIN { x = 1; self->x = x; this-><<x>> = self->x; @x[this-><x>] = count(); }");
  EXPECT_EQ(marked(text, "@x"), "BEGIN { x = 1; self->x = x; this->x = self->x; @<<x>>[this->x] = count(); }");
}

TEST(Occurrences, TheFirstStoreDeclares) {
  EXPECT_EQ(marked("t:::a /x[1] == 2/ { trace(x[1]); } t:::b { x[y[1]] = 2; }", "x"),
            "t:::a /<x>[1] == 2/ { trace(<x>[1]); } t:::b { <<x>>[y[1]] = 2; }");
  EXPECT_EQ(marked("int x;\nt:::b { x = 2; }", "x"), "int <<x>>;\nt:::b { <x> = 2; }");
  EXPECT_EQ(marked("inline int x = 3;\nt:::b { trace(x); }", "x"), "inline int <<x>> = 3;\nt:::b { trace(<x>); }");
  EXPECT_EQ(declaration("t:::b { trace(x); }", occurrences("t:::b { trace(x); }", "x")), nullptr);
}

TEST(Occurrences, OtherThingsOfThatNameAreNotMeant) {
  for (const std::string text :
       {"syscall::x:entry { }", "x:::a { }", "/* x */ BEGIN { trace(\"x\"); }", "BEGIN { trace(args[0]->x); trace(y.x); }",
        "#define x 1\nBEGIN { }", "struct s { int x; };", "BEGIN { trace(a.out`x); }", "BEGIN { trace(xx); }"})
    EXPECT_EQ(marked(text, "x"), text);
}

TEST(Occurrences, ATypeIsDeclaredByItsTranslatorFirst) {
  const std::string text =
      "struct t { int a; };\ntranslator struct t < int N > { a = N; };\nBEGIN { trace((xlate <struct t> (a)).a); a = 1; }";
  EXPECT_EQ(
      marked(text, "N"),
      "struct t { int a; };\ntranslator struct t < int <<N>> > { a = <N>; };\nBEGIN { trace((xlate <struct t> (a)).a); a = 1; }");
  EXPECT_EQ(
      marked(text, "a"),
      "struct t { int a; };\ntranslator struct t < int N > { a = N; };\nBEGIN { trace((xlate <struct t> (<a>)).a); <<a>> = 1; }");
}

TEST(Occurrences, DeclarationsOutsideOfClausesHaveAScope) {
  const std::string text =
      "/* t */ self int t, u[t_t, int];\nt:::a /self -> t/ { self->t = self->u[1]; t = 1; }\nthis string t;\n";
  EXPECT_EQ(marked(text, "self->t"),
            "/* t */ self int <<t>>, u[t_t, int];\nt:::a /self -> <t>/ { self-><t> = self->u[1]; t = 1; }\nthis string t;\n");
  EXPECT_EQ(marked(text, "self->u").find("<<u>>[t_t, int]"), text.find("u[t_t, int]"));
  EXPECT_EQ(marked(text, "this->t").find("this string <<t>>;"), text.find("this string t;"));
  EXPECT_EQ(marked(text, "t").find("<<t>> = 1;"), text.find("t = 1;"));
  EXPECT_EQ(name_at(text, text.find("t, u")), "self->t");
  EXPECT_EQ(name_at(text, text.find("t/ {")), "self->t");
}

TEST(Occurrences, TagsOfTypesAreNoVariables) {
  const std::string text = "/* s */ struct s { int s; struct s *next; };\nstruct s s;\nt:::a { s.s = offsetof(struct s, s); }";
  EXPECT_EQ(marked(text, "s"),
            "/* s */ struct s { int s; struct s *next; };\nstruct s <<s>>;\nt:::a { <s>.s = offsetof(struct s, s); }");
  EXPECT_EQ(marked(text, "struct s"),
            "/* s */ struct <<s>> { int s; struct <s> *next; };\nstruct <s> s;\nt:::a { s.s = offsetof(struct <s>, s); }");
  EXPECT_EQ(name_at(text, text.find("s;\nt:::a")), "s");
  EXPECT_EQ(name_at(text, text.find("s { int")), "struct s");
}

TEST(Occurrences, DirectivesMayHaveTheName) {
  EXPECT_EQ(directive_with("#define A 1\n#define B \\\n x++\nt:::a { x = 1; B; }", "x"), 3u);
  EXPECT_EQ(directive_with("#pragma D option quiet\nt:::a { quiet = 1; }", "quiet"), 0u);
  EXPECT_EQ(marked("#define B \\\n { x++\nt:::a { x = 1; B; }", "x"), "#define B \\\n { x++\nt:::a { <<x>> = 1; B; }");
}

TEST(Occurrences, ADivisionOutsideOfClausesBeginsNoPredicate) {
  EXPECT_EQ(marked("inline int x = 4 / 2;\nint y;\nt:::a { y = x; }", "y"),
            "inline int x = 4 / 2;\nint <<y>>;\nt:::a { <y> = x; }");
}

TEST(Occurrences, ALongScriptIsReadOnce) {
  std::string text;
  for (int i = 0; i < 5000; i++) text += "t:::a /x > 1/ { self->t = timestamp; x = x + 1; }\n";
  EXPECT_EQ(occurrences(text, "x").size(), 15000u);
}

TEST(Occurrences, ABareNameHasNoScope) {
  EXPECT_EQ(bare_name("self->x"), "x");
  EXPECT_EQ(bare_name("@x"), "x");
  EXPECT_EQ(bare_name("struct x"), "x");
  EXPECT_TRUE(is_identifier("_a1"));
  EXPECT_FALSE(is_identifier("1a"));
  EXPECT_FALSE(is_identifier("a-b"));
  EXPECT_FALSE(is_identifier(""));
}

}  // namespace
}  // namespace dvm::cmd::lsp
