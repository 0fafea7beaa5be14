// Engines do the same with whole scripts: what they print, their faults with the pc, and what they count; also where clauses
// change from one engine to another between two rounds of firings. DVM_UPDATE_SCRIPTS=1 rewrites the outputs of the interpreter.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "dvm/compiler/compile.h"
#include "dvm/dif/action.h"
#include "dvm/dif/text.h"
#include "tests/engines/script_case.h"
#include "tests/support/engine.h"
#include "tests/unit/runtime/session.h"

namespace dvm::runtime::test {
namespace {

using dvm::test::ScriptCase;

constexpr uint64_t kText = 0x1000, kWords = 0x2000, kAddresses = 0x3000, kNowhere = 0x10;

// At kWords. Scripts declare it.
struct Words {
  int32_t i = -7;
  int8_t c = 'x';
  uint16_t s = 65535;
  int64_t l = -1234567890123;
  char name[8] = "words";
  uint32_t bits = 0xa5;
  struct {
    int16_t x = 3, y = -4;
  } points[3];
  uint64_t next = kWords;
};

const std::string kTextBytes("hello, world", 13);
const Words kWordsBytes;
const uint8_t kAddressBytes[] = {192, 0, 2, 1, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
const vm::CapturedMemory kMemory[] = {{kText, std::as_bytes(std::span(kTextBytes)), true},
                                      {kWords, std::as_bytes(std::span(&kWordsBytes, 1))},
                                      {kAddresses, std::as_bytes(std::span(kAddressBytes))}};
const uint64_t kStack[] = {0x401000, 0x402000, 0x403000};

// Behind each BEGIN, and the same in each run.
constexpr uint64_t kTime = 1'000'000'000'000'000'000;

// One number for each firing of a script.
vm::Firing firing(uint32_t probe, uint64_t number, int32_t tid) {
  vm::Firing one;
  one.probe_id = probe;
  one.timestamp = kTime + 1000 * number, one.walltimestamp = 1'700'000'000'000'000'000 + number, one.vtimestamp = 10 * number;
  one.pid = 1, one.tid = tid;
  one.error_number = 2;
  one.args = {number, kText, kWords, static_cast<uint64_t>(-5), kNowhere, kAddresses, uint64_t{1} << 63, 7, 8, 9};
  one.execname = "prog";
  one.memory = kMemory;
  one.stack = kStack;
  return one;
}

class TwoRounds {
 public:
  TwoRounds(const compiler::CompiledSource& compiled, std::string_view engine, vm::CostPolicy cost) : session_(cost) {
    session_.set("engine", engine).translate_at_once();
    for (const auto& [option, value] : compiled.options) session_.set(option, value);
    session_.instrument().has_more = true;
    f_ = session_.add_probe("f", "entry"), g_ = session_.add_probe("g", "return");
    EXPECT_EQ(session_.start(compiled.program), "");
    if (fire_round() && engine == "auto") wait_for_change();
    fire_round();
    const Status status = session_.handle().stop();
    EXPECT_TRUE(status) << status.error().message;
  }

  std::string output() { return session_.out() + session_.err(); }
  Account account() { return session_.handle().account(); }

 private:
  // False: exit() has run.
  bool fire_round() {
    for (const uint32_t probe : {f_, g_})
      for (const int32_t tid : {101, 102}) session_.instrument().firings.push_back(firing(probe, ++number_, tid));
    const bool goes_on = session_.handle().poll();
    EXPECT_TRUE(session_.instrument().firings.empty() || !goes_on);
    return goes_on;
  }

  // Of all clauses that have fired.
  void wait_for_change() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!has_changed() && std::chrono::steady_clock::now() < end) {
      session_.handle().poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(has_changed());
  }
  bool has_changed() {
    const std::vector<Placement> placements = session_.handle().placements();
    return std::all_of(placements.begin(), placements.end(), [this](const Placement& each) {
      return (each.probe->id != f_ && each.probe->id != g_) || each.engine == "llvm";
    });
  }

  Session session_;
  uint32_t f_ = 0, g_ = 0;
  uint64_t number_ = 0;
};

compiler::CompileResult compile(const std::string& text) {
  const compiler::Source source{"test.d", text, false};
  compiler::CompileOptions options;
  options.arguments = {"test.d"};
  compiler::CompileResult compiled = compiler::compile({&source, 1}, options);
  for (const compiler::Diagnostic& each : compiled.diagnostics) ADD_FAILURE() << compiler::render(each, source, true);
  return compiled;
}

// Blank lines at the end do not count.
std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of('\n') + 1);
  return text + '\n';
}

std::string counts_of(const EcbAccount& ecb) {
  std::string text = fmt::format("clause {}: {} firings, {} hits, {} faults, {} records, {} bytes", ecb.epid, ecb.firings,
                                 ecb.predicate_hits, ecb.faults, ecb.records, ecb.recorded.bytes + ecb.keys.bytes);
  for (size_t i = 0; i < ecb.counts.opcodes.size(); i++)
    if (const vm::Tally& each = ecb.counts.opcodes[i]; each.count != 0)
      text += fmt::format(", opcode {} {}/{}", i, each.count, each.units);
  for (size_t i = 0; i < ecb.counts.subroutines.size(); i++)
    if (const vm::Tally& each = ecb.counts.subroutines[i]; each.count != 0)
      text += fmt::format(", subroutine {} {}/{}", i, each.count, each.units);
  return text + '\n';
}

class EngineScripts : public testing::TestWithParam<ScriptCase> {
 protected:
  // The account, of policy `blocks`.
  std::string check(const compiler::CompiledSource& compiled, std::string_view engine, vm::CostPolicy cost) {
    TwoRounds run(compiled, engine, cost);
    EXPECT_EQ(trimmed(run.output()), trimmed(GetParam().output)) << engine;
    std::string counts;
    if (cost == vm::CostPolicy::blocks)
      for (const EcbAccount& ecb : run.account().ecbs) counts += counts_of(ecb);
    return counts;
  }
};

// Half of the scripts count on one of llvm and auto, half on the other: translating takes most of the time.
TEST_P(EngineScripts, DoTheSame) {
  const compiler::CompileResult compiled = compile(GetParam().script);
  ASSERT_FALSE(compiled.programs.empty());
  const compiler::CompiledSource& script = compiled.programs[0];
  check(script, "interp", vm::CostPolicy::none);
  const std::string counts = check(script, "interp", vm::CostPolicy::blocks);
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  const bool counts_on_auto = GetParam().script.size() % 2 == 0;
  EXPECT_EQ(check(script, counts_on_auto ? "auto" : "llvm", vm::CostPolicy::blocks), counts);
  check(script, counts_on_auto ? "llvm" : "auto", vm::CostPolicy::none);
}

// Actions and aggregating functions that ran in some script, and so on each engine.
std::set<std::string> actions_that_ran() {
  std::set<std::string> ran;
  for (const ScriptCase& each : dvm::test::read_script_cases()) {
    const compiler::CompileResult compiled = compile(each.script);
    if (compiled.programs.empty()) continue;
    for (const EcbAccount& ecb : TwoRounds(compiled.programs[0], "interp", vm::CostPolicy::blocks).account().ecbs)
      for (const auto& [name, tally] : ecb.actions)
        if (tally.count != 0) ran.insert(name);
  }
  return ran;
}

// Opcodes, subroutines and variables are those of the conformance cases. Destructive actions need a process; jstack() becomes
// ustack().
TEST(EngineScriptsTable, RunsEachActionAndAggregatingFunction) {
  const std::set<std::string> ran = actions_that_ran();
  for (const dif::ActionInfo& action : dif::kActions)
    EXPECT_TRUE(!action.unsupported.empty() || action.destructive || action.id == dif::Action::jstack ||
                ran.contains(std::string(action.name)))
        << action.name;
  for (const dif::AggregationInfo& function : dif::kAggregations)
    EXPECT_TRUE(ran.contains(std::string(function.name))) << function.name;
}

TEST(EngineScriptsTable, Update) {
  if (!std::getenv("DVM_UPDATE_SCRIPTS")) return;
  std::vector<ScriptCase> cases = dvm::test::read_script_cases();
  for (ScriptCase& each : cases) {
    const compiler::CompileResult compiled = compile(each.script);
    if (compiled.programs.empty()) continue;
    each.output = trimmed(TwoRounds(compiled.programs[0], "interp", vm::CostPolicy::none).output()) + '\n';
  }
  dvm::test::write_outputs(cases);
}

INSTANTIATE_TEST_SUITE_P(All, EngineScripts, testing::ValuesIn(dvm::test::read_script_cases()),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace dvm::runtime::test
