// Aggregations of 1 K to 1 M distinct integer keys: keys/<step>/<keys>. A step whose `ns` grows with the keys by more than the
// caches and log n explain is not linear.
//
//   fire    count(), by a key that is new        merge   into the consumer's table, which is empty
//   again   count(), by one that is not          print   the table, sorted: printa(@)
//   trunc   trunc(@, 10)                         join    printa(@a, @b): two aggregations with the same keys
//   drops   of that many new keys, the number without room in an aggsize of 4 MiB that is never emptied
//
// `ns` is the time per key, `bytes` the consumer's memory per key, `drops` the total.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/buffer/aggregation_buffer.h"
#include "runtime/consumer/aggregation.h"
#include "runtime/consumer/aggregation_table.h"
#include "runtime/consumer/printer.h"

namespace dvm::runtime {
namespace {

constexpr size_t kRoomy = size_t{128} << 20;
const dif::DataType kLong{dif::TypeKind::integer, true, false, 8, "int64_t"};

// Spread over all integers, each once.
uint64_t key(uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15; }

// Returns how many keys find no room.
uint64_t count_each(AggregationBuffer& buffer, uint32_t id, uint64_t keys) {
  uint64_t drops = 0;
  for (uint64_t i = 0; i < keys; i++) {
    const uint64_t word = key(i);
    if (uint64_t* state = buffer.find(id, std::as_bytes(std::span(&word, 1)), 1, 0))
      *state += i % 1000;
    else
      drops++;
  }
  return drops;
}

struct World {
  explicit World(uint32_t aggregations = 1, size_t aggsize = kRoomy) {
    if (!buffer.allocate(aggsize)) std::abort();
    for (uint32_t id = 1; id <= aggregations; id++) {
      merged.declare({id, "", dif::Action::agg_count, {kLong}, {}, {}, kLong}, 1, 0);
      ids.push_back(id);
    }
  }
  void fill(uint64_t keys) {
    for (uint32_t id : ids) {
      count_each(buffer, id, keys);
      merged.take(buffer);
    }
  }

  AggregationBuffer buffer;
  Aggregations merged;
  std::vector<uint32_t> ids;
};

uint64_t keys_of(const benchmark::State& state) { return static_cast<uint64_t>(state.range(0)); }

void report(benchmark::State& state) {
  state.counters["ns"] = benchmark::Counter(static_cast<double>(state.iterations() * keys_of(state)) * 1e-9,
                                            benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// The parts that are not timed are long, so each step is timed by itself.
template <class Prepare, class Step>
void time_step(benchmark::State& state, Prepare prepare, Step step) {
  for (auto _ : state) {
    state.PauseTiming();
    auto world = prepare();
    state.ResumeTiming();
    step(*world);
    state.PauseTiming();
    world.reset();
    state.ResumeTiming();
  }
  report(state);
}

void fire(benchmark::State& state) {
  World world;
  count_each(world.buffer, 1, keys_of(state));  // its pages are there
  for (auto _ : state) {
    state.PauseTiming();
    world.buffer.clear();
    state.ResumeTiming();
    count_each(world.buffer, 1, keys_of(state));
  }
  report(state);
}

void fire_again(benchmark::State& state) {
  World world;
  count_each(world.buffer, 1, keys_of(state));
  for (auto _ : state) count_each(world.buffer, 1, keys_of(state));
  report(state);
}

void merge(benchmark::State& state) {
  size_t bytes = 0;
  auto full = [&] {
    auto world = std::make_unique<World>();
    count_each(world->buffer, 1, keys_of(state));
    return world;
  };
  time_step(state, full, [&](World& world) {
    world.merged.take(world.buffer);
    bytes = world.merged.find(1)->rows.bytes();
  });
  state.counters["bytes"] = static_cast<double>(bytes) / static_cast<double>(keys_of(state));
}

auto filled(benchmark::State& state, uint32_t aggregations) {
  return [&state, aggregations] {
    auto world = std::make_unique<World>(aggregations);
    world->fill(keys_of(state));
    return world;
  };
}

void trunc(benchmark::State& state) {
  time_step(state, filled(state, 1), [](World& world) { world.merged.trunc(1, 10); });
}

void print(benchmark::State& state, uint32_t aggregations) {
  UserSymbols symbols;
  const MadePrinter made(symbols);
  const TableStyle style{dif::Options()};
  size_t printed_bytes = 0;
  time_step(state, filled(state, aggregations), [&](World& world) {
    PrintedAggregations printed{{}, world.merged.joined(world.ids, {}), nullptr};
    for (uint32_t id : world.ids) printed.aggregations.push_back(world.merged.find(id));
    std::string out;
    append_table(out, style, made, printed);
    printed_bytes = out.size();
  });
  if (printed_bytes == 0) state.SkipWithError("nothing was printed");
}

void drops(benchmark::State& state) {
  uint64_t dropped = 0;
  for (auto _ : state) {
    World world(1, 4 << 20);
    dropped = count_each(world.buffer, 1, keys_of(state));
  }
  report(state);
  state.counters["drops"] = static_cast<double>(dropped);
}

// A fixed number of rounds: what is prepared for each takes longer than what is timed.
void all_sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond)->Iterations(3);
}
BENCHMARK(fire)->Name("keys/fire")->Apply(all_sizes);
BENCHMARK(fire_again)->Name("keys/again")->Apply(all_sizes);
BENCHMARK(merge)->Name("keys/merge")->Apply(all_sizes);
BENCHMARK_CAPTURE(print, one, 1)->Name("keys/print")->Apply(all_sizes);
BENCHMARK_CAPTURE(print, two, 2)->Name("keys/join")->Apply(all_sizes);
BENCHMARK(trunc)->Name("keys/trunc")->Apply(all_sizes);
BENCHMARK(drops)->Name("keys/drops")->Apply(all_sizes);

}  // namespace
}  // namespace dvm::runtime

BENCHMARK_MAIN();
