// Time to find probes, and to write and replay recordings. Rates are events per second.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/instrument/replay/replay.h"
#include "runtime/process/process.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

class CountingSink : public EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override { return sum += firing.args[0], true; }
  uint64_t sum = 0;
};

// A new provider each time: nothing is cached.
void discover(benchmark::State& state, const char* module, const char* function) {
  auto process = Process::spawn(std::vector<std::string>{"bash", "-c", "exit"});
  if (!process) {
    state.SkipWithError(process.error().message.c_str());
    return;
  }
  dif::ProbeDesc description{fmt::format("pid{}", process->pid()), module, function, "entry"};
  size_t found = 0;
  for (auto _ : state) {
    Catalog catalog;
    make_pid_provider()->discover(description, catalog);
    found = catalog.match(description).size();
  }
  state.counters["probes"] = static_cast<double>(found);
}
BENCHMARK_CAPTURE(discover, pid_bash_all, "bash", "")->Name("provider/discover/pid_bash_all")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(discover, pid_libc_all, "libc", "")->Name("provider/discover/pid_libc_all")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(discover, pid_libc_malloc, "libc", "malloc")
    ->Name("provider/discover/pid_libc_malloc")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(discover, pid_libc_none, "libc", "mallco")
    ->Name("provider/discover/pid_libc_none")
    ->Unit(benchmark::kMillisecond);

void spawn(benchmark::State& state) {
  for (auto _ : state) {
    auto process = Process::spawn(std::vector<std::string>{"/bin/true"});
    benchmark::DoNotOptimize(process);
  }
}
BENCHMARK(spawn)->Name("process/spawn_to_entry")->Unit(benchmark::kMillisecond)->UseRealTime();

Probe sample_probe() {
  Probe probe;
  probe.id = 4;
  probe.provider = "pid1000";
  probe.name = "entry";
  probe.site = UprobeSite{"", 0, false, 1000};
  return probe;
}

SyntheticFirings sample_firings(bool with_string) {
  SyntheticFirings firings;
  firings.count = 1'000'000;
  firings.args[0] = 0x1000;
  if (with_string) firings.strings = {{0, "hello DTrace"}};
  return firings;
}

void run_all(Instrument& instrument, const Probe& probe, EventSink& sink) {
  std::vector<Refused> refused;
  EnabledProbe enabled{&probe, {}};
  if (!instrument.enable(std::span(&enabled, 1), refused)) return;
  const Replays& replays = *instrument.abilities().replays;
  while (!replays.finished()) {
    if (!instrument.poll(sink)) return;
  }
}

std::string sample_path() { return fmt::format("/tmp/dvm-bench-{}.dvm", getpid()); }

void write_sample(bool with_string) {
  auto writer = RecordingWriter::open(sample_path(), 1000);
  if (!writer) return;
  std::shared_ptr<RecordingWriter> shared = std::move(*writer);
  CountingSink sink;
  Probe probe = sample_probe();
  run_all(*make_recorded_instrument(make_synthetic_instrument(sample_firings(with_string)), shared), probe, sink);
  if (!shared->finish(0)) unlink(sample_path().c_str());
}

void record(benchmark::State& state, bool with_string) {
  for (auto _ : state) write_sample(with_string);
  state.SetItemsProcessed(state.iterations() * 1'000'000);
  unlink(sample_path().c_str());
}
BENCHMARK_CAPTURE(record, one_argument, false)->Name("replay/write/one_argument")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(record, string, true)->Name("replay/write/string")->Unit(benchmark::kMillisecond)->UseRealTime();

void replay(benchmark::State& state, bool with_string) {
  write_sample(with_string);
  Probe probe = sample_probe();
  CountingSink sink;
  for (auto _ : state) {
    auto reader = RecordingReader::open(sample_path());
    if (!reader) {
      state.SkipWithError(reader.error().message.c_str());
      break;
    }
    run_all(*make_replay_instrument(std::move(*reader)), probe, sink);
  }
  benchmark::DoNotOptimize(sink.sum);
  state.SetItemsProcessed(state.iterations() * 1'000'000);
  unlink(sample_path().c_str());
}
BENCHMARK_CAPTURE(replay, one_argument, false)->Name("replay/read/one_argument")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(replay, string, true)->Name("replay/read/string")->Unit(benchmark::kMillisecond)->UseRealTime();

void synthetic(benchmark::State& state) {
  Probe probe = sample_probe();
  CountingSink sink;
  for (auto _ : state) run_all(*make_synthetic_instrument(sample_firings(true)), probe, sink);
  benchmark::DoNotOptimize(sink.sum);
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}
BENCHMARK(synthetic)->Name("replay/synthetic/string")->Unit(benchmark::kMillisecond)->UseRealTime();

void match(benchmark::State& state, const char* function) {
  Catalog catalog;
  for (int i = 0; i < 30'000; i++) {
    Probe probe = sample_probe();
    probe.id = 0;
    probe.function = fmt::format("function_{}", i);
    catalog.add(std::move(probe));
  }
  for (auto _ : state) benchmark::DoNotOptimize(catalog.match({"pid1000", "", function, "entry"}));
}
BENCHMARK_CAPTURE(match, glob_in_30000, "*_99*")->Name("catalog/match/glob_in_30000")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(match, name_in_30000, "function_77")->Name("catalog/match/name_in_30000")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dvm::runtime
