// Profiles as files: what is read is what was written, and what is wrong is named.

#include "runtime/cost/profile_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "runtime/cost/rows.h"

namespace dvm::runtime {
namespace {

std::string with_prices(const std::string& prices) {
  return R"({"dvm_profile": 1, "name": "p", "machine": "m", "clock_hz": 1e9, "prices": )" + prices + "}";
}

Result<vm::Profile> parse(const std::string& text) {
  std::vector<std::string> warnings;
  return parse_profile(text, "p.json", warnings);
}

std::string error_of(const std::string& text) {
  const auto profile = parse(text);
  return profile ? "" : profile.error().message;
}

TEST(ProfileFile, WhatWasWrittenIsRead) {
  vm::Profile profile;
  profile.name = "here";
  profile.machine = "this \"one\"";
  profile.made_on = {"a CPU", "a kernel", "1.0", "0123abcd"};
  profile.clock_hz = 2.6e9;
  profile.core_speed = 1.25;
  profile.quiet_core = {113.5, 148.25};
  profile.disturbed = 0.125;
  profile.set("opcode/add"_row, {1.25, 0, 0.5});
  profile.set("source/pid/trigger"_row, {900, 0, 10});
  profile.set("consumer/copy"_row, {0, 0.1, 0});
  const auto read = parse(profile_text(profile));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->name, profile.name);
  EXPECT_EQ(read->machine, profile.machine);
  EXPECT_EQ(read->made_on, profile.made_on);
  EXPECT_EQ(read->clock_hz, profile.clock_hz);
  EXPECT_EQ(read->core_speed, profile.core_speed);
  EXPECT_EQ(read->quiet_core, profile.quiet_core);
  EXPECT_EQ(read->disturbed, profile.disturbed);
  EXPECT_EQ(read->prices(), profile.prices());
}

TEST(ProfileFile, WhatFollowsAZeroIsNoPartOfIt) {
  using namespace std::string_literals;
  EXPECT_TRUE(error_of("8\0\"name\":1"s).starts_with("p.json:1:2: a byte is 0"));
  EXPECT_TRUE(error_of("{\n}\0"s).starts_with("p.json:2:2: a byte is 0"));
}

TEST(ProfileFile, OneWithoutPricesIsRead) {
  vm::Profile profile;
  profile.clock_hz = 1;
  const auto read = parse(profile_text(profile));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->prices().empty());
}

TEST(ProfileFile, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of("{\n \"dvm_profile\": 1,\n \"name\"").substr(0, 11), "p.json:3:8:");
  EXPECT_NE(error_of("{\n \"dvm_profile\": 1,\n \"name\"").find("\n   \"name\"\n"), std::string::npos);
  EXPECT_NE(error_of("").find("p.json:1:1:"), std::string::npos);
  EXPECT_NE(error_of("[]").find("not a profile"), std::string::npos);
  EXPECT_NE(error_of("{\"dvm_profile\": 2}").find("version is 2"), std::string::npos);
  EXPECT_NE(error_of("{\"dvm_profile\": 1}").find("\"name\" is missing"), std::string::npos);
  EXPECT_NE(error_of("{\"dvm_profile\": 1, \"name\": \"\", \"machine\": \"\", \"clock_hz\": 1, \"core_speed\": -1}")
                .find("core_speed is -1: it must be 0 or more"),
            std::string::npos);
  EXPECT_NE(error_of("{\"dvm_profile\": 1, \"name\": \"\", \"machine\": \"\", \"clock_hz\": 1, \"disturbed\": 1.5}")
                .find("disturbed is 1.5: it is a part, at most 1"),
            std::string::npos);
  const std::string head = "{\"dvm_profile\": 1, \"name\": \"\", \"machine\": \"\", \"clock_hz\": 1, \"quiet_core\": ";
  EXPECT_NE(error_of(head + "[1, 2]}").find("quiet_core is not an object"), std::string::npos);
  EXPECT_NE(error_of(head + "{\"near\": 1, \"far\": -2}}").find("quiet_core/far is -2: it must be 0 or more"), std::string::npos);
  EXPECT_NE(error_of(with_prices("{\"opcode\": {\"add\": {\"m\": -1}}}")).find("opcode/add/m is -1: it must be 0 or more"),
            std::string::npos);
  EXPECT_NE(error_of(with_prices("{\"opcode\": {\"add\": {\"m\": \"x\"}}}")).find("not a number"), std::string::npos);
  EXPECT_NE(error_of(with_prices("{\"opcode\": {\"add\": {\"m\": 1e999}}}")).find("the number 1e999 is too large"),
            std::string::npos);
  EXPECT_NE(error_of(with_prices("{\"opcode\": {\"scmp\": {\"m\": 3, \"n\": -1}}}")).find("n is -1: it must be 0 or more"),
            std::string::npos);
  EXPECT_NE(
      error_of(with_prices("{\"llvm\": {\"opcode\": {\"ldts\": {\"m\": 3, \"n\": -4}}}}")).find("n is -4: it must be -3 or more"),
      std::string::npos);
  EXPECT_NE(error_of(with_prices("{\"opcode\": {\"add\": NaN}}")), "");
  EXPECT_NE(error_of(with_prices("{\"opcode\": 3}")).find("prices/opcode is not an object"), std::string::npos);
  EXPECT_NE(error_of(with_prices("{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{}}}}}}")).find("too deep"), std::string::npos);
}

// By line and column of the value, not of another one of the same name or of a text that looks like it.
TEST(ProfileFile, WhatIsWrongIsPlaced) {
  const std::string text =
      "{\"dvm_profile\": 1, \"name\": \"\\\"add\\\": {\", \"machine\": \"y\", \"clock_hz\": 1,\n"
      "\"prices\": {\"aggregation\": {\"add\": {\"m\": 2}},\n"
      " \"opcode\": {\"sub\": {\"m\": 1},\n"
      "  \"add\": {\"n\": 1,\n"
      "    \"m\": -1}}}}";
  EXPECT_EQ(error_of(text), "p.json:5:10: prices/opcode/add/m is -1: it must be 0 or more\n      \"m\": -1}}}}\n           ^");
  EXPECT_EQ(error_of("{\n \"dvm_profile\": 2}").substr(0, 12), "p.json:2:17:");
  EXPECT_EQ(error_of(with_prices("\n[]")).substr(0, 11), "p.json:2:1:");
}

// However it is written, and what else is in between; in another object the same name is another one.
TEST(ProfileFile, ANameIsThereOnce) {
  const std::string text =
      "{\"dvm_profile\": 1, \"name\": \"p\", \"machine\": \"m\", \"clock_hz\": 1,\n"
      "\"prices\": {\"aggregation\": {\"add\": {\"m\": 2}}, \"opcode\": {\n"
      "  \"add\": {\"m\": 1}, \"sub\": {\"m\": 1},\n"
      "  \"add\": {\"m\": 2}}}}";
  EXPECT_EQ(error_of(text), "p.json:4:3: prices/opcode/add is there twice: already in line 3\n    \"add\": {\"m\": 2}}}}\n    ^");
  EXPECT_EQ(error_of("{\n \"dvm_profile\": 1,\n \"dvm_profile\": 1}").substr(0, 11), "p.json:3:2:");
  EXPECT_NE(error_of(with_prices(R"({"opcode": {"add": {"m": 1}, "\u0061dd": {"m": 2}}})")).find("opcode/add is there twice"),
            std::string::npos);
  EXPECT_TRUE(error_of("{\"a\\\"b\": 1,\n \"a\\\"b\": 2}").starts_with("p.json:2:2: a\"b is there twice: already in line 1\n"));
  EXPECT_NE(error_of(with_prices(R"({"opcode": {"add": {"m": 1}}, "opcode": {}})")).find("prices/opcode is there twice"),
            std::string::npos);
  EXPECT_EQ(error_of(with_prices(R"({"opcode": {"add": {"m": 1}}, "aggregation": {"add": {"m": 2}}})")), "");
  EXPECT_EQ(error_of(with_prices("{}, \"more\": [{\"a\": 1}, {\"a\": \"a\"}]")), "");
}

TEST(ProfileFile, PollsHadAnotherName) {
  std::vector<std::string> warnings;
  const auto profile = parse_profile(
      with_prices(R"({"consumer": {"look": {"m": 1}, "look_shared": {"m": 2}, "look_lanes": {"m": 3}}})"), "p.json", warnings);
  ASSERT_TRUE(profile);
  EXPECT_TRUE(warnings.empty());
  EXPECT_EQ(profile->find("consumer/poll"_row)->m, 1);
  EXPECT_EQ(profile->find("consumer/poll_shared"_row)->m, 2);
  EXPECT_EQ(profile->find("consumer/poll_lanes"_row)->m, 3);
}

TEST(ProfileFile, ARowOfAnotherVersionIsLeftOut) {
  std::vector<std::string> warnings;
  const auto profile = parse_profile(with_prices("{\"opcode\": {\"add\": {\"m\": 1}, \"fma\": {\"m\": 2}}}"), "p.json", warnings);
  ASSERT_TRUE(profile);
  EXPECT_TRUE(profile->find("opcode/add"_row));
  EXPECT_EQ(profile->prices().size(), 1u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("opcode/fma"), std::string::npos);
}

TEST(ProfileFile, ThePublishedOneIsRead) {
  std::ifstream file(DVM_SOURCE_DIR "/runtime/cost/profiles/pentium4-1700.json");
  std::stringstream text;
  text << file.rdbuf();
  std::vector<std::string> warnings;
  const auto profile = parse_profile(text.str(), "pentium4-1700.json", warnings);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_TRUE(warnings.empty()) << warnings[0];
  EXPECT_EQ(profile->clock_hz, 1.7e9);
  EXPECT_EQ(*profile->find("opcode/mul"_row), (vm::Price{62, 0, 10}));
}

TEST(ProfileFile, PricesOfAnotherEngineOrBackendAreApart) {
  const auto profile = parse(with_prices(
      R"({"opcode": {"add": {"m": 1}}, "llvm": {"opcode": {"add": {"m": 2}}}, "agent": {"source": {"pid": {"trigger": {"m": 3}}}}})"));
  ASSERT_TRUE(profile) << profile.error().message;
  const Row add = "opcode/add"_row, trigger = "source/pid/trigger"_row;
  EXPECT_EQ(profile->find(add)->m, 1);
  EXPECT_EQ(profile->find(add.in({EngineId::llvm, BackendId::agent}))->m, 2);
  EXPECT_EQ(profile->find(trigger.in({EngineId::llvm, BackendId::agent}))->m, 3);
  EXPECT_FALSE(profile->find(trigger));
  EXPECT_EQ(parse(profile_text(*profile))->prices(), profile->prices());
}

TEST(PriceRows, HaveNoNameTwice) {
  const std::vector<std::string> rows = price_names();
  EXPECT_EQ(std::set<std::string>(rows.begin(), rows.end()).size(), rows.size());
  EXPECT_EQ(std::count(rows.begin(), rows.end(), "source/pid/trigger"), 1);
}

}  // namespace
}  // namespace dvm::runtime
