// Stacks and symbols as text, of this very process.
#include "runtime/consumer/made.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/consumer/aggregation.h"

namespace dvm::runtime {

__attribute__((noinline, used)) int named_for_symbols(int a) { return a + 1; }

namespace {

class Made : public testing::Test {
 protected:
  std::string text(dif::Action maker, const std::vector<uint64_t>& words, int indent = 14) {
    std::string out;
    MadePrinter(symbols_).append(out, datum(maker, words), indent);
    return out;
  }
  Datum datum(dif::Action maker, const std::vector<uint64_t>& words) {
    words_ = words;
    return {&type_, std::as_bytes(std::span(words_)), maker};
  }

  const uint64_t pid_ = static_cast<uint64_t>(getpid());
  const uint64_t function_ = reinterpret_cast<uint64_t>(&named_for_symbols);
  dif::DataType type_{dif::TypeKind::bytes, false, false, 16, ""};
  std::vector<uint64_t> words_;
  UserSymbols symbols_;
};

TEST_F(Made, AStackIsItsLinesUpToAZero) {
  EXPECT_EQ(text(dif::Action::ustack, {pid_, function_, function_ + 2, 0x10, 0, 0}),
            "\n              runtime_test`dvm::runtime::named_for_symbols\n"
            "              runtime_test`dvm::runtime::named_for_symbols+0x2\n"
            "              0x10\n");
  EXPECT_EQ(text(dif::Action::ustack, {pid_, 0x10, 0x20}, 2), "\n  0x10\n  0x20\n");
  EXPECT_EQ(text(dif::Action::stack, {pid_, 0}), "\n");
}

TEST_F(Made, SymbolsAreAColumn) {
  EXPECT_EQ(text(dif::Action::usym, {pid_, function_ + 1}), "  runtime_test`dvm::runtime::named_for_symbols      ");
  EXPECT_EQ(text(dif::Action::uaddr, {pid_, function_ + 1}), "  runtime_test`dvm::runtime::named_for_symbols+0x1  ");
  EXPECT_EQ(text(dif::Action::umod, {pid_, function_ + 1}).substr(0, 15), "  runtime_test ");
  EXPECT_EQ(text(dif::Action::umod, {pid_, 0x10}).substr(0, 7), "  0x10 ");
}

TEST_F(Made, AnUnknownProcessHasAddressesOnly) { EXPECT_EQ(text(dif::Action::ustack, {999'999'999, 0xabc}, 1), "\n 0xabc\n"); }

}  // namespace
}  // namespace dvm::runtime
