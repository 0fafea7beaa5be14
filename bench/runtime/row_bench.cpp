// What each row of a profile costs: a benchmark a row, by the cases that calibration measures it with (runtime/cost/calibrate).
// The time is of one use, a median of its own samples; `per_byte` is what a byte more takes, in ns.
//
//   interp/opcode/add  interp/variable/pid  interp/subr/...  interp/action/trace  interp/agg/count    engine first
//   source/uprobe/entry  source/syscall  source/replay                                               in the traced thread
//   source/uprobe/entry/handler  consumer/copy                                                       in dvm

#include <benchmark/benchmark.h>

#include "dvm/compiler/compile.h"
#include "runtime/cost/calibrate/row_measurement.h"
#include "runtime/cost/machine.h"

namespace dvm::runtime {
namespace {

Result<dif::Program> compile_script(const std::string& text) {
  const compiler::Source source{"-n", text, true};
  compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  if (compiled.programs.empty()) return Error{"'" + text + "' does not compile"};
  return std::move(compiled.programs.front().program);
}

void run(benchmark::State& bench, const std::string& row, double clock_hz) {
  for (auto _ : bench) {
    vm::Profile profile;
    profile.clock_hz = clock_hz;
    if (Status measured = measure_row(row, compile_script, profile); !measured)
      return bench.SkipWithError(measured.error().message.c_str());
    const vm::Price* price = profile.find(row);
    if (!price) return bench.SkipWithError("it was not measured");
    bench.SetIterationTime(price->m / clock_hz);
    if (price->n > 0) bench.counters["per_byte"] = price->n / clock_hz * 1e9;
  }
}

void add_all() {
  constexpr uint64_t kInterval = 20'000'000;
  const double clock_hz = tick_rate(kInterval);
  for (const std::string& row : measured_rows())
    benchmark::RegisterBenchmark(benchmark_name(row, "interp").c_str(),
                                 [row, clock_hz](benchmark::State& bench) { run(bench, row, clock_hz); })
        ->UseManualTime()
        ->Iterations(1);
}

}  // namespace
}  // namespace dvm::runtime

int main(int argc, char** argv) {
  dvm::runtime::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
