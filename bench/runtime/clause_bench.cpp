// Cost of a firing in the ECB loop, by clause and engine: clause/<name>/<engine>. The firing itself is free, and so is its
// delivery. Its time is counted in a register: an addition to what is in memory waits for the one before, longer than a false
// predicate takes.
//
//   count      @ = count()                       predicate  /arg0 == 0/ { @ = count() }, which does not hold
//   quantize   @ = quantize(arg0)                string     @[copyinstr(arg1)] = count(), one key
//   latency    this->d = timestamp - self->t; @ = quantize(this->d)
//   printf     a record of five integers         strings    as string, of 64 keys in turn
//
// clause/<name>/c: the same in C++, as this compiler optimizes it (clause_in_c.h).
// translate/five/<engine>: planning and preparing the first five of them.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/runtime/clause_in_c.h"
#include "dvm/dif/text.h"
#include "runtime/enabling/enabling.h"
#include "runtime/probe/fire.h"
#include "tests/conformance/mock_host.h"
#include "tests/unit/runtime/programs.h"
#include "vm/state/state.h"

namespace dvm::runtime {
namespace {

using dif::Action;
using test::built_in;

dif::Difo assembled(const std::string& text, const dif::DataType& type = test::kLong) {
  auto difo = dif::assemble(text);
  if (!difo) std::abort();
  difo->result = type;
  return *std::move(difo);
}

dif::Difo is_zero() {
  return assembled("ldgs arg0, %r1\nsetx 0, %r2\ncmp %r1, %r2\nbe yes\nmov %r0, %r1\nba done\nyes: setx 1, %r1\ndone: ret %r1\n",
                   test::kInt);
}
dif::Difo latency() {
  return assembled("v 500 scl tls r/w uint64\nldgs timestamp, %r1\nldts v, %r2\nsub %r1, %r2, %r1\nret %r1\n");
}
dif::Difo string_of_arg1() { return assembled("ldgs arg1, %r1\npushtv %r1\ncall copyinstr, %r2\nret %r2\n", test::kString); }

struct Clause {
  const char* name;
  dif::EcbDesc desc;
  dif::AggregationDesc aggregation;
  size_t keys = 1;
};

std::vector<Clause> clauses() {
  const auto number = [] { return built_in(dif::BuiltIn::arg0); };
  const auto counting = test::aggregate(Action::agg_count, 1, {}, 0);
  const dif::AggregationDesc count = test::declare(1, Action::agg_count), quantize = test::declare(1, Action::agg_quantize);
  const auto by_string = test::clause("f", {test::aggregate(Action::agg_count, 1, {string_of_arg1()}, 1)});
  const dif::AggregationDesc count_by_string = test::declare(1, Action::agg_count, {test::kString});
  std::vector<Clause> all;
  all.push_back({"count", test::clause("f", {counting}), count});
  all.push_back({"predicate", test::clause("f", {counting}), count});
  all.back().desc.predicate = dif::PredDesc{is_zero()};
  all.push_back({"quantize", test::clause("f", {test::aggregate(Action::agg_quantize, 1, {number()}, 0)}), quantize});
  all.push_back({"string", by_string, count_by_string});
  all.push_back({"latency", test::clause("f", {test::aggregate(Action::agg_quantize, 1, {latency()}, 0)}), quantize});
  all.push_back(
      {"printf", test::clause("f", {test::print("%d %d %d %d %d", {number(), number(), number(), number(), number()})}), count});
  all.push_back({"strings", by_string, count_by_string, 64});
  return all;
}

// A session of one clause on one probe.
struct World {
  World(const Clause& clause, const char* engine) {
    dif::Options options;
    if (!options.set("engine", engine)) std::abort();
    dif::Program program;
    program.clauses = {clause.desc};
    program.aggregations = {clause.aggregation};
    program.variables = latency().variables;
    const auto matches = [this](const dif::ProbeDesc&) { return std::vector<const Probe*>{&probe}; };
    if (!enabling.add(program, matches, options, vm::CostPolicy::none)) std::abort();
    const vm::StateLimits limits;
    if (!context.cpus.allocate({BufferPolicy::ring, 1 << 20, 0}, 1) || !context.aggregations.allocate(1 << 20)) std::abort();
    context.variables.emplace(enabling.variables(), limits);
    context.variables->impl().dynamic.store({dif::kFirstUserVariable, true, firing.tid, {}}, 1);  // self->t
    context.runs.resize(enabling.ecbs().size());
    context.keyless.resize(enabling.aggregations().size());
    context.start(limits, host, enabling.largest_key());
    context.level->cpu = &context.cpus[0];
    firing.args = {7, 0x1000};
    texts.push_back("hello dvm");
    for (size_t i = 1; i < clause.keys; i++) texts.push_back(texts.front() + std::to_string(i));
    for (const std::string& text : texts)
      memory.push_back({0x1000, std::as_bytes(std::span(text.c_str(), text.size() + 1)), true});
    firing.memory = std::span(memory.data(), 1);
  }
  void take_next_key() {
    at = at + 1 == memory.size() ? 0 : at + 1;
    firing.memory = std::span(&memory[at], 1);
  }

  Probe probe{1, "pid1", "a.out", "f", "f", UprobeSite{}};
  Enabling enabling;
  FireContext context;
  std::vector<std::string> texts;  // that arg1 points to, one after the other
  std::vector<vm::CapturedMemory> memory;
  size_t at = 0;
  vm::Firing firing;
  vm::test::MockHost host;
};

void run(benchmark::State& bench, const Clause& clause, const char* engine) {
  World world(clause, engine);
  const ProbeEcbs& probe = *world.enabling.find(world.probe.id);
  uint64_t now = 0;
  const auto fire = [&] {
    world.firing.timestamp = ++now;
    fire_probe<Off>(*world.context.level, probe, world.firing);
  };
  if (clause.keys == 1)
    for (auto _ : bench) fire();
  else
    for (auto _ : bench) world.take_next_key(), fire();
}

void run_in_c(benchmark::State& bench, bench::ClauseInC function) {
  bench::StateInC state;
  vm::Firing firing;
  firing.args = {7, reinterpret_cast<uint64_t>("hello dvm")};
  uint64_t now = 0;
  for (auto _ : bench) {
    firing.timestamp = ++now;
    benchmark::DoNotOptimize(firing.args);
    function(state, firing);
  }
  benchmark::DoNotOptimize(state);
}

void translate(benchmark::State& bench, const char* engine) {
  std::vector<Clause> five = clauses();
  five.resize(5);
  for (auto _ : bench)
    for (const Clause& clause : five) benchmark::DoNotOptimize(World(clause, engine));
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const vm::Engine& engine : vm::kEngines)
    if (engine.problem().empty())
      benchmark::RegisterBenchmark(fmt::format("translate/five/{}", engine.name).c_str(), [name = engine.name.data()](
                                                                                              benchmark::State& bench) {
        translate(bench, name);
      })->Unit(benchmark::kMillisecond);
  for (const Clause& clause : clauses())
    for (const vm::Engine& engine : vm::kEngines)
      if (engine.problem().empty())
        benchmark::RegisterBenchmark(fmt::format("clause/{}/{}", clause.name, engine.name).c_str(),
                                     [clause, name = engine.name.data()](benchmark::State& bench) { run(bench, clause, name); });
  for (const auto& [name, function] : bench::kClausesInC)
    benchmark::RegisterBenchmark(fmt::format("clause/{}/c", name).c_str(),
                                 [function = function](benchmark::State& bench) { run_in_c(bench, function); });
  return true;
}();

}  // namespace
}  // namespace dvm::runtime

BENCHMARK_MAIN();
