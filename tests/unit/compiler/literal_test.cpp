// Literals, formats and types, without a script around them.

#include "compiler/parse/literal.h"

#include <gtest/gtest.h>

#include <tuple>

#include "compiler/sema/fold_constants.h"
#include "compiler/sema/format.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {
namespace {

class Literal : public testing::Test {
 protected:
  Literal() { diagnostics_.set_source(&file_); }
  uint64_t integer(std::string_view text) { return parse_integer(text, {}, diagnostics_)->value; }
  uint64_t character(std::string_view text) { return parse_character(text, {}, diagnostics_)->value; }
  std::string tag() const { return list_.empty() ? "" : list_.back().tag; }

  Source source_{"x.d", "x", false};
  SourceFile file_{source_};
  std::vector<Diagnostic> list_;
  Diagnostics diagnostics_{list_};
};

TEST_F(Literal, Integers) {
  EXPECT_EQ(integer("0"), 0u);
  EXPECT_EQ(integer("42"), 42u);
  EXPECT_EQ(integer("0x1F"), 31u);
  EXPECT_EQ(integer("017"), 15u);
  EXPECT_EQ(integer("10ULL"), 10u);
  EXPECT_EQ(integer("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(tag(), "");
}

TEST_F(Literal, SuffixesSayTheType) {
  for (const auto& [text, is_unsigned, is_long] :
       {std::tuple{"1", false, false}, {"1u", true, false}, {"1L", false, true}, {"1ul", true, true}, {"1ll", false, true}}) {
    const auto made = parse_integer(text, {}, diagnostics_);
    EXPECT_EQ(made->is_unsigned, is_unsigned) << text;
    EXPECT_EQ(made->is_long, is_long) << text;
  }
}

TEST_F(Literal, BadIntegers) {
  for (const auto& [text, expected] : {std::pair{"08", "D_INT_DIGIT"},
                                       {"12x", "D_INT_DIGIT"},
                                       {"0xg", "D_INT_DIGIT"},
                                       {"18446744073709551616", "D_INT_OFLOW"},
                                       {"0x", "D_INT_DIGIT"},
                                       {"1lu", "D_INT_DIGIT"},
                                       {"1ulu", "D_INT_DIGIT"},
                                       {"1lll", "D_INT_DIGIT"}}) {
    list_.clear();
    integer(text);
    EXPECT_EQ(tag(), expected) << text;
  }
}

TEST_F(Literal, Characters) {
  EXPECT_EQ(character("'a'"), 'a');
  EXPECT_EQ(character("'\\n'"), '\n');
  EXPECT_EQ(character("'\\101'"), 'A');
  EXPECT_EQ(character("'\\x41'"), 'A');
  EXPECT_EQ(character("'ab'"), 0x6162u);
  EXPECT_EQ(character("'\\''"), 0x5c27u);
  EXPECT_EQ(character("'\\377'"), 255u);
  EXPECT_EQ(character("'\\0'"), 0u);
  EXPECT_EQ(character("'a\\0b'"), 0x610062u);
  EXPECT_EQ(character("'\\q'"), 0x5c71u);
}

TEST(Unescape, Strings) {
  EXPECT_EQ(unescape("\"tab\\tq\\\"\\\\\""), "tab\tq\"\\");
  EXPECT_EQ(unescape("\"oct\\101\""), "octA");
  EXPECT_EQ(unescape("\"a\\0b\""), "a");
  EXPECT_EQ(unescape("\"\\q\""), "\\q");
  EXPECT_EQ(unescape("\"a\\xb\""), "a\v");
  EXPECT_EQ(unescape("\"a\\xg\""), "a");
  EXPECT_EQ(unescape("\"\\1018\""), "A8");
  EXPECT_EQ(unescape("\"\\1011\""), "A1");
  EXPECT_EQ(unescape("\"\?\?/\""), "\?\?/");
  EXPECT_EQ(unescape("\"\""), "");
}

TEST(Format, Conversions) {
  std::vector<Conversion> c;
  std::string reason;
  ASSERT_TRUE(parse_format("%d %% [%-5s] %*.*lld %@u", c, reason));
  ASSERT_EQ(c.size(), 4u);
  EXPECT_EQ(c[0].name, "d");
  EXPECT_EQ(c[1].letter, 's');
  EXPECT_TRUE(c[2].dynamic_width && c[2].dynamic_precision);
  EXPECT_EQ(c[2].name, "lld");
  EXPECT_TRUE(c[3].is_aggregation);
  c.clear();
  EXPECT_FALSE(parse_format("%d %5", c, reason));
  EXPECT_EQ(reason, "format conversion #2 name expected before end of format string");
  c.clear();
  ASSERT_TRUE(parse_format("%8@d %-10@lld", c, reason));
  EXPECT_TRUE(c[0].is_aggregation && c[1].is_aggregation);
  EXPECT_EQ(c[1].name, "lld");
  EXPECT_FALSE(parse_format("%**d", c, reason));
  EXPECT_NE(reason.find("more than one '*'"), std::string::npos);
}

TEST(Types, Constants) {
  const TypeTable types;
  EXPECT_EQ(types.of_constant(2147483647, true, false, false)->name, "int");
  EXPECT_EQ(types.of_constant(2147483648, true, false, false)->name, "long");
  EXPECT_EQ(types.of_constant(2147483648, false, false, false)->name, "unsigned int");
  EXPECT_EQ(types.of_constant(UINT64_MAX, true, false, false)->name, "unsigned long");
  EXPECT_EQ(types.of_constant(1, true, true, false)->name, "unsigned int");
  EXPECT_EQ(types.of_constant(1, true, false, true)->name, "long");
}

TEST(Types, Conversions) {
  TypeTable types;
  const auto common = [&](const char* a, const char* b) { return types.common(types.basic(a), types.basic(b))->name; };
  EXPECT_EQ(common("char", "short"), "short");
  EXPECT_EQ(common("unsigned char", "char"), "unsigned char");
  EXPECT_EQ(common("_Bool", "char"), "int");
  EXPECT_EQ(common("int", "unsigned int"), "unsigned int");
  EXPECT_EQ(common("unsigned int", "long"), "long");
  EXPECT_EQ(common("long", "unsigned long"), "unsigned long");
  EXPECT_EQ(types.pointer_to(types.pointer_to(types.basic("int")))->name, "int **");
  EXPECT_EQ(types.pointer_to(types.basic("int")), types.pointer_to(types.basic("int")));
  EXPECT_EQ(types.array_of(types.array_of(types.basic("int"), 3), 2)->name, "int [2][3]");
  EXPECT_EQ(data_type(types.basic("uint16_t")), (dif::DataType{dif::TypeKind::integer, false, false, 2, "uint16_t"}));
}

TEST(Types, Wrap) {
  const TypeTable types;
  EXPECT_EQ(wrap(0x1ff, types.basic("int8_t")), UINT64_MAX);
  EXPECT_EQ(wrap(0x1ff, types.basic("uint8_t")), 0xffu);
  EXPECT_EQ(wrap(0x80000000, types.basic("int")), 0xffffffff80000000u);
  EXPECT_EQ(wrap(5, types.basic("_Bool")), 1u);
}

// A word that prototype_type() does not know would silently accept anything.
TEST(Tables, EveryPrototypeIsUnderstood) {
  const TypeTable types;
  for (const dif::SubroutineInfo& row : dif::kSubroutines) {
    EXPECT_NE(prototype_type(row.result, types), nullptr) << row.name;
    for (const Type* t : prototype_of(row.arguments, types).types) EXPECT_NE(t, nullptr) << row.name;
  }
  EXPECT_EQ(prototype_of(dif::ArgumentList("string int int?"), types).required, 2u);
  EXPECT_EQ(prototype_of(dif::ArgumentList(""), types).types.size(), 0u);
}

}  // namespace
}  // namespace dvm::compiler
