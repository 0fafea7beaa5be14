// Globs and the catalog.

#include "runtime/catalog/catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Glob, MatchesAsTheShellDoes) {
  EXPECT_TRUE(glob_match("", "anything"));
  EXPECT_TRUE(glob_match("malloc", "malloc"));
  EXPECT_FALSE(glob_match("malloc", "mallocx"));
  EXPECT_FALSE(glob_match("malloc", "mallo"));
  EXPECT_TRUE(glob_match("m*c", "malloc"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(glob_match("*a*b", "ba"));
  EXPECT_TRUE(glob_match("m?lloc", "malloc"));
  EXPECT_FALSE(glob_match("?", ""));
  EXPECT_TRUE(glob_match("mem*[tp]", "memset"));
}

TEST(Glob, ClassesHaveRangesAndNegation) {
  EXPECT_TRUE(glob_match("[a-c]x", "bx"));
  EXPECT_FALSE(glob_match("[a-c]x", "dx"));
  EXPECT_TRUE(glob_match("[!a-c]x", "dx"));
  EXPECT_FALSE(glob_match("[!a-c]x", "ax"));
  EXPECT_TRUE(glob_match("[]x]", "]"));
  EXPECT_TRUE(glob_match("[a-]", "-"));
  EXPECT_TRUE(glob_match("[\\]]", "]"));
  EXPECT_TRUE(glob_match("*[0-9]", "execve2"));
}

TEST(Glob, UnclosedClassStandsForItself) {
  EXPECT_TRUE(glob_match("a[b", "a[b"));
  EXPECT_FALSE(glob_match("a[b", "ab"));
  EXPECT_TRUE(glob_match("a\\", "a\\"));
}

TEST(Glob, BackslashTakesTheNextCharacterAsItIs) {
  EXPECT_TRUE(glob_match("a\\*", "a*"));
  EXPECT_FALSE(glob_match("a\\*", "ab"));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string pattern, text(2000, 'a');
  for (int i = 0; i < 200; i++) pattern += "a*";
  pattern += "b";
  auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(glob_match(pattern, text));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(ModuleMatch, KnowsTheNamesOfAMappedFile) {
  auto libc = [](std::string_view pattern) { return module_match(pattern, "libc.so.6", "/usr/lib/libc.so.6", false); };
  EXPECT_TRUE(libc(""));
  EXPECT_TRUE(libc("libc"));
  EXPECT_TRUE(libc("libc.so"));
  EXPECT_TRUE(libc("libc.so.6"));
  EXPECT_TRUE(libc("libc*"));
  EXPECT_TRUE(libc("/usr/lib/libc.so.6"));
  EXPECT_TRUE(libc("/usr/*/libc.so.6"));
  EXPECT_FALSE(libc("lib"));
  EXPECT_FALSE(libc("a.out"));
  EXPECT_FALSE(libc("libcrypt"));
  EXPECT_TRUE(module_match("a.out", "bash", "/bin/bash", true));
  EXPECT_FALSE(module_match("a.out", "", "", false));
  EXPECT_TRUE(module_match("redis-check-rdb", "redis-server", "/usr/bin/redis-check-rdb", true));
  EXPECT_FALSE(module_match("redis-check-rdb", "redis-server", "/usr/bin/redis-check-rdb", false));
}

Probe named(const std::string& provider, const std::string& module, const std::string& function, const std::string& name) {
  Probe probe;
  probe.provider = provider;
  probe.module = module;
  probe.function = function;
  probe.name = name;
  return probe;
}

std::vector<uint32_t> ids(const std::vector<const Probe*>& probes) {
  std::vector<uint32_t> out;
  for (const Probe* probe : probes) out.push_back(probe->id);
  return out;
}

TEST(Catalog, GivesIdsInOrderAndKeepsAProbeOnce) {
  Catalog catalog;
  EXPECT_EQ(catalog.add(named("p", "m", "f", "entry")).id, 1U);
  EXPECT_EQ(catalog.add(named("p", "m", "f", "return")).id, 2U);
  EXPECT_EQ(catalog.add(named("p", "m", "f", "entry")).id, 1U);
  EXPECT_EQ(catalog.size(), 2U);
  EXPECT_EQ(catalog.find(2)->name, "return");
  EXPECT_EQ(catalog.find(3), nullptr);
}

TEST(Catalog, NamesThatJoinToTheSameTextDiffer) {
  Catalog catalog;
  catalog.add(named("p", "mf", "", "entry"));
  catalog.add(named("p", "m", "f", "entry"));
  EXPECT_EQ(catalog.size(), 2U);
}

TEST(Catalog, MatchesByEachField) {
  Catalog catalog;
  catalog.add(named("pid1", "bash", "main", "entry"));
  catalog.add(named("pid1", "bash", "main", "return"));
  catalog.add(named("pid1", "libc.so.6", "malloc", "entry"));
  catalog.add(named("profile", "", "", "tick-1s"));
  EXPECT_THAT(ids(catalog.match({"", "", "", ""})), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids(catalog.match({"pid1", "bash", "main", "entry"})), ElementsAre(1));
  EXPECT_THAT(ids(catalog.match({"pid*", "", "m*", "entry"})), ElementsAre(1, 3));
  EXPECT_THAT(ids(catalog.match({"", "", "", "tick-1s"})), ElementsAre(4));
  EXPECT_THAT(ids(catalog.match({"pid2", "", "", ""})), IsEmpty());
}

TEST(Catalog, MatchesTheOtherNamesOfAProbe) {
  Catalog catalog;
  Probe probe = named("pid1", "prog", "_ZN1a1bEi", "entry");
  probe.object = "/opt/prog";
  probe.in_program = true;
  probe.other_names = {"a::b"};
  catalog.add(probe);
  EXPECT_THAT(ids(catalog.match({"pid1", "a.out", "_ZN1a1bEi", "entry"})), ElementsAre(1));
  EXPECT_THAT(ids(catalog.match({"pid1", "/opt/prog", "a::b", "entry"})), ElementsAre(1));
  EXPECT_THAT(ids(catalog.match({"pid1", "a.out", "a::c", "entry"})), IsEmpty());
}

TEST(Catalog, MatchesAnAliasOnlyByItsFullName) {
  Catalog catalog;
  catalog.add(named("ruby1", "ruby", "call", "method-entry"));
  Probe alias = named("ruby1", "ruby", "call", "function-entry");
  alias.spell_name = true;
  catalog.add(alias);
  EXPECT_THAT(ids(catalog.match({"ruby*", "", "", "function-entry"})), ElementsAre(2));
  EXPECT_THAT(ids(catalog.match({"ruby1", "", "", "*-entry"})), ElementsAre(1));
  EXPECT_THAT(ids(catalog.match({"ruby1", "", "", ""})), ElementsAre(1));
}

TEST(Catalog, AddsUnderAGivenId) {
  Catalog catalog;
  Probe probe = named("p", "m", "f", "entry");
  EXPECT_FALSE(catalog.add_with_id(probe));  // has no id
  probe.id = 70;
  EXPECT_TRUE(catalog.add_with_id(probe));
  EXPECT_FALSE(catalog.add_with_id(probe));
  Probe other = named("p", "m", "g", "entry");
  other.id = 70;
  EXPECT_FALSE(catalog.add_with_id(other));
  EXPECT_EQ(catalog.add(named("p", "m", "h", "entry")).id, 71U);
}

TEST(Catalog, KeepsAddressesAsItGrows) {
  Catalog catalog;
  const Probe& first = catalog.add(named("p", "m", "first", "entry"));
  for (int i = 0; i < 10000; i++) catalog.add(named("p", "m", fmt::format("f{}", i), "entry"));
  EXPECT_EQ(catalog.find(1), &first);
  EXPECT_EQ(first.function, "first");
  EXPECT_EQ(catalog.match({"p", "m", "f99*", "entry"}).size(), 111U);
}

}  // namespace
}  // namespace dvm::runtime
