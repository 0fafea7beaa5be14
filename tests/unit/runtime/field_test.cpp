// Every flag, width and precision beside C's printf().

#include "runtime/consumer/field.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace dvm::runtime {
namespace {

constexpr int64_t kValues[] = {0, 1, -1, 7, 8, 42, -42, 255, 4096, 1234567, INT64_MAX, INT64_MIN, INT64_MIN + 1};
constexpr int kSizes[] = {-1, 0, 1, 2, 5, 9, 25};

std::string flags_of(const FormatField& field) {
  std::string flags = "%";
  if (field.is_left) flags += '-';
  if (field.has_zeros) flags += '0';
  if (field.has_plus) flags += '+';
  if (field.has_space) flags += ' ';
  if (field.is_alternate) flags += '#';
  return flags;
}

template <class T>
std::string by_c(const FormatField& field, const char* tail, T value) {
  std::string format = flags_of(field);
  if (field.width >= 0) format += std::to_string(field.width);
  if (field.precision >= 0) format += "." + std::to_string(field.precision);
  char text[128];
  std::snprintf(text, sizeof(text), (format + tail).c_str(), value);
  return text;
}

template <class Check>
void for_each_field(Check check) {
  for (unsigned flags = 0; flags < 32; flags++)
    for (int width : kSizes)
      for (int precision : kSizes)
        check(FormatField{width == 0 ? -1 : width, precision, (flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0,
                          (flags & 8) != 0, (flags & 16) != 0});
}

TEST(Field, DigitsAreAsManyAsArePrinted) {
  for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10)
    for (uint64_t value : {power - 1, power, power + 1}) EXPECT_EQ(decimal_digits(value), std::to_string(value).size()) << value;
  EXPECT_EQ(decimal_digits(UINT64_MAX), 20u);
}

TEST(Field, IntegersAreAsInC) {
  for_each_field([](const FormatField& field) {
    for (int64_t value : kValues) {
      std::string out[5];
      append_signed(out[0], field, value);
      EXPECT_EQ(out[0], by_c(field, "lld", static_cast<long long>(value)));
      const auto number = static_cast<uint64_t>(value);
      append_unsigned(out[1], field, number);
      FormatField without_sign = field;
      without_sign.has_plus = without_sign.has_space = false;
      EXPECT_EQ(out[1], by_c(without_sign, "llu", static_cast<unsigned long long>(number)));
      append_unsigned(out[2], field, number, Base::octal);
      EXPECT_EQ(out[2], by_c(without_sign, "llo", static_cast<unsigned long long>(number)));
      append_unsigned(out[3], field, number, Base::hex);
      EXPECT_EQ(out[3], by_c(without_sign, "llx", static_cast<unsigned long long>(number)));
      append_unsigned(out[4], field, number, Base::upper_hex);
      EXPECT_EQ(out[4], by_c(without_sign, "llX", static_cast<unsigned long long>(number)));
    }
  });
}

TEST(Field, TextIsAsInC) {
  for_each_field([](FormatField field) {
    field.has_zeros = field.has_plus = field.has_space = field.is_alternate = false;  // C leaves them undefined
    for (const char* text : {"", "t", "twelve chars"}) {
      std::string out;
      append_text(out, field, text);
      EXPECT_EQ(out, by_c(field, "s", text));
    }
  });
}

TEST(Field, AddsToWhatIsThere) {
  std::string out = "a ";
  append_signed(out, {.width = 4}, -7);
  append_text(out, {.width = 3, .is_left = true}, "b");
  EXPECT_EQ(out, "a   -7b  ");
}

}  // namespace
}  // namespace dvm::runtime
