#include "cmd/specifier.h"

#include <gtest/gtest.h>

namespace dvm::cmd {
namespace {

enum Form : size_t { kProvider, kModule, kFunction };

std::string completed(Form last, const std::string& text) {
  const Result<std::string> all = complete_descriptions(text, last);
  return all ? *all : all.error().message;
}

TEST(Specifier, CompletesTheDescriptionsOfEachClause) {
  EXPECT_EQ(completed(kProvider, "dtrace { } syscall { }"), "dtrace::: { } syscall::: { }");
  EXPECT_EQ(completed(kModule, "libc,libm/arg0/ { } a:ld, :x{ }"), "libc::,libm::/arg0/ { } a:ld::, :x::{ }");
  EXPECT_EQ(completed(kFunction, "read /* all */ { }\n\twrite"), "read: /* all */ { }\n\twrite:");
}

TEST(Specifier, FindsTheEndOfAClause) {
  EXPECT_EQ(completed(kProvider, R"(a { if (x) { trace("}\" {"); } /* } */ trace('}'); } b { })"),
            R"(a::: { if (x) { trace("}\" {"); } /* } */ trace('}'); } b::: { })");
  EXPECT_EQ(completed(kProvider, R"(a /execname == "}{"/ { } b { })"), R"(a::: /execname == "}{"/ { } b::: { })");
  EXPECT_EQ(completed(kProvider, "a { } } { \" '"), "a::: { } }::: { \" '");
}

TEST(Specifier, LeavesDeclarationsAlone) {
  const std::string between = "\n#pragma D option quiet\n/* b { } */ int n; struct s { int a; }; inline int h = 4 / 2; ";
  EXPECT_EQ(completed(kProvider, between + "a { }" + between + "b { }"), between + "a::: { }" + between + "b::: { }");
  EXPECT_EQ(completed(kFunction, "union, const { }"), "union:, const: { }");
}

TEST(Specifier, TypesWithoutNamesAreNoDescriptions) {
  const std::string declarations =
      "struct { int a; } v, *w; union{ int a; struct { char b; } c; }\nl[2]; enum { A, B = 4 / 2 }; ";
  EXPECT_EQ(completed(kProvider, declarations + "a { }"), declarations + "a::: { }");
  EXPECT_EQ(completed(kFunction, "struct { } union, read { } enum { } int n;"), "struct: { } union:, read: { } enum: { } int n;");
}

TEST(Specifier, RefusesTooManyFieldsInAnyClause) {
  EXPECT_EQ(completed(kProvider, "a { } b:c:d { }"),
            "invalid probe specifier a { } b:c:d { }: invalid probe description \"b:c:d\": Overspecified probe description");
  EXPECT_EQ(completed(kFunction, "a { } 7 { }"),
            "invalid probe specifier a { } 7 { }: probe identifier 7 not permitted when specifying functions");
}

}  // namespace
}  // namespace dvm::cmd
