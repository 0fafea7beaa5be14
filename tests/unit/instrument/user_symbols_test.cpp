// Addresses of this very process and of recorded ones as modules, functions and variables.

#include "runtime/symbol/user_symbols.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "common/clock.h"
#include "tests/support/skip.h"

namespace dvm::runtime {

__attribute__((noinline)) int function_of_the_test(int value) { return value + 1; }
extern const int table_of_the_test[4];
const int table_of_the_test[4] = {1, 2, 3, 4};
long variable_of_the_test = 1;
long zeroes_of_the_test[4];

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

TEST(UserSymbols, NamesAVariableAndWhereItBegins) {
  UserSymbols symbols;
  const auto expect = [&](const void* variable, uint64_t offset, std::string_view module, std::string_view name) {
    const auto address = reinterpret_cast<uint64_t>(variable);
    const auto symbol = symbols.find(getpid(), address + offset);
    ASSERT_TRUE(symbol) << name;
    EXPECT_EQ(symbol->module, module) << name;
    EXPECT_EQ(symbol->function, name);
    EXPECT_EQ(symbol->address, address) << name;
  };
  expect(&table_of_the_test, 4, "user_symbols_test", "dvm::runtime::table_of_the_test");
  expect(&variable_of_the_test, 7, "user_symbols_test", "dvm::runtime::variable_of_the_test");
  expect(&zeroes_of_the_test, 31, "user_symbols_test", "dvm::runtime::zeroes_of_the_test");
  expect(dlsym(RTLD_DEFAULT, "in6addr_any"), 3, "libc.so.6", "in6addr_any");
}

TEST(UserSymbols, KnowsTheModuleOfDataWithoutAName) {
  UserSymbols symbols;
  const auto text = symbols.find(getpid(), reinterpret_cast<uint64_t>("a string without a symbol"));
  const auto code = symbols.find(getpid(), address_of_function());
  ASSERT_TRUE(text && code);
  EXPECT_EQ(text->module, "user_symbols_test");
  EXPECT_EQ(text->function, "");
  EXPECT_EQ(text->module_address, code->module_address);  // one key of umod()
}

TEST(UserSymbols, KnowsNothingWhereNoFileIsMapped) {
  UserSymbols symbols;
  int local = 0;
  const auto allocated = std::make_unique<int>(1);
  EXPECT_FALSE(symbols.find(getpid(), reinterpret_cast<uint64_t>(allocated.get())));
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

class PerfMapTest : public testing::Test {
 protected:
  ~PerfMapTest() override { std::remove(path_.c_str()); }
  bool knows_a_function() const {
    PerfMap map;
    map.read(getpid());
    return map.find(0x10008) != nullptr;
  }
  void write(const std::string& path) const { std::ofstream(path) << "10000 20 one\n"; }

  const std::string path_ = "/tmp/perf-" + std::to_string(getpid()) + ".map";
};

TEST_F(PerfMapTest, IsNoPipeAndNoLink) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(knows_a_function());
  std::remove(path_.c_str());
  const std::string elsewhere = path_ + ".elsewhere";
  write(elsewhere);
  ASSERT_EQ(symlink(elsewhere.c_str(), path_.c_str()), 0);
  EXPECT_FALSE(knows_a_function());
  std::remove(elsewhere.c_str());
}

// Between a look at the file and its opening, as at any other moment.
TEST_F(PerfMapTest, APipeThatTakesItsPlaceIsNotWaitedFor) {
  const std::string file = path_ + ".file", pipe = path_ + ".pipe";
  std::atomic<bool> is_done = false;
  std::thread owner([&] {
    while (!is_done) {
      write(file);
      std::rename(file.c_str(), path_.c_str());
      mkfifo(pipe.c_str(), 0600);
      std::rename(pipe.c_str(), path_.c_str());
    }
  });
  unsigned known = 0;
  for (int i = 0; i < 3000 || (known == 0 && i < 300'000); i++) known += knows_a_function();
  is_done = true;
  owner.join();
  EXPECT_GT(known, 0U);
}

TEST_F(PerfMapTest, BelongsToTheUserOfTheProcessOrToRoot) {
  write(path_);
  EXPECT_TRUE(knows_a_function());
  if (geteuid() != 0) DVM_SKIP("needs root to give a file away");
  ASSERT_EQ(chown(path_.c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_FALSE(knows_a_function());
}

// Its owner may change it as often as it likes.
TEST_F(PerfMapTest, ReadingTakesASmallPartOfTheTime) {
  std::string text;
  for (int i = 0; i < 300'000; i++) text += std::to_string(10'000'000 + 16 * i) + " 10 function\n";
  PerfMap map;
  const auto spent = [](auto&& work) {
    const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    work();
    return read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
  };
  std::ofstream(path_) << text;
  const uint64_t once = spent([&] { map.read(getpid()); });
  uint64_t more = 0;
  for (int i = 0; i < 20; i++) {
    std::ofstream(path_, std::ios::app) << "1 1 another\n";
    more += spent([&] { map.read(getpid()); });
  }
  EXPECT_NE(map.find(0x10000000), nullptr);
  EXPECT_LT(more, 5 * once);
}

TEST_F(PerfMapTest, HasAMillionFunctionsAtMost) {
  std::string text;
  char line[32];
  for (unsigned i = 0; i < (1 << 20) + 10; i++)
    text.append(line, static_cast<size_t>(std::snprintf(line, sizeof line, "%x 1 f\n", i)));
  EXPECT_EQ(parse_perf_map(text).size(), size_t{1} << 20);
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

// A library that is opened once the process is known.
class LateLibrary {
 public:
  LateLibrary() : handle_(dlopen(DVM_BINARY_DIR "/tests/programs/liblate_library.so", RTLD_NOW)) {}
  ~LateLibrary() { close(); }
  uint64_t function() const { return handle_ ? reinterpret_cast<uint64_t>(dlsym(handle_, "late_function")) : 0; }
  void close() {
    if (handle_) dlclose(handle_);
    handle_ = nullptr;
  }

 private:
  void* handle_;
};

std::string name_of(UserSymbols& symbols, uint64_t address) {
  const auto symbol = symbols.find(getpid(), address);
  return symbol ? symbol->module + "`" + symbol->function : "";
}

TEST(UserSymbols, WhatIsMetIsNamedOnceItsMapMayBeReadAgain) {
  UserSymbols symbols;
  symbols.learn(getpid());
  LateLibrary library;
  const uint64_t address = library.function();
  ASSERT_NE(address, 0u);
  symbols.meet(getpid(), address);
  for (int i = 0; i < 1000 && symbols.answers().empty(); i++) usleep(1000), symbols.meet_again();
  EXPECT_EQ(symbols.answers().size(), 1u);
  library.close();
  symbols.learn_anew(getpid());
  EXPECT_EQ(name_of(symbols, address), "liblate_library.so`late_function");
}

TEST(UserSymbols, WhatHasBeenClosedIsStillKnown) {
  UserSymbols symbols;
  LateLibrary library;
  const uint64_t address = library.function();
  symbols.learn(getpid());
  library.close();
  symbols.learn_anew(getpid());
  EXPECT_EQ(name_of(symbols, address), "liblate_library.so`late_function");
}

// Maps another file where the library was.
void* map_another_at(const MappedObject& object) {
  const int other = open(DVM_BINARY_DIR "/tests/programs/libplain_library.so", O_RDONLY | O_CLOEXEC);
  void* const at = reinterpret_cast<void*>(object.address);
  void* const mapped = mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED_NOREPLACE, other, 0);
  close(other);
  return mapped;
}

TEST(UserSymbols, WhereTwoFilesHaveLainNothingHasAName) {
  UserSymbols symbols;
  LateLibrary library;
  symbols.learn(getpid());
  const auto& objects = symbols.objects(getpid());
  const auto found =
      std::find_if(objects.begin(), objects.end(), [](const auto& one) { return one.name == "liblate_library.so"; });
  ASSERT_NE(found, objects.end());
  const MappedObject object = *found;
  ASSERT_TRUE(symbols.find(getpid(), object.address));
  library.close();
  void* const mapped = map_another_at(object);
  ASSERT_NE(mapped, MAP_FAILED);
  symbols.learn_anew(getpid());
  EXPECT_FALSE(symbols.find(getpid(), object.address));
  munmap(mapped, 4096);
}

double seconds(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(UserSymbols, AddressesThatStayUnknownDoNotHaveTheMapReadEachTime) {
  UserSymbols symbols;
  double reading = 1;
  for (int i = 0; i < 10; i++) reading = std::min(reading, seconds([&] { symbols.learn_anew(getpid()); }));
  const double searching = seconds([&] {
    for (uint64_t address = 8; address <= 8 * 2000; address += 8) EXPECT_FALSE(symbols.find(getpid(), address));
  });
  EXPECT_LT(searching, 1000 * reading);
}

}  // namespace
}  // namespace dvm::runtime
