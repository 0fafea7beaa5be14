// Values of options as dtrace reads them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dvm/dif/option.h"
#include "dvm/dif/stability.h"

namespace dvm::dif {

namespace {

std::string set(Options& options, std::string_view name, std::string_view value) {
  const Status status = options.set(name, value);
  return status ? "" : status.error().message;
}

int64_t after(std::string_view name, Option option, std::string_view value) {
  Options options;
  EXPECT_EQ(set(options, name, value), "") << name << '=' << value;
  return options[option];
}

constexpr const char* kInvalid = "Invalid value for specified option";

TEST(Options, StartAtTheirStandards) {
  const Options options;
  EXPECT_EQ(options[Option::strsize], 256);
  EXPECT_EQ(options[Option::bufsize], 4 << 20);
  EXPECT_EQ(options[Option::switchrate], 1'000'000'000);
  EXPECT_EQ(options[Option::quiet], 0);
}

TEST(Options, TextsAreKeptInOrder) {
  Options options;
  EXPECT_EQ(set(options, "libdir", "/a"), "");
  EXPECT_EQ(set(options, "libdir", "/b"), "");
  EXPECT_THAT(options.texts(Option::libdir), testing::ElementsAre("/a", "/b"));
  EXPECT_TRUE(options.texts(Option::syslibdir).empty());
  EXPECT_EQ(set(options, "syslibdir", ""), kInvalid);
}

TEST(Options, VersionsAndAttributesAreThoseThatExist) {
  EXPECT_EQ(after("version", Option::version, "1.2.1"), 1 << 24 | 2 << 12 | 1);
  EXPECT_EQ(after("amin", Option::amin, "Evolving/Stable/Common"), pack(Attributes{5, 6, 5}));
  Options options;
  EXPECT_EQ(options[Option::version], kNewestVersion);
  for (const char* wrong : {"", "1", "1.2.1.1", "1.x"})
    EXPECT_EQ(set(options, "version", wrong), "Version is not properly formatted or is too large") << wrong;
  for (const char* unknown : {"1.99", "3.0"})
    EXPECT_EQ(set(options, "version", unknown), "Requested version is not supported by compiler") << unknown;
  for (const char* wrong : {"", "Stable", "Stable/Stable", "Stable/Stable/Stable"})
    EXPECT_EQ(set(options, "amin", wrong), kInvalid) << wrong;
}

TEST(Options, SizesTakeSuffixes) {
  EXPECT_EQ(after("strsize", Option::strsize, "8"), 8);
  EXPECT_EQ(after("bufsize", Option::bufsize, "64k"), 64 << 10);
  EXPECT_EQ(after("bufsize", Option::bufsize, "4M"), 4 << 20);
  EXPECT_EQ(after("bufsize", Option::bufsize, "2g"), int64_t{2} << 30);
  EXPECT_EQ(after("bufsize", Option::bufsize, "1t"), int64_t{1} << 40);
  EXPECT_EQ(after("bufsize", Option::bufsize, "0x10"), 16);
}

TEST(Options, BadSizesAreRefused) {
  Options options;
  for (const char* value : {"", "x", "4q", "4kk", "-1", "4 k", "99999999999999999999", "9999999999t", "1hz"})
    EXPECT_EQ(set(options, "bufsize", value), kInvalid) << value;
  EXPECT_EQ(options[Option::bufsize], 4 << 20);
}

TEST(Options, HintsAreNearNamesOrWhatAnOptionTakes) {
  EXPECT_EQ(option_hints("bufsiz").front(), "did you mean 'bufsize'?");
  EXPECT_EQ(option_hints("strsize").front(), "strsize takes a size: bytes, or with a suffix k, m, g, t, at least 2, at most 1048576");
  EXPECT_EQ(option_hints("quiet").front(), "quiet takes nothing, on or off");
  EXPECT_TRUE(option_hints("nothing_like_it").empty());
}

TEST(Options, SomeSizesHaveALimit) {
  Options options;
  EXPECT_EQ(set(options, "strsize", "1m"), "");
  EXPECT_EQ(set(options, "strsize", "1025k"), kInvalid);
  EXPECT_EQ(set(options, "strsize", "1"), kInvalid);
  for (const char* moment : {"exec", "preinit", "postinit", "main"}) EXPECT_EQ(set(options, "evaltime", moment), "");
  EXPECT_EQ(set(options, "evaltime", "later"), kInvalid);
  EXPECT_EQ(set(options, "stdc", "a"), "");
  EXPECT_EQ(set(options, "stdc", "b"), kInvalid);
  EXPECT_EQ(set(options, "pspec", ""), "");
  EXPECT_EQ(set(options, "dynvarsize", "1g"), "");
  EXPECT_EQ(set(options, "dynvarsize", "2g"), kInvalid);
  EXPECT_EQ(set(options, "bufsize", "2g"), "");
}

TEST(Options, RatesAreTimesOrFrequencies) {
  constexpr int64_t kSecond = 1'000'000'000;
  EXPECT_EQ(after("switchrate", Option::switchrate, "10"), kSecond / 10);
  EXPECT_EQ(after("switchrate", Option::switchrate, "10hz"), kSecond / 10);
  EXPECT_EQ(after("switchrate", Option::switchrate, "250ms"), kSecond / 4);
  EXPECT_EQ(after("switchrate", Option::switchrate, "7ns"), 7);
  EXPECT_EQ(after("switchrate", Option::switchrate, "7us"), 7000);
  EXPECT_EQ(after("switchrate", Option::switchrate, "5s"), 5 * kSecond);
  EXPECT_EQ(after("switchrate", Option::switchrate, "5sec"), 5 * kSecond);
  EXPECT_EQ(after("switchrate", Option::switchrate, "2m"), 120 * kSecond);
  EXPECT_EQ(after("switchrate", Option::switchrate, "1h"), 3600 * kSecond);
  EXPECT_EQ(after("switchrate", Option::switchrate, "1d"), 86400 * kSecond);
  for (const char* always : {"0", "0hz", "0ms"}) EXPECT_EQ(after("switchrate", Option::switchrate, always), 0) << always;
}

TEST(Options, BadRatesAreRefused) {
  Options options;
  for (const char* value : {"", "fast", "10k", "2000000000hz", "999999999999d"})
    EXPECT_EQ(set(options, "aggrate", value), kInvalid) << value;
}

TEST(Options, FlagsAreOnWithoutAValue) {
  for (const char* value : {"", "on", "enable", "1", "yes", "true", "ENABLE"})
    EXPECT_EQ(after("quiet", Option::quiet, value), 1) << value;
  Options options;
  for (const char* value : {"off", "disable", "0", "no", "false"}) {
    EXPECT_EQ(set(options, "quiet", ""), "");
    EXPECT_EQ(set(options, "quiet", value), "");
    EXPECT_EQ(options[Option::quiet], 0) << value;
  }
  EXPECT_EQ(set(options, "quiet", "2"), "");
  EXPECT_EQ(set(options, "quiet", "hardly"), kInvalid);
}

TEST(Options, SomeTakeNoValue) {
  EXPECT_EQ(after("errtags", Option::errtags, ""), 1);
  Options options;
  for (const char* value : {"1", "on", "0"}) EXPECT_EQ(set(options, "zdefs", value), kInvalid) << value;
}

TEST(Options, ScratchIsCountedInWords) {
  Options options;
  EXPECT_EQ(scratch_size(options), 64u << 10);
  EXPECT_EQ(set(options, "strsize", "8k"), "");
  EXPECT_EQ(scratch_size(options), 128u << 10);
  EXPECT_EQ(set(options, "scratchsize", "41"), "");
  EXPECT_EQ(scratch_size(options), 48u);
}

TEST(Options, UnknownNamesAreRefused) {
  Options options;
  EXPECT_EQ(set(options, "nosuchoption", ""), "Invalid option name");
  EXPECT_EQ(set(options, "", ""), "Invalid option name");
}

TEST(Options, WordsAreOfTheirKind) {
  EXPECT_EQ(after("bufresize", Option::bufresize, "auto"), 0);
  EXPECT_EQ(after("late", Option::late, "static"), 1);
  Options options;
  for (const char* wrong : {"", "manua", "Auto", "auto manual", "ring"})
    EXPECT_EQ(set(options, "bufresize", wrong), kInvalid) << wrong;
}

TEST(Options, SomeAreForTheCommandLineOrForTheStartOnly) {
  constexpr const char* kInProgram = "Option cannot be used from within a D program";
  constexpr const char* kTooLate = "Operation illegal when tracing is active";
  const auto set_from = [](std::string_view name, std::string_view value, OptionTime from) {
    Options options;
    const Status status = options.set(name, value, from);
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(set_from("define", "X", OptionTime::program), kInProgram);
  EXPECT_EQ(set_from("bufsize", "1m", OptionTime::program), "");
  EXPECT_EQ(set_from("bufsize", "1m", OptionTime::dynamic), kTooLate);
  EXPECT_EQ(set_from("aggrate", "1ms", OptionTime::dynamic), "");
}

// What a row promises must hold: its standard value is one that it takes, or none.
TEST(Options, EveryRowHasAKindThatTakesItsStandard) {
  for (const OptionInfo& row : kOptions) {
    EXPECT_FALSE(row.text.empty()) << row.name;
    EXPECT_TRUE(row.most < 0 || row.standard <= row.most) << row.name;
    EXPECT_EQ(find_option(row.name), &row);
  }
}

TEST(Options, WhatIsUnsupportedSaysWhy) {
  Options options;
  EXPECT_EQ(set(options, "grabanon", ""), "dvm does not run while the system boots");
  EXPECT_EQ(set(options, "iregs", "8"), "");
  EXPECT_EQ(set(options, "iregs", "9"), "DIF has eight registers here");
  EXPECT_EQ(set(options, "bufpolicy", "switch"), "");
  EXPECT_EQ(set(options, "bufpolicy", "other"), kInvalid);
}

}  // namespace

}  // namespace dvm::dif
