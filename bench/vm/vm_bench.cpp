// Cost of running DIF: engine/case/policy. The time of a row divided by its `instructions` is the cost of one instruction. Rows
// c/... are the same in C++, as this compiler optimizes it.
//
//   arithmetic  512 ALU instructions and a ret         predicate  the DIFO of /arg0 == 0/
//   branches    64 additions, each behind a branch     strings    scmp of 24 equal characters
//   globals     load, add, store                       thread     self->ts, loaded and stored
//   assoc       a[arg0], loaded and stored             copyinstr  a captured string

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "dvm/dif/text.h"
#include "dvm/vm/engine.h"
#include "tests/conformance/counted.h"
#include "tests/conformance/mock_host.h"

namespace dvm::vm {

namespace {

// The arithmetic of instruction i: registers, and the body.
constexpr unsigned kArithmetic = 512;
constexpr unsigned body_of(unsigned i) { return (i * 5 + i / 7) % 8; }
constexpr unsigned first_of(unsigned i) { return i % 4; }
constexpr unsigned second_of(unsigned i) { return (i * 3 + 1) % 4; }
constexpr unsigned target_of(unsigned i) { return (i * 7 + 2 + i / 4) % 4; }

std::string arithmetic() {
  static constexpr const char* kBodies[] = {"add", "sub", "xor", "and", "or", "mul", "sll", "srl"};
  std::string text = "ldgs arg0, %r1\nldgs arg1, %r2\nldgs arg2, %r3\nldgs arg3, %r4\n";
  for (unsigned i = 0; i < kArithmetic; i++)
    text += fmt::format("{} %r{}, %r{}, %r{}\n", kBodies[body_of(i)], 1 + first_of(i), 1 + second_of(i), 1 + target_of(i));
  return text + "ret %r1\n";
}

// Each branch depends on all before it, and none can be left out.
constexpr unsigned kBranches = 64;
std::string branches() {
  std::string text = "ldgs arg0, %r1\nldgs arg1, %r2\nldgs arg2, %r3\n";
  for (unsigned i = 0; i < kBranches; i++)
    text += fmt::format("cmp %r1, %r2\nbgu l{0}\nadd %r1, %r3, %r1\nl{0}: xor %r2, %r1, %r2\n", i);
  return text + "ret %r2\n";
}

constexpr const char* kPredicate =
    "ldgs arg0, %r1\nsetx 0, %r2\ncmp %r1, %r2\nbe yes\nmov %r0, %r1\nba done\nyes: setx 1, %r1\ndone: ret %r1\n";
constexpr const char* kStrings =
    "sets \"a string of 24 letters..\", %r1\nsets \"a string of 24 letters..\", %r2\nscmp %r1, %r2\nret %r0\n";
constexpr const char* kGlobals = "v 500 scl glb r/w int64\nldgs v, %r1\nsetx 1, %r2\nadd %r1, %r2, %r1\nstgs %r1, v\nret %r1\n";
constexpr const char* kThread =
    "v 500 scl tls r/w uint64\nldgs timestamp, %r1\nstts %r1, v\nldts v, %r2\nsub %r1, %r2, %r1\nret %r1\n";
constexpr const char* kAssoc =
    "v 500 arr glb r/w int64\nldgs arg0, %r1\nsetx 1, %r3\npushtv %r1\nldgaa v, %r2\nadd %r2, %r3, %r2\nstgaa %r2, v\nret %r2\n";
constexpr const char* kCopyinstr = "ldgs arg1, %r1\npushtv %r1\ncall copyinstr, %r2\nret %r2\n";

template <unsigned i>
[[gnu::always_inline]] inline void step(uint64_t (&r)[4]) {
  const uint64_t a = r[first_of(i)], b = r[second_of(i)];
  const uint64_t results[] = {a + b, a - b, a ^ b, a & b, a | b, a * b, a << (b & 63), a >> (b & 63)};
  r[target_of(i)] = results[body_of(i)];
}

template <unsigned from, unsigned... i>
[[gnu::always_inline]] inline void steps(uint64_t (&r)[4], std::integer_sequence<unsigned, i...>) {
  (step<from + i>(r), ...);
}

// In two parts, since clang nests an expression no deeper than 256.
[[gnu::noinline]] uint64_t arithmetic_in_c(const Firing& firing) {
  uint64_t r[4] = {firing.args[0], firing.args[1], firing.args[2], firing.args[3]};
  using Half = std::make_integer_sequence<unsigned, kArithmetic / 2>;
  steps<0>(r, Half());
  steps<kArithmetic / 2>(r, Half());
  return r[0];
}
[[gnu::always_inline]] inline void branch(uint64_t (&r)[3]) {
  if (r[0] <= r[1]) r[0] += r[2];
  r[1] ^= r[0];
}
[[gnu::noinline]] uint64_t branches_in_c(const Firing& firing) {
  uint64_t r[3] = {firing.args[0], firing.args[1], firing.args[2]};
  [&]<unsigned... i>(std::integer_sequence<unsigned, i...>) { (((void)i, branch(r)), ...); }
  (std::make_integer_sequence<unsigned, kBranches>());
  return r[1];
}
[[gnu::noinline]] uint64_t predicate_in_c(const Firing& firing) { return firing.args[0] == 0; }

struct World {
  World(const Engine& engine, const std::string& text, CostPolicy policy) {
    auto assembled = dif::assemble(text);
    if (!assembled) fail(assembled.error().message);
    declared = assembled->variables;
    auto verified = verify(*std::move(assembled));
    if (auto* errors = std::get_if<1>(&verified)) fail(errors->front().message);
    Prepared prepared = engine.prepare(std::get<0>(std::move(verified)), policy);
    if (!prepared.difo) fail(prepared.problem);
    difo = std::make_unique<test::Counted>(std::move(prepared.difo));
    variables = std::make_unique<VariableState>(declared, StateLimits{});
    state = std::make_unique<MachineState>(*variables, StateLimits{});
    firing.args = {0, 0x1000, 3, 9};
    firing.timestamp = 1;
    firing.memory = std::span(&memory, 1);
  }
  [[noreturn]] static void fail(const std::string& message) {
    fmt::print(stderr, "{}\n", message);
    std::abort();
  }

  std::vector<dif::Variable> declared;
  std::unique_ptr<test::Counted> difo;
  std::unique_ptr<VariableState> variables;
  std::unique_ptr<MachineState> state;
  CapturedMemory memory{0x1000, std::as_bytes(std::span("hello dvm")), true};
  Firing firing;
  test::MockHost host;
};

// How many instructions one run executes, counted by a run of its own.
double executed(const std::string& text) {
  World world(kUsualEngine, text, CostPolicy::blocks);
  world.state->begin_firing(world.firing, world.host);
  world.difo->run(*world.state);
  Counts counts;
  world.difo->take_counts(counts);
  uint64_t sum = 0;
  for (const Tally& tally : counts.opcodes) sum += tally.count;
  return static_cast<double>(sum);
}

void run(benchmark::State& bench, const Engine& engine, const std::string& text, CostPolicy policy) {
  World world(engine, text, policy);
  world.state->begin_firing(world.firing, world.host);
  for (auto _ : bench) benchmark::DoNotOptimize(world.difo->run(*world.state));
  if (world.state->fault().id != dif::Fault::none) bench.SkipWithError("the DIFO faulted");
  bench.counters["instructions"] = executed(text);
}

void run_c(benchmark::State& bench, uint64_t (*function)(const Firing&)) {
  Firing firing;
  firing.args = {0, 0x1000, 3, 9};
  for (auto _ : bench) {
    benchmark::DoNotOptimize(firing.args);
    benchmark::DoNotOptimize(function(firing));
  }
}

[[maybe_unused]] const bool kRegistered = [] {
  const std::pair<const char*, std::string> cases[] = {
      {"arithmetic", arithmetic()}, {"predicate", kPredicate}, {"branches", branches()}, {"strings", kStrings},
      {"globals", kGlobals},        {"thread", kThread},       {"assoc", kAssoc},        {"copyinstr", kCopyinstr}};
  constexpr std::pair<const char*, CostPolicy> kPolicies[] = {
      {"none", CostPolicy::none}, {"blocks", CostPolicy::blocks}, {"time", CostPolicy::time}};
  for (const auto& [name, text] : cases)
    for (const auto& [policy_name, policy] : kPolicies)
      for (const Engine& engine : kEngines)
        if (engine.problem().empty())
          benchmark::RegisterBenchmark(
              fmt::format("{}/{}/{}", engine.name, name, policy_name).c_str(),
              [&engine, text = text, policy = policy](benchmark::State& bench) { run(bench, engine, text, policy); });
  constexpr std::pair<const char*, uint64_t (*)(const Firing&)> kInC[] = {
      {"c/arithmetic", &arithmetic_in_c}, {"c/branches", &branches_in_c}, {"c/predicate", &predicate_in_c}};
  for (const auto& [name, function] : kInC)
    benchmark::RegisterBenchmark(name, [function = function](benchmark::State& bench) { run_c(bench, function); });
  return true;
}();

}  // namespace

}  // namespace dvm::vm

BENCHMARK_MAIN();
