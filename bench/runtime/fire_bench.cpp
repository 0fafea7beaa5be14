// What a firing costs from the sink to the record, and what the consumer pays for it. Names are firing/case and consumer/case;
// items per second are firings per second of one thread.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "dvm/runtime/handle.h"
#include "tests/unit/runtime/programs.h"

namespace dvm::runtime::test {
namespace {

constexpr uint64_t kBatch = 100'000;

// Fires one event over and over.
class Source final : public Instrument {
 public:
  uint64_t left = 0;
  vm::Firing firing;

  bool takes(const Probe& probe) const override { return !std::holds_alternative<InternalSite>(probe.site); }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    uint64_t count = std::exchange(left, 0);
    for (uint64_t i = 0; i < count; i++) sink.fire(firing);
    return count;
  }
  bool finished() const override { return left == 0; }
  void disable() override {}
};

// A session with one clause on f:entry.
void run(benchmark::State& state, dif::EcbDesc desc, std::vector<dif::DataType> keys, vm::CostPolicy cost) {
  HandleConfig config;
  config.out = std::fopen("/dev/null", "w");
  config.cost = cost;
  Handle handle(config);
  auto owned = std::make_unique<Source>();
  Source& source = *owned;
  handle.add_instrument(std::move(owned));
  static constexpr char kText[] = "hello DTrace";
  vm::CapturedMemory memory{0x5000, std::as_bytes(std::span(kText)), true};
  source.firing.probe_id = handle.catalog().add({0, "pid1", "a.out", "f", "entry", UprobeSite{"a.out", 1, false, 1}}).id;
  source.firing.pid = source.firing.tid = 1;
  source.firing.args = {0x5000, 17};
  source.firing.memory = {&memory, 1};

  dif::Program program;
  program.clauses = {std::move(desc)};
  program.aggregations = {{1, "", dif::Action::agg_count, std::move(keys), {}, {}, kLong}};
  std::vector<Refused> refused;
  if (!handle.enable(program) || !handle.go(refused)) return state.SkipWithError("could not start");
  for (auto _ : state) {
    source.left = kBatch;
    handle.work();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kBatch));
  if (!handle.stop()) state.SkipWithError("could not stop");
  std::fclose(config.out);
}

dif::EcbDesc counting() { return clause("entry", {aggregate(dif::Action::agg_count, 1, {}, 0)}); }

dif::EcbDesc counting_if_zero() {
  dif::EcbDesc desc = counting();
  desc.predicate = dif::PredDesc{built_in(dif::BuiltIn::arg2)};
  return desc;
}

dif::EcbDesc counting_strings() { return clause("entry", {aggregate(dif::Action::agg_count, 1, {copyinstr(0x5000)}, 1)}); }

dif::EcbDesc counting_numbers() {
  return clause("entry", {aggregate(dif::Action::agg_count, 1, {built_in(dif::BuiltIn::arg1)}, 1)});
}

dif::EcbDesc printing() {
  return clause("entry", {print("%d %s\n", {built_in(dif::BuiltIn::arg1), built_in(dif::BuiltIn::probefunc, kString)})});
}

void fire(benchmark::State& state, dif::EcbDesc desc, std::vector<dif::DataType> keys) {
  run(state, std::move(desc), std::move(keys), vm::CostPolicy::none);
}
void account(benchmark::State& state, dif::EcbDesc desc, std::vector<dif::DataType> keys) {
  run(state, std::move(desc), std::move(keys), vm::CostPolicy::blocks);
}

BENCHMARK_CAPTURE(fire, count, counting(), {})->Name("firing/count")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(fire, predicate, counting_if_zero(), {})->Name("firing/predicate_false")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(fire, number, counting_numbers(), {kLong})->Name("firing/count_by_number")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(fire, string, counting_strings(), {kString})->Name("firing/count_by_copyinstr")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(fire, print, printing(), {})->Name("consumer/printf")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(account, count, counting(), {})->Name("firing/count/account")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(account, string, counting_strings(), {kString})
    ->Name("firing/count_by_copyinstr/account")
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dvm::runtime::test

BENCHMARK_MAIN();
