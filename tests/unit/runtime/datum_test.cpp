// Values without a format: columns of trace() and of keys.

#include "runtime/consumer/datum.h"

#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

struct Value {
  dif::DataType type;
  std::string bytes;
  Datum datum() const { return {&type, std::as_bytes(std::span(bytes))}; }
};

Value integer(int64_t value, unsigned size, bool is_signed = true) {
  return {{dif::TypeKind::integer, is_signed, false, size, ""}, {reinterpret_cast<const char*>(&value), size}};
}
Value string(const std::string& text) { return {{dif::TypeKind::string, false, false, 0, "string"}, text + '\0'}; }
Value raw(const std::string& bytes) {
  return {{dif::TypeKind::bytes, false, false, static_cast<uint32_t>(bytes.size()), ""}, bytes};
}

std::string traced(const Value& value, bool quiet = false) {
  std::string out;
  append_traced(out, value.datum(), {quiet, false, 0});
  return out;
}
std::string key(const Value& value) {
  std::string out;
  append_key(out, value.datum(), {});
  return out;
}

TEST(Trace, ColumnsBySizeAndSign) {
  EXPECT_EQ(traced(integer(-1, 8)), std::string(18, ' ') + "-1");
  EXPECT_EQ(traced(integer(-1, 8, false)), " 18446744073709551615");
  EXPECT_EQ(traced(integer(-1, 4)), "         -1");
  EXPECT_EQ(traced(integer(-1, 4, false)), " 4294967295");
  EXPECT_EQ(traced(integer(-1, 2)), "    -1");
  EXPECT_EQ(traced(integer(-1, 2, false)), " 65535");
  EXPECT_EQ(traced(integer(-1, 1)), "  -1");
  EXPECT_EQ(traced(integer(200, 1, false)), " 200");
}

Value floating(double value) {
  return {{dif::TypeKind::integer, false, false, 8, "double"}, {reinterpret_cast<const char*>(&value), 8}};
}
Value floating(float value) {
  return {{dif::TypeKind::integer, false, false, 4, "float"}, {reinterpret_cast<const char*>(&value), 4}};
}

TEST(Trace, FloatingPointIsNoInteger) {
  EXPECT_EQ(traced(floating(-1.5), true), "-1.5");
  EXPECT_EQ(traced(floating(2.5f), true), "2.5");
  EXPECT_EQ(traced(floating(-1.5)), std::string(17, ' ') + "-1.5");
  EXPECT_EQ(key(floating(0.25)), std::string(13, ' ') + "0.25");
}

TEST(Keys, NewlinesAndTabsAreNotEscaped) {
  EXPECT_EQ(key(string("\n  a\tb")), "  \n  a\tb" + std::string(44, ' '));
  EXPECT_EQ(key(string("a\033[1m")), "  a\\033[1m" + std::string(42, ' '));
}

TEST(Trace, QuietHasNoColumns) {
  EXPECT_EQ(traced(integer(-1, 4), true), "-1");
  EXPECT_EQ(traced(string("text"), true), "text");
}

TEST(Trace, Strings) {
  EXPECT_EQ(traced(string("text")), "  text" + std::string(29, ' '));
  EXPECT_EQ(traced(string(std::string(40, 'x'))), "  " + std::string(40, 'x'));
  EXPECT_EQ(traced(string("")), std::string(35, ' '));
}

TEST(Trace, BytesThatAreTextPrintAsText) {
  EXPECT_EQ(traced(raw(std::string("word\0\0\0", 7)), true), "word");
  EXPECT_EQ(traced(raw("all of it"), true), "all of it");
}

TEST(Trace, OtherBytesPrintAsADump) {
  EXPECT_EQ(traced(raw(std::string("A\0B\xff", 4)), true),
            "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
            "         0: 41 00 42 ff                                      A.B.\n");
}

TEST(Key, ColumnsBySize) {
  EXPECT_EQ(key(integer(-1, 8)), std::string(15, ' ') + "-1");
  EXPECT_EQ(key(integer(-1, 4)), "       -1");
  EXPECT_EQ(key(integer(-1, 2)), " 65535");
  EXPECT_EQ(key(integer(-1, 1)), " 255");
  EXPECT_EQ(key(string("k")), "  k" + std::string(49, ' '));
}

}  // namespace
}  // namespace dvm::runtime
