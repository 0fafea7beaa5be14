// Conversions, flags, widths and precisions of printf().

#include "runtime/consumer/printf.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace dvm::runtime {
namespace {

dif::DataType integer(unsigned size, bool is_signed = true) { return {dif::TypeKind::integer, is_signed, false, size, ""}; }
const dif::DataType kText{dif::TypeKind::string, false, false, 0, "string"};

struct Argument {
  dif::DataType type;
  std::string bytes;
  Argument(int64_t value, const dif::DataType& t = integer(8)) : type(t), bytes(reinterpret_cast<const char*>(&value), t.size) {}
  Argument(const char* text) : type(kText), bytes(std::string(text) + '\0') {}
  explicit Argument(std::string_view raw)
      : type{dif::TypeKind::bytes, false, false, static_cast<uint32_t>(raw.size()), ""}, bytes(raw) {}
};

std::string format(const std::string& text, const std::vector<Argument>& arguments) {
  Result<PrintfFormat> parsed = PrintfFormat::parse(text);
  if (!parsed) return "error: " + parsed.error().message;
  std::vector<Datum> data;
  for (const Argument& a : arguments) data.push_back({&a.type, std::as_bytes(std::span(a.bytes))});
  std::string out;
  UserSymbols symbols;
  append_formatted(out, *parsed, data, MadePrinter(symbols));
  return out;
}

TEST(Printf, ModifiersInAnyOrder) {
  EXPECT_EQ(format("[%8+d][%6-d][%08d][%-08d][%0-8d]", {7, 7, 7, 7, 7}), "[      +7][7     ][00000007][7       ][7       ]");
  EXPECT_EQ(format("[%*-d][%8@x]", {6, 7, 255}), "[7     ][      ff]");
}

TEST(Printf, APrecisionOf0IsNone) {
  EXPECT_EQ(format("[%.0s][%.s][%.*s][%.1s]", {"abc", "abc", int64_t{0}, "abc", "abc"}), "[abc][abc][abc][a]");
}

TEST(Printf, TextAndPercent) {
  EXPECT_EQ(format("no conversion", {}), "no conversion");
  EXPECT_EQ(format("100%% of %d%%", {7}), "100% of 7%");
  EXPECT_EQ(format("", {}), "");
}

TEST(Printf, DecimalsHaveSizeAndSignOfTheirType) {
  EXPECT_EQ(format("%d", {{-5, integer(1)}}), "-5");
  EXPECT_EQ(format("%d", {{-5, integer(1, false)}}), "251");
  EXPECT_EQ(format("%d %i", {{-2, integer(2)}, {-2, integer(2, false)}}), "-2 65534");
  EXPECT_EQ(format("%ld", {INT64_MIN}), "-9223372036854775808");
  EXPECT_EQ(format("%d", {{-1, integer(8, false)}}), "18446744073709551615");
  EXPECT_EQ(format("%hd %lld %hhd", {1, 2, 3}), "1 2 3");
}

TEST(Printf, LengthsSayNothingAndAQuestionMarkIsAnAddressWide) {
  EXPECT_EQ(format("%Ld %wd", {1, 2}), "1 2");
  EXPECT_EQ(format("[%?x] [%0?x]", {0xabc, 0xabc}), "[             abc] [0000000000000abc]");
}

TEST(Printf, UnsignedConversionsTakeTheBytesOfTheType) {
  EXPECT_EQ(format("%u", {{-1, integer(4)}}), "4294967295");
  EXPECT_EQ(format("%x %X %o", {{-1, integer(1)}, {0xabc, integer(4)}, {64, integer(4)}}), "ff ABC 100");
  EXPECT_EQ(format("%#x %#o", {{17, integer(4)}, {17, integer(4)}}), "0x11 021");
  EXPECT_EQ(format("%p", {0x7f0012345678}), "7f0012345678");
}

TEST(Printf, FlagsWidthAndPrecision) {
  EXPECT_EQ(format("<%6d><%-6d><%06d><%+d>< % d>", {42, 42, 42, 42, 42}), "<    42><42    ><000042><+42><  42>");
  EXPECT_EQ(format("<%.4d><%7.4d>", {42, 42}), "<0042><   0042>");
  EXPECT_EQ(format("<%*d><%*d><%.*d>", {5, 9, -5, 9, 3, 9}), "<    9><9    ><009>");
  EXPECT_EQ(format("%'d", {1234567}), "1234567");
}

TEST(Printf, Strings) {
  EXPECT_EQ(format("<%s><%5s><%-5s><%.2s><%4.1s>", {"tea", "tea", "tea", "tea", "tea"}), "<tea><  tea><tea  ><te><   t>");
  EXPECT_EQ(format("<%*s>", {5, "tea"}), "<  tea>");
  EXPECT_EQ(format("%S", {"a\n\"b\"\\\x01"}), "a\\n\\\"b\\\"\\\\\\001\\0");
}

TEST(Printf, Characters) {
  EXPECT_EQ(format("%c%c", {'o', {'k', integer(1)}}), "ok");
  EXPECT_EQ(format("<%3c>", {'x'}), "<  x>");
  EXPECT_EQ(format("%C", {'\t'}), "\\t");
  EXPECT_EQ(format("%c", {int64_t{0}}), std::string(1, '\0'));
}

TEST(Printf, Times) {
  setenv("TZ", "UTC", 1);
  tzset();
  EXPECT_EQ(format("%Y", {int64_t{981173106} * 1'000'000'000}), "2001 Feb  3 04:05:06");
  EXPECT_EQ(format("%T", {int64_t{981173106} * 1'000'000'000}), "Sat, 03 Feb 2001 04:05:06 UTC");
}

template <class T>
Argument bytes_of(const T& value) {
  return Argument(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
}

TEST(Printf, WideCharactersAreUtf8) {
  EXPECT_EQ(format("%wc%lc", {{0x20ac, integer(4)}, {'A', integer(4)}}), "\u20acA");
  EXPECT_EQ(format("<%ws><%4ls>", {bytes_of(U"\u00e9\U0001f600"), bytes_of(U"x")}), "<\u00e9\U0001f600><   x>");
}

TEST(Printf, FloatingPointHasTheSizeOfItsType) {
  EXPECT_EQ(format("%f %.1e %g %G", {bytes_of(1.5f), bytes_of(0.25), bytes_of(1e20), bytes_of(1e-20)}),
            "1.500000 2.5e-01 1e+20 1E-20");
}

TEST(Printf, ServicesAndHostsWithoutAName) {
  EXPECT_EQ(format("%P", {{0xfffe, integer(2, false)}}), "65534");
  EXPECT_EQ(format("%I", {"no address"}), "no address");
}

TEST(Printf, MissingArgumentsPrintNothing) { EXPECT_EQ(format("<%d><%s>", {1}), "<1><>"); }

TEST(Printf, UnknownConversionsAreRefused) {
  EXPECT_EQ(format("%q", {1}), "error: a format has no conversion '%q'");
  EXPECT_EQ(format("at the end %", {1}), "error: a format has no conversion '%'");
  EXPECT_EQ(format("%5", {1}), "error: a format has no conversion '%'");
}

TEST(Printf, AbsurdWidthsAreCut) {
  EXPECT_EQ(format("%99999999999999999999d", {1}).size(), 65535u);
  EXPECT_EQ(format("%*d", {INT64_MAX, 1}).size(), 65535u);
  EXPECT_EQ(format("%*d", {INT64_MIN, 1}).size(), 65535u);
}

}  // namespace
}  // namespace dvm::runtime
