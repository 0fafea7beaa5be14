// Cost of each row of a profile: one benchmark per row, with the cases by which calibration measures it (lab/calibrate). The
// time is that of one use, the median of its samples; `per_byte` is the time per further byte, in ns.
//
//   opcode/add  variable/pid  subroutine/...  action/trace  aggregation/count    on the default engine
//   source/pid_emulated/trigger  source/syscall/trigger                          in the traced thread
//   source/pid_emulated/handler  consumer/copy                                   in dvm

#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "dvm/compiler/compile.h"
#include "lab/calibrate/meter.h"
#include "runtime/cost/profile_file.h"

namespace dvm::lab {

using namespace runtime;

namespace {

constexpr const char* kTime = "ns";  // of a use

Result<dif::Program> compile_script(const std::string& text) {
  const compiler::Source source{"-n", text, true};
  compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  if (compiled.programs.empty()) return Error{"'" + text + "' does not compile"};
  return std::move(compiled.programs.front().program);
}

// By itself: the prices of scripts include their DIF.
Status measure_row(Row row, vm::Profile& profile) {
  Bench bench{.compile = compile_script, .calls = 20'000};
  for (const Meter* meter : meters())
    if (has_row(meter->rows(), row)) return meter->measure(bench, row, profile);
  return Error{"there is no measurement of it"};
}

void run(benchmark::State& bench, Row row, double clock_hz) {
  double clocks = 0;
  for (auto _ : bench) {
    vm::Profile profile;
    profile.clock_hz = clock_hz;
    if (Status measured = measure_row(row, profile); !measured) return bench.SkipWithError(measured.error().message.c_str());
    const vm::Price* price = profile.find(row);
    if (!price) return bench.SkipWithError("it was not measured");
    clocks += price->m;
    if (price->n > 0) bench.counters["per_byte"] = price->n / clock_hz * 1e9;
  }
  bench.counters[kTime] = benchmark::Counter(clocks / clock_hz * 1e9, benchmark::Counter::kAvgIterations);
}

// Shows the counter as the time. The library takes a time that a benchmark says itself, and a number of iterations, only of
// those whose names end with "/iterations:1/manual_time", which a filter had to match too.
class PricesAsTimes : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override {
    shown_->SetOutputStream(&GetOutputStream()), shown_->SetErrorStream(&GetErrorStream());
    return shown_->ReportContext(context);
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> priced = runs;
    for (Run& run : priced) show_price(run);
    shown_->ReportRuns(priced);
  }
  void Finalize() override { shown_->Finalize(); }

 private:
  // Times are kept of all iterations together; of repetitions there may be one in per cent.
  static void show_price(Run& run) {
    const auto price = run.counters.find(kTime);
    if (price == run.counters.end()) return;
    const double unit = run.aggregate_unit == benchmark::kPercentage ? 1 : 1e-9 * static_cast<double>(run.iterations);
    run.real_accumulated_time = run.cpu_accumulated_time = price->second * unit;
    run.counters.erase(price);
  }

  std::unique_ptr<BenchmarkReporter> shown_{benchmark::CreateDefaultDisplayReporter()};
};

void add_all() {
  constexpr uint64_t kInterval = 20'000'000;
  const double clock_hz = tick_rate(kInterval);
  for (const Row row : measured_rows())
    benchmark::RegisterBenchmark(row.name().c_str(), [row, clock_hz](benchmark::State& bench) { run(bench, row, clock_hz); });
}

}  // namespace
}  // namespace dvm::lab

int main(int argc, char** argv) {
  std::string once = "--benchmark_min_time=0";  // a measurement has its own samples; what the caller says comes later, and wins
  std::vector<char*> words(argv, argv + argc);
  words.insert(words.begin() + std::min(argc, 1), once.data());
  argc = static_cast<int>(words.size());
  dvm::lab::add_all();
  benchmark::Initialize(&argc, words.data());
  if (benchmark::ReportUnrecognizedArguments(argc, words.data())) return 1;
  dvm::lab::PricesAsTimes reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
}
