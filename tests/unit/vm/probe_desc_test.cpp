// Fields and macros of probe descriptions.

#include "dvm/dif/probe_desc.h"

#include <gtest/gtest.h>

namespace dvm::dif {
namespace {

std::string fields(std::string_view text) {
  const auto desc = parse_probe_desc(text);
  return desc ? spell(*desc) : "none";
}

TEST(ProbeDesc, FieldsAreMissingOnTheLeft) {
  EXPECT_EQ(fields("BEGIN"), ":::BEGIN");
  EXPECT_EQ(fields("main:entry"), "::main:entry");
  EXPECT_EQ(fields("libc:malloc:entry"), ":libc:malloc:entry");
  EXPECT_EQ(fields("pid12:libc:malloc:"), "pid12:libc:malloc:");
  EXPECT_EQ(fields(""), ":::");
  EXPECT_EQ(fields("a:b:c:d:e"), "none");
}

TEST(ProbeDesc, QuotesTakeEveryCharacter) {
  const auto desc = parse_probe_desc("pid1:a.out:\"ns::max<int, long>(int)\":entry");
  ASSERT_TRUE(desc);
  EXPECT_EQ(desc->function, "ns::max<int, long>(int)");
  EXPECT_EQ(desc->module, "a.out");
  EXPECT_EQ(spell(*desc), "pid1:a.out:\"ns::max<int, long>(int)\":entry");
  EXPECT_EQ(fields("a\"::\"b:entry"), "::\"a::b\":entry");
  EXPECT_EQ(fields("\"f\":entry"), "::f:entry");
  EXPECT_EQ(fields("\"a:b"), ":::\"a:b\"");
}

TEST(ProbeDesc, SplitsOutsideQuotes) {
  EXPECT_EQ(split_fields("a:\"b:c\":").size(), 3U);
  EXPECT_EQ(split_fields("").size(), 1U);
  EXPECT_EQ(find_unquoted("\"a{\" {", "{"), 5U);
  EXPECT_EQ(find_unquoted("\"a{\"", "{"), std::string_view::npos);
}

std::string expanded(std::string_view text) {
  std::string asked;
  const auto value = [&](std::string_view name, size_t at) -> std::optional<std::string> {
    asked += std::string(name) + "@" + std::to_string(at) + " ";
    if (name == "nothing") return {};
    return name == "target" ? "77" : "<" + std::string(name) + ">";
  };
  const auto result = expand_macros(text, value);
  return asked + (result ? *result : "none");
}

TEST(ProbeDesc, MacrosRunOverWordsAndNumbersOverDigits) {
  EXPECT_EQ(expanded("no macro"), "no macro");
  EXPECT_EQ(expanded("pid$target:$1foo:a$2$3:b"), "target@3 1@11 2@18 3@20 pid77:<1>foo:a<2><3>:b");
  EXPECT_EQ(expanded("a$:$-b$"), "a$:$-b$");
  EXPECT_EQ(expanded("pid$1:\"$2\":$3"), "1@3 3@11 pid<1>:\"$2\":<3>");
  EXPECT_EQ(expanded("x$nothing:$1"), "nothing@1 none");
}

}  // namespace
}  // namespace dvm::dif
