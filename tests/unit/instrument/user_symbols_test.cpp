// Addresses of this very process and of recorded ones as modules and functions.

#include "runtime/symbol/user_symbols.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace dvm::runtime {

__attribute__((noinline)) int function_of_the_test(int value) { return value + 1; }

namespace {

uint64_t address_of_function() { return reinterpret_cast<uint64_t>(&function_of_the_test); }

TEST(UserSymbols, NamesAFunctionAndWhereItBegins) {
  UserSymbols symbols;
  const auto symbol = symbols.find(getpid(), address_of_function() + 1);
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->module, "user_symbols_test");
  EXPECT_EQ(symbol->function, "dvm::runtime::function_of_the_test");
  EXPECT_EQ(symbol->address, address_of_function());
  EXPECT_LE(symbol->module_address, address_of_function());
}

TEST(UserSymbols, KnowsNothingWhereNoFileIsMapped) {
  UserSymbols symbols;
  int local = 0;
  EXPECT_FALSE(symbols.find(getpid(), reinterpret_cast<uint64_t>(&local)));
  EXPECT_FALSE(symbols.find(getpid(), 8));
  EXPECT_FALSE(symbols.find(INT32_MAX, address_of_function()));
}

TEST(UserSymbols, CodeThatTheProcessGeneratedIsNamedByItsMap) {
  const auto name = "perf-" + std::to_string(getpid()) + ".map";
  const std::string path = "/tmp/" + name;
  std::ofstream(path) << "10000 20 one\nnonsense\n0x10020 10 two of them\n10000 10 one again\n";
  UserSymbols symbols;
  const auto first = symbols.find(getpid(), 0x10008), second = symbols.find(getpid(), 0x10021);
  const bool has_more = symbols.find(getpid(), 0x10018) || symbols.find(getpid(), 0x10030);
  std::remove(path.c_str());
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(has_more);
  EXPECT_EQ(first->module, name);
  EXPECT_EQ(first->function, "one again");
  EXPECT_EQ(first->address, 0x10000u);
  EXPECT_EQ(second->function, "two of them");
}

TEST(UserSymbols, AnswersAreKeptForARecordingAndGivenInItsReplay) {
  UserSymbols live;
  const auto symbol = live.find(getpid(), address_of_function() + 2);
  ASSERT_TRUE(symbol);
  ASSERT_EQ(live.answers().size(), 1U);
  EXPECT_EQ(live.pids(), std::vector<int32_t>{getpid()});
  UserSymbols replay;
  for (const auto& [key, answer] : live.answers()) replay.use_recorded(key.first, key.second, answer);
  EXPECT_EQ(replay.find(getpid(), address_of_function() + 2)->function, symbol->function);
  EXPECT_FALSE(replay.find(getpid(), address_of_function()));  // nothing is asked of a process
}

TEST(UserSymbols, FilesOfARecordingAreReadWhereTheyAreStillThere) {
  UserSymbols live, replay;
  replay.use_recorded(7, live.objects(getpid()));
  const auto symbol = replay.find(7, address_of_function());
  ASSERT_TRUE(symbol);
  EXPECT_EQ(symbol->function, "dvm::runtime::function_of_the_test");
  MappedObject gone;
  gone.name = gone.path = "gone", gone.address = 0x1000;
  replay.use_recorded(8, {gone});
  ASSERT_TRUE(replay.find(8, 0x1000));  // whatever lies there, it is of this file
  EXPECT_EQ(replay.find(8, 0x1000)->module, "gone");
  EXPECT_FALSE(replay.find(8, 0x1010));
}

}  // namespace
}  // namespace dvm::runtime
