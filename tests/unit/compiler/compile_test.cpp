// compile() as its callers see it: several sources, macros, probes and options.

#include "dvm/compiler/compile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dvm/dif/variable.h"

namespace dvm::compiler {
namespace {

CompileResult compile_all(const std::vector<Source>& sources, const CompileOptions& options = {}) {
  return compile(sources, options);
}
CompileResult compile_one(const std::string& text, const CompileOptions& options = {}) {
  return compile_all({{"x.d", text, false}}, options);
}

std::string spell(const dif::ProbeDesc& p) { return p.provider + "|" + p.module + "|" + p.function + "|" + p.name; }

std::vector<std::string> probes(const std::string& text, const CompileOptions& options = {}) {
  std::vector<std::string> list;
  const CompileResult result = compile_one(text, options);
  for (const CompiledSource& program : result.programs)
    for (const dif::EcbDesc& clause : program.program.clauses)
      for (const dif::ProbeDesc& p : clause.probes) list.push_back(spell(p));
  return list;
}

TEST(Probes, FieldsAreFilledFromTheRight) {
  EXPECT_EQ(probes("BEGIN, f:entry, m:f:entry, p:m:f:n, :::x, a:::, ::, p::f:* { }"),
            (std::vector<std::string>{"|||BEGIN", "||f|entry", "|m|f|entry", "p|m|f|n", "|||x", "a|||", "|||", "p||f|*"}));
}

TEST(Probes, MacrosAreExpanded) {
  CompileOptions options;
  options.arguments = {"x.d", "malloc"};
  options.macros = {{"target", "123"}};
  EXPECT_EQ(probes("pid$target:a.out:main:entry, pid$target::$1:return { }", options),
            (std::vector<std::string>{"pid123|a.out|main|entry", "pid123||malloc|return"}));
  const CompileResult missing = compile_one("pid$target:::entry { }");
  ASSERT_EQ(missing.diagnostics.size(), 1u);
  EXPECT_EQ(missing.diagnostics[0].tag, "D_MACRO_UNDEF");
  EXPECT_EQ(missing.diagnostics[0].column, 4u);
  EXPECT_EQ(missing.diagnostics[0].length, 7u);
}

class TwoMatches final : public ProbeCatalog {
 public:
  bool has_provider(std::string_view name) override { return name == "such"; }
  ProbeMatches match(const dif::ProbeDesc& d) override {
    ProbeMatches m;
    m.count = d.name == "none" || d.function == "none" ? 0 : 2;
    return m;
  }
};

TEST(Probes, MatchesAreCountedForEachClause) {
  TwoMatches catalog;
  CompileOptions options;
  options.catalog = &catalog;
  const CompileResult result = compile_one("a { } a, b { if (pid) { trace(1); } }", options);
  ASSERT_EQ(result.programs.size(), 1u);
  EXPECT_EQ(result.programs[0].matched, 6u);
  EXPECT_EQ(compile_one("none { }", options).diagnostics[0].message, "probe description :::none does not match any probes");
  EXPECT_TRUE(compile_one("none { }", options).diagnostics[0].hints.empty());
  EXPECT_EQ(compile_one("m:none:entry { }", options).diagnostics[0].hints,
            std::vector<std::string>{
                "name the provider: pid$target:m:none:entry for a function of the process, syscall::NAME:entry for a "
                "system call"});
  options.allow_zero_matches = true;
  EXPECT_EQ(compile_one("none { }", options).programs.size(), 1u);
}

TEST(Compile, SourcesShareTheirNames) {
  const CompileResult result =
      compile_all({{"a.d", "int x; inline int K = 3; BEGIN { x = K; @n = count(); self->y = 1; }", false},
                   {"b.d", "BEGIN { z = x + K; @n = count(); @m = sum(self->y); }", false}});
  ASSERT_EQ(result.programs.size(), 2u);
  ASSERT_EQ(result.programs[0].program.variables.size(), 3u);  // the whole session's, in each
  EXPECT_EQ(result.programs[1].program.variables.size(), 3u);
  EXPECT_EQ(result.programs[1].program.aggregations.size(), 2u);
  EXPECT_EQ(result.programs[1].program.clauses[0].actions[1].aggregations, (std::vector<uint32_t>{1}));
  EXPECT_EQ(result.programs[0].program.variables[0].id, dif::kFirstUserVariable);
}

TEST(Compile, ErrorsOfAllSourcesInOrder) {
  const CompileResult result =
      compile_all({{"a.d", "BEGIN { trace(p); }\nEND { ( }", false}, {"b.d", "BEGIN { trace(q) ", false}});
  EXPECT_TRUE(result.programs.empty());
  ASSERT_EQ(result.diagnostics.size(), 3u);
  EXPECT_EQ(result.diagnostics[0].tag, "D_IDENT_UNDEF");
  EXPECT_EQ(result.diagnostics[1].tag, "D_SYNTAX");
  EXPECT_EQ(result.diagnostics[1].line, 2u);
  EXPECT_EQ(result.diagnostics[2].file, "b.d");
}

TEST(Compile, UnknownNamesAreToldOnce) {
  EXPECT_EQ(compile_one("BEGIN { trace(a); trace(a + 1); self->b++; trace(self->c); trace(self->c); }").diagnostics.size(), 2u);
}

TEST(Compile, MissingArguments) {
  CompileOptions options;
  EXPECT_EQ(compile_one("BEGIN { trace($1); }", options).diagnostics[0].message, "macro argument $1 is not defined");
  options.default_arguments = true;
  EXPECT_TRUE(compile_one("BEGIN { trace($1); trace($$1); }", options).diagnostics.empty());
  options.arguments = {"x.d", "-7", "+3", "0x10"};
  EXPECT_TRUE(compile_one("BEGIN { trace($1 + $2 + $3); }", options).diagnostics.empty());
}

TEST(Compile, LowestNumberAsAnArgument) {
  CompileOptions options;
  options.arguments = {"x.d", "-9223372036854775808", "-0x8000000000000001"};
  EXPECT_TRUE(compile_one("BEGIN { trace(1 / ($1 < 0)); }", options).diagnostics.empty());
  EXPECT_EQ(compile_one("BEGIN { trace($2); }", options).diagnostics.at(0).message,
            "macro argument $2 constant -0x8000000000000001 results in integer overflow");
}

TEST(Compile, ArgumentsHaveEscapes) {
  CompileOptions options;
  options.arguments = {"x.d", "a\\tb", "\"c\\n\"", "end\\"};
  options.print_tree = true;
  const CompileResult result = compile_one("BEGIN { trace($$1); trace($2); trace($$2); trace($$3); }", options);
  ASSERT_EQ(result.programs.size(), 1u);
  const std::string& tree = result.programs[0].tree;
  for (const std::string_view text : {"\"a\\tb\"", "\"c\\n\"", "\"\\\"c\\n\\\"\"", "\"end\\\\\""})
    EXPECT_NE(tree.find(text), std::string::npos) << text << tree;
}

TEST(Compile, DescriptionsNeedNoBody) {
  EXPECT_TRUE(compile_all({{"BEGIN", "BEGIN", true}}).diagnostics.empty());
  const CompileResult predicate = compile_all({{"tick-1s /pid/", "tick-1s /pid/", true}});
  ASSERT_EQ(predicate.diagnostics.size(), 1u);
  EXPECT_EQ(predicate.diagnostics[0].message, "expected actions { } following probe description and predicate");
  const CompileResult open = compile_all({{"BEGIN { trace(1) ", "BEGIN { trace(1) ", true}});
  ASSERT_EQ(open.diagnostics.size(), 1u);
  EXPECT_EQ(render(open.diagnostics[0], {"BEGIN { trace(1) ", "", true}, false).substr(0, 79),
            "dvm: invalid probe specifier BEGIN { trace(1) : syntax error near end of input\n");
}

TEST(Compile, OptionsInOrder) {
  const CompileResult result = compile_one("#pragma D option quiet\n#pragma D option bufsize=1m\nBEGIN { }");
  ASSERT_EQ(result.programs.size(), 1u);
  EXPECT_EQ(result.programs[0].options, (std::vector<std::pair<std::string, std::string>>{{"quiet", ""}, {"bufsize", "1m"}}));
}

TEST(Compile, NoSourcesAndEmptyOnes) {
  EXPECT_TRUE(compile_all({}).diagnostics.empty());
  EXPECT_EQ(compile_one("").diagnostics[0].tag, "D_EMPTY");
  EXPECT_EQ(compile_one("#!/usr/bin/dvm -s\n").diagnostics[0].tag, "D_EMPTY");
  EXPECT_TRUE(compile_one("\n #!/bin/a\nBEGIN {\n#!/bin/b\n}").diagnostics.empty());
  EXPECT_FALSE(compile_one("BEGIN { } #!/bin/a").diagnostics.empty());
  EXPECT_TRUE(compile_one("BEGIN { }").programs[0].program.clauses[0].actions.empty());
}

TEST(Compile, TheSameTextGivesTheSameListing) {
  const std::string text = "BEGIN { a[pid, \"x\"] = 1; @[execname] = quantize(arg0); printf(\"%d %s\", a[pid, \"x\"], \"y\"); }";
  EXPECT_EQ(print_dif(compile_one(text).programs[0].program), print_dif(compile_one(text).programs[0].program));
}

TEST(Compile, HandsOnTheProvidersThatAProgramDeclares) {
  const CompileResult result = compile_one(
      "struct in { int len; }; struct out { long size; }; translator struct out < struct in *P > { size = P->len; };"
      "provider disk { probe start__io(struct in *b, int) : (struct out *b); probe done(); }; BEGIN { }");
  ASSERT_EQ(result.providers.size(), 1u);
  const ProviderDesc& disk = result.providers[0];
  ASSERT_EQ(disk.probes.size(), 2u);
  EXPECT_EQ(disk.name + ":" + disk.probes[0].name, "disk:start-io");
  ASSERT_EQ(disk.probes[0].arguments.size(), 2u);
  EXPECT_EQ(disk.probes[0].arguments[0].name, "b");
  EXPECT_EQ(disk.probes[0].arguments[0].type, "struct in *");
  EXPECT_EQ(disk.probes[0].arguments[1].type, "int");
  ASSERT_EQ(disk.probes[0].translated.size(), 1u);
  EXPECT_EQ(disk.probes[0].translated[0].type, "struct out *");
  EXPECT_TRUE(disk.probes[1].arguments.empty());
}

TEST(Compile, ADeclarationThatProgramsCarryNamesNoTypesOfTheScript) {
  const CompileResult result = compile_one(
      "typedef struct order order_t; typedef struct { int x; } pair_t; enum color { red }; typedef enum color color_t;"
      "struct in { int len; }; struct out { long size; }; translator struct out < struct in *P > { size = P->len; };"
      "provider shop { probe sold__item(int, uint8_t, string name, const char **, order_t *o, pair_t *p, color_t, char [4]);"
      "probe work(int n, int (*f)(int), struct in *i) : (struct out *i, int n); probe open(void); }; BEGIN { }");
  ASSERT_EQ(result.providers.size(), 1u);
  EXPECT_EQ(
      result.providers[0].declaration,
      "provider shop { probe sold__item(int a0, uint8_t a1, string a2, char * * a3, struct order * a4, `pair_t * a5, "
      "enum color a6, char * a7); probe work(int a0, void * a1, struct in * a2) : (struct out * a2, int a0); probe open(); };");
}

TEST(Compile, LongChainsAndDeepConditions) {
  std::string chain = "BEGIN { ", nest = "BEGIN { ", ends;
  for (int i = 0; i < 200; i++) chain += fmt::format("{}if (arg0 == {}) {{ trace({}); }}", i ? " else " : "", i, i);
  for (int i = 0; i < 60; i++) nest += fmt::format("if (arg0 != {}) {{ ", i), ends += " }";
  EXPECT_TRUE(compile_one(chain + " }").diagnostics.empty());
  EXPECT_TRUE(compile_one(nest + "trace(1);" + ends + " }").diagnostics.empty());
}

TEST(Compile, AnArgumentMayNameAType) {
  const Source source{"x.d", "$1 x; BEGIN /sizeof ($1) == 4 && x == 0/ { this->p = ($1 *)arg0; trace(*this->p); }", false};
  CompileOptions options;
  options.arguments = {"x.d", "uint32_t"};
  const CompileResult result = compile({&source, 1}, options);
  ASSERT_EQ(result.programs.size(), 1u);
  EXPECT_EQ(result.programs[0].program.clauses[0].actions[1].args[0].difo.result.name, "uint32_t");
}

TEST(Compile, AnArgumentNamesATypedefOfTheScript) {
  CompileOptions options;
  options.arguments = {"x.d", "pair_t"};
  const std::string text =
      "typedef struct pair { int a, b; } pair_t; $1 p; BEGIN /sizeof ($1) == 8/ { trace((($1 *)arg0)->b + p.a); }";
  EXPECT_TRUE(compile_one(text, options).diagnostics.empty());
}

TEST(Compile, AnArgumentMayNameAMember) {
  CompileOptions options;
  options.arguments = {"x.d", "a"};
  options.refuse_unused_arguments = true;
  EXPECT_TRUE(compile_one("struct s { int a; }; BEGIN { trace(((struct s *)arg0)->$1); }", options).diagnostics.empty());
}

TEST(Compile, OnlyTheLastArgumentMustBeUsed) {
  CompileOptions options;
  options.arguments = {"x.d", "1", "2"};
  options.refuse_unused_arguments = true;
  const auto message = [&](const char* text) {
    const CompileResult result = compile_one(text, options);
    return result.diagnostics.empty() ? "" : result.diagnostics[0].message;
  };
  EXPECT_EQ(message("BEGIN { trace($2); }"), "");
  EXPECT_EQ(message("BEGIN { trace($1 + y); }"), "extraneous argument '2' ($2 is not referenced)");
  EXPECT_EQ(message("BEGIN { trace($3); }"), "macro argument $3 is not defined");
  EXPECT_EQ(message("BEGIN { trace($1 +); }"), "syntax error near \")\"");
}

// Names of types are told from others by the parser.
TEST(Compile, EachProgramMustUseTheLastArgument) {
  CompileOptions options;
  options.arguments = {"x.d", "int"};
  options.refuse_unused_arguments = true;
  const auto messages = [&](const char* first, const char* second) {
    const Source sources[] = {{"first", first, true}, {"second", second, true}};
    std::vector<std::string> all;
    for (const Diagnostic& d : compile(sources, options).diagnostics) all.push_back(d.file + ": " + d.message);
    return all;
  };
  const std::string unused = ": extraneous argument 'int' ($1 is not referenced)";
  EXPECT_EQ(messages("BEGIN { trace($$1); }", "END { trace(sizeof ($1)); }"), std::vector<std::string>());
  EXPECT_EQ(messages("BEGIN { trace($$1); }", "END { }"), std::vector{"second" + unused});
  EXPECT_EQ(messages("BEGIN { }", "END { trace(sizeof ($1)); }"), std::vector{"first" + unused});
  EXPECT_EQ(messages("BEGIN { trace(sizeof ($1)); }", "END { }"), std::vector{"second" + unused});
}

TEST(Compile, PragmasSetFlagsForTheirOwnProgram) {
  TwoMatches catalog;
  CompileOptions options;
  options.arguments = {"x.d", "1"};
  options.refuse_unused_arguments = true;
  options.catalog = &catalog;
  const auto messages = [&](const std::string& option, const char* second) {
    const std::string first = "#pragma D option " + option + "\nBEGIN { trace($1); }";
    const Source sources[] = {{"first", first, false}, {"second", second, false}};
    std::vector<std::string> all;
    for (const Diagnostic& d : compile(sources, options).diagnostics) all.push_back(d.file + ": " + d.message);
    return all;
  };
  EXPECT_EQ(messages("argref", "END { }"), std::vector<std::string>{"second: extraneous argument '1' ($1 is not referenced)"});
  EXPECT_EQ(messages("defaultargs", "END { trace($1 + $2); }"),
            std::vector<std::string>{"second: macro argument $2 is not defined"});
  EXPECT_EQ(messages("zdefs", "none { trace($1); }"),
            std::vector<std::string>{"second: probe description :::none does not match any probes"});
  EXPECT_EQ(messages("scratchsize=8", "END { alloca($1 + 8); }"),
            std::vector<std::string>{"second: alloca(9) size larger than scratchsize 8"});
}

TEST(Compile, StringsOfAnotherSizeChangeTheRoomForAlloca) {
  const auto message = [](uint64_t scratch_size, const char* text) {
    CompileOptions options;
    options.scratch_size = scratch_size;
    const CompileResult result = compile_one(text, options);
    return result.diagnostics.empty() ? "" : result.diagnostics[0].message;
  };
  EXPECT_EQ(message(65536, "#pragma D option strsize=8k\nBEGIN { alloca(131072); }"), "");
  EXPECT_EQ(message(65536, "#pragma D option strsize=8k\nBEGIN { alloca(131073); }"),
            "alloca(131073) size larger than scratchsize 131072");
  EXPECT_EQ(message(48, "#pragma D option strsize=8k\nBEGIN { alloca(49); }"), "alloca(49) size larger than scratchsize 48");
}

TEST(Compile, TellsHowStableAProgramIs) {
  const Source source{
      "x.d", "#pragma D attributes Unstable/Evolving/ISA shaky\ninline int shaky = 1;\npid1:::entry { trace(shaky); }", false};
  const CompileResult result = compile({&source, 1}, {});
  ASSERT_EQ(result.programs.size(), 1u);
  EXPECT_EQ(stability_report(source, result.programs[0]),
            "\nStability attributes for script x.d:\n"
            "\n\tMinimum Probe Description Attributes\n\t\tIdentifier Names: Evolving\n\t\tData Semantics:   Evolving\n"
            "\t\tDependency Class: ISA\n"
            "\n\tMinimum Statement Attributes\n\t\tIdentifier Names: Unstable\n\t\tData Semantics:   Evolving\n"
            "\t\tDependency Class: ISA\n\n");
}

TEST(Compile, ADescriptionWithoutItsProviderIsUnstable) {
  const auto attributes = [](const char* text) {
    const Source source{"", text, true};
    return dif::print(compile({&source, 1}, {}).programs.at(0).descriptions);
  };
  EXPECT_EQ(attributes("dtrace:::BEGIN { }"), "Stable/Stable/Common");
  EXPECT_EQ(attributes("BEGIN { }"), "Unstable/Unstable/Common");
  EXPECT_EQ(attributes("dtrac?:::BEGIN { }"), "Unstable/Unstable/Common");
  EXPECT_EQ(attributes("syscall:::entry { }"), "Evolving/Evolving/Common");
  EXPECT_EQ(attributes("syscall::write:entry { }"), "Unstable/Unstable/ISA");
  EXPECT_EQ(attributes("syscall::w*:entry { }"), "Evolving/Evolving/Common");
}

TEST(Compile, AProviderIsPrivateUntilAPragmaSaysMore) {
  const auto attributes = [](const std::string& text) {
    const Source source{"", "provider p { probe a(); }; " + text, true};
    return dif::print(compile({&source, 1}, {}).programs.at(0).descriptions);
  };
  EXPECT_EQ(attributes("p1:::a { }"), "Private/Private/Unknown");
  EXPECT_EQ(attributes("other1:::a { }"), "Private/Private/Unknown");
  EXPECT_EQ(attributes("\n#pragma D attributes Evolving/Stable/Common provider p provider\np1::: { }"), "Evolving/Stable/Common");
  EXPECT_EQ(attributes("\n#pragma D attributes Evolving/Stable/Common provider p provider\np1:::a { }"),
            "Private/Private/Unknown");
}

TEST(Compile, ThePragmaDoesNotChangeWhatTheCommandLineSays) {
  const Source source{"x.d", "#pragma D option strsize=20\nBEGIN /sizeof (string) == 40/ { }", false};
  CompileOptions options;
  options.string_size = 40, options.settled = {"strsize"};
  const CompileResult result = compile({&source, 1}, options);
  ASSERT_EQ(result.programs.size(), 1u);
  EXPECT_EQ(result.programs[0].program.clauses[0].predicate->difo.integers, std::vector<uint64_t>{1});
}

}  // namespace
}  // namespace dvm::compiler
