// What compiled D computes: expressions are compiled, verified and run. Every DIFO that the compiler makes must pass the
// verifier.

#include <gtest/gtest.h>

#include "tests/unit/compiler/script.h"

namespace dvm {
namespace {

std::vector<std::string> run(const std::string& text) { return Script(text).values; }
std::string value(const std::string& expression) {
  const auto values = run("BEGIN { trace(" + expression + "); }");
  return values.empty() ? "none" : values[0];
}
using Values = std::vector<std::string>;

TEST(Run, IntegersAreCutWhenTheyAreStored) {
  EXPECT_EQ(run("int x; BEGIN { x = 2147483647; x++; trace(x); trace((long)x); trace(x < 0); }"),
            (Values{"-2147483648", "-2147483648", "1"}));
  EXPECT_EQ(run("uint32_t u; BEGIN { u = 0; u--; trace(u); trace(u > 0); trace((u + 1) / 2); }"),
            (Values{"4294967295", "1", "2147483648"}));
  EXPECT_EQ(run("char c; short s; BEGIN { c = 200; s = 70000; trace(c); trace(s); trace(c + s); }"),
            (Values{"-56", "4464", "4408"}));
  EXPECT_EQ(run("uint8_t b; BEGIN { b = 255; b += 2; trace(b); trace((int)b == 1); }"), (Values{"1", "1"}));
}

TEST(Run, StringsHaveCharacters) {
  EXPECT_EQ(run("BEGIN { s = \"abc\"; i = 2; trace(s[0]); trace(s[i] == 'c'); trace(s[3]); trace(strjoin(s, \"d\")[3]); }"),
            (Values{"97", "1", "0", "100"}));
}

TEST(Run, CharactersOfStringVariablesAreAssigned) {
  EXPECT_EQ(run("BEGIN { this->s = \"hello\"; this->s[2] = 0; trace(this->s); g = \"world\"; g[0] = 'W'; g[1] += 2; trace(g); "
                "self->t = \"abc\"; self->t[1] = 'X'; trace(self->t); a[1] = \"key\"; a[1][0]++; trace(a[1]); "
                "trace((n = \"abc\", n[0] = 'A', n)); }"),
            (Values{"he", "Wqrld", "aXc", "ley", "Abc"}));
}

TEST(Run, DeclarationsHoldForEarlierClauses) {
  EXPECT_EQ(run("BEGIN { x = 300; trace(x); self->y = 5000000000; trace(self->y); trace(N + R); trace(xlate <struct o> (4).a); } "
                "char x; self int y; inline int N = 5; enum { R = 9 }; struct o { int a; }; "
                "translator struct o < int v > { a = v + 1; };"),
            (Values{"44", "705032704", "14", "5"}));
}

TEST(Run, CharactersOfMembersAreAssigned) {
  const std::string structure = "struct t { int i; string s; }; struct t g, e[int], c[2]; self struct t t; ";
  EXPECT_EQ(run(structure + "BEGIN { g.s = \"abc\"; g.s[1] = 'X'; g.s[2]--; trace(g.s); e[1].s = \"def\"; e[1].s[0] = 'Y'; "
                            "trace(e[1].s); self->t.s = \"ghi\"; self->t.s[2] = 0; trace(self->t.s); c[1].s[255] = 7; "
                            "trace(c[1].s[255] + c[1].i); }"),
            (Values{"aXb", "Yef", "gh", "7"}));
}

TEST(Run, ArithmeticHas64Bits) {
  EXPECT_EQ(run("BEGIN { i = -1; u = 1u; trace(i < u); l = (long)i; trace(l < u); trace(i / 2); trace(i >> 1); trace((unsigned)i "
                ">> 1); }"),
            (Values{"0", "1", "0", "-1", "2147483647"}));
  EXPECT_EQ(run("BEGIN { a = 7; b = -2; trace(a / b); trace(a % b); trace(-a / b); trace(-a % b); }"),
            (Values{"-3", "1", "3", "-1"}));
  EXPECT_EQ(run("BEGIN { u = 4294967295u; trace(u + u); trace((u + u) / 2); trace((long)(u * 2)); }"),
            (Values{"4294967294", "4294967295", "8589934590"}));
  EXPECT_EQ(run("BEGIN { c = (char)-1; d = (unsigned char)255; trace(c == d); trace((unsigned char)c == d); }"),
            (Values{"0", "1"}));
  EXPECT_EQ(run("int x; BEGIN { x = -8; x /= 3u; trace(x); x = -8; x >>= 1; trace(x); x = 5; x *= 1000000000; trace(x); }"),
            (Values{"-2", "-4", "705032704"}));
  EXPECT_EQ(
      run("long l; int8_t c; unsigned u; long a[int]; BEGIN { l = -100; l /= sizeof (int); c = -100; c %= (uint16_t)7; u = 7; "
          "u /= -2; a[1] = -9; a[1] /= 2ul; trace(l); trace(c); trace(u); trace(a[1]); trace(l / sizeof (int) > 1); }"),
      (Values{"-25", "-2", "0", "-4", "1"}));
  EXPECT_EQ(run("BEGIN { m = (int)-2147483648; trace((long)-m); trace((long)~m); }"), (Values{"2147483648", "2147483647"}));
  EXPECT_EQ(
      run("uint8_t b; short s; BEGIN { b = 250; s = -7; trace(b + 10); trace(b + b); trace((long)(b + b)); trace(s + b); }"),
      (Values{"260", "244", "500", "243"}));
  EXPECT_EQ(run("BEGIN { trace(2000000000 + 2000000000); trace((2000000000 + 2000000000) / 2); x = 2000000000; trace(x + x > x); "
                "trace((int)(x + x) > x); }"),
            (Values{"-294967296", "2000000000", "1", "0"}));
}

TEST(Run, CompoundAssignmentsReadTheirTargetFirst) {
  EXPECT_EQ(run("BEGIN { i = 2; i += i++ * 3; trace(i); i = 5; i -= --i; trace(i); i = 4; i *= i++ + i; trace(i); }"),
            (Values{"8", "1", "36"}));
  EXPECT_EQ(run("BEGIN { a[\"k\"] = 3; a[\"k\"] += a[\"k\"]++; trace(a[\"k\"]); i = 0; a[lltostr(i++)] += i++; trace(a[\"0\"]); "
                "trace(i); }"),
            (Values{"6", "1", "2"}));
}

TEST(Run, FoldingAgreesWithRunning) {
  const char* const operators[] = {"+", "-",  "*", "/",  "%",  "&",  "|",  "^",  "<<", ">>",
                                   "<", "<=", ">", ">=", "==", "!=", "&&", "||", "^^"};
  const char* const types[] = {"char", "unsigned char", "short", "int", "unsigned int", "long", "unsigned long"};
  const char* const numbers[] = {"1", "-1", "3", "127", "65535", "2147483647"};
  std::string declarations, body;
  unsigned n = 0;
  for (const char* left : types)
    for (const char* right : types)
      for (const char* op : operators)
        for (const char* number : {numbers[n % 6], numbers[(n / 6) % 6]}) {
          const std::string l = std::string("(") + left + ")" + numbers[(n * 7 + 3) % 6],
                            r = std::string("(") + right + ")" + number;
          const bool shift = op[0] == op[1] && (op[0] == '<' || op[0] == '>');
          const std::string right_value = shift ? std::string("(") + right + ")3" : r;
          declarations += std::string(left) + " l" + std::to_string(n) + "; " + right + " r" + std::to_string(n) + ";\n";
          body += "l" + std::to_string(n) + " = " + l + "; r" + std::to_string(n) + " = " + right_value + ";\n";
          body += "trace((long)(l" + std::to_string(n) + " " + op + " r" + std::to_string(n) + ")); trace((long)(" + l + " " +
                  op + " " + right_value + "));\n";
          n++;
        }
  const Values values = run(declarations + "BEGIN {\n" + body + "}");
  ASSERT_EQ(values.size(), 2 * n);
  for (unsigned i = 0; i < n; i++) EXPECT_EQ(values[2 * i], values[2 * i + 1]) << "pair " << i;
}

TEST(Run, LogicAndConditions) {
  EXPECT_EQ(
      run("BEGIN { x = 0; y = 1; trace(x && ++y); trace(y); trace(x || ++y); trace(y); trace(x ^^ y); trace(!x); trace(!!y); }"),
      (Values{"0", "1", "1", "2", "1", "1", "1"}));
  EXPECT_EQ(run("BEGIN { i = 2; trace(i == 1 ? \"one\" : \"other\"); trace(i ? (i > 1 ? 20 : 10) : 0); trace((x = 4, x + 1)); }"),
            (Values{"other", "20", "5"}));
}

TEST(Run, AConstantConditionLeavesOneBranch) {
  EXPECT_EQ(run("inline int verbose = 0; BEGIN { $1 ? trace(1) : trace(2); verbose ? trace(3) : trace(4); "
                "$1 == 12 ? ($1 > 20 ? trace(5) : trace(6)) : trace(7); trace(1 ? \"text\" : 5); 0 ? nowhere = 1 : (x = 2); "
                "trace(x); 1 ? trace(7) : trace($$2); }"),
            (Values{"1", "4", "6", "text", "2", "7"}));
}

TEST(Run, Variables) {
  EXPECT_EQ(run("BEGIN { l = 5; trace(l++); trace(l); trace(--l); trace(l--); trace(l); }"), (Values{"5", "6", "5", "5", "4"}));
  EXPECT_EQ(run("BEGIN { this->a = 1; self->a = 2; a = 3; trace(this->a); trace(self->a); trace(a); }"), (Values{"1", "2", "3"}));
  EXPECT_EQ(run("BEGIN { s = \"text\"; t = s; trace(t); trace(t == s); trace(s < \"tf\"); trace(s != \"text\"); }"),
            (Values{"text", "1", "1", "0"}));
}

TEST(Run, AssociativeArrays) {
  EXPECT_EQ(run("BEGIN { a[\"x\", 1] = 5; a[\"x\", 1]++; a[\"x\", 1] *= 2; trace(a[\"x\", 1]); trace(a[\"y\", 1]); }"),
            (Values{"12", "0"}));
  EXPECT_EQ(run("BEGIN { i = 0; a[0] = 7; trace(a[i++]++); trace(i); trace(a[0]); a[i--] += 3; trace(a[1]); trace(i); }"),
            (Values{"7", "1", "8", "3", "0"}));
  EXPECT_EQ(run("BEGIN { a[1] = 2; a[a[1]] = 3; trace(a[a[1]]); trace(strlen(strjoin(\"ab\", strjoin(\"c\", \"d\")))); }"),
            (Values{"3", "4"}));
  EXPECT_EQ(run("BEGIN { a[1,2,3,4,5,6,7,8,9,10,11,12] = 1; trace(a[1,2,3,4,5,6,7,8,9,10,11,12]); "
                "trace(a[1,2,3,4,5,6,7,8,9,10,11,13]); }"),
            (Values{"1", "0"}));
  EXPECT_EQ(run("BEGIN { self->t[\"k\"] = \"v\"; trace(self->t[\"k\"]); trace(1 ? a[1] = 4 : 0); trace(a[1]); }"),
            (Values{"v", "4", "4"}));
}

TEST(Run, PointersAndStructures) {
  EXPECT_EQ(run("BEGIN { this->p = (int *)alloca(16); this->p[0] = 1; this->p[1] = -2; *(this->p + 3) = 4; trace(*this->p); "
                "trace(this->p[1]);"
                " trace(this->p[3]); this->q = this->p; this->q++; trace(*this->q); trace(this->q - this->p); trace(*this->q++); "
                "this->p[1] += 5; trace(this->p[1]); }"),
            (Values{"1", "-2", "4", "-2", "1", "-2", "3"}));
  EXPECT_EQ(run("struct s { char c; int i; short h[3]; }; BEGIN { this->p = (struct s *)alloca(sizeof (struct s)); this->p->c = "
                "300; this->p->i = -5;"
                " this->p->h[2] = 9; trace(this->p->c); trace(this->p->i++); trace(this->p->i); trace(this->p->h[2]); "
                "trace((*this->p).i);"
                " trace(*&this->p->i); trace((long)&this->p->i - (long)this->p); }"),
            (Values{"44", "-5", "-4", "9", "-4", "-4", "4"}));
  EXPECT_EQ(run("struct bf { int a:3; unsigned b:5; int c:8; unsigned d:16; }; struct bf v; BEGIN { v.a = 7; v.b = 33; v.c = -1; "
                "v.d = 70000;"
                " trace(v.a); trace(v.b); trace(v.c); trace(v.d); v.b++; trace(v.b); trace(v.a); v.c += 3; trace(v.c); }"),
            (Values{"-1", "1", "-1", "4464", "2", "-1", "2"}));
}

TEST(Run, InlinesMacrosAndIf) {
  EXPECT_EQ(run("inline int ANSWER = 6 * 7; inline string G = \"hi\"; inline int add[int a, int b] = a + b; BEGIN { x = 2; "
                "trace(ANSWER); trace(G);"
                " trace(add[x, 3]); trace(add[x++, x]); trace($1 + 1); trace($$2); trace($$1); }"),
            (Values{"42", "hi", "5", "5", "13", "text", "12"}));
  EXPECT_EQ(run("BEGIN /1/ { x = 1; if (x == 1) { trace(1); if (x == 2) { trace(2); } else { trace(3); } } else { trace(4); } "
                "trace(5); }"),
            (Values{"1", "3", "5"}));
  EXPECT_EQ(run("BEGIN /arg0 == 11/ { if (1) { trace(1); } else { trace(2); } trace(3); } BEGIN { if (arg2 == -3) trace(9); else "
                "trace(8); }"),
            (Values{"9"}));
}

TEST(Run, PredicatesSeeTheirClause) {
  EXPECT_EQ(run("BEGIN /n < 1/ { trace(++n); } BEGIN /n < 1/ { trace(++n); }"), (Values{"1"}));
  EXPECT_EQ(run("BEGIN /!self->last && !a[1]/ { self->last = 5; a[1] = 2; trace(self->last); }"), (Values{"5"}));
  EXPECT_EQ(run("BEGIN /!this->x/ { if (1) { this->x = 4; trace(this->x); } }"), (Values{"4"}));
  EXPECT_EQ(run("BEGIN /x++ < 1/ { trace(x); trace(sizeof (x)); }"), (Values{"1", "8"}));
  EXPECT_EQ(run("BEGIN /x++ < 1/ { x = (short)3; trace(sizeof (x)); }"), (Values{"2"}));
}

TEST(Run, Faults) {
  EXPECT_EQ(Script("BEGIN { i = 0; trace(10 / i); }").fault, dif::Fault::divzero);
  EXPECT_EQ(Script("BEGIN { trace(*(int *)8); }").fault, dif::Fault::badaddr);
}

TEST(Run, Subroutines) {
  EXPECT_EQ(value("strlen(\"hello\")"), "5");
  EXPECT_EQ(value("strchr(\"abc\", 'z') == NULL"), "1");
  EXPECT_EQ(value("substr(\"abcdef\", -2)"), "ef");
  EXPECT_EQ(value("index(\"abcabc\", \"c\", 3)"), "5");
  EXPECT_EQ(run("BEGIN { trace(strtok(\"a:b\", \":\")); trace(strtok(NULL, \":\")); }"), (Values{"a", "b"}));
  EXPECT_EQ(value("htons(0x1234)"), std::to_string(0x3412));
  EXPECT_EQ(value("(rand() | rand() | rand() | rand() | rand() | rand() | rand() | rand()) > 2147483647"), "1");  // 32 bits
  EXPECT_EQ(value("rand() < 0"), "0");
  EXPECT_EQ(value("execname"), "prog");
}

}  // namespace
}  // namespace dvm
