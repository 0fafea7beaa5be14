// Time to compile a script from text to DIF. `cold` is the user's cost: the first compile() of a process, including ANTLR's
// tables, timed in a child. `warm` is one of many. `grow` shows that time and memory grow no faster than the script: ns_a_line
// and bytes_a_line are the increments per line over a script of 100 lines.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "dvm/compiler/compile.h"

namespace {

using namespace dvm::compiler;

// A script of so many lines, of the kinds of statements that scripts are made of.
std::string script(int lines) {
  std::string text = "#pragma D option quiet\nint total;\n";
  int n = 2;
  for (int i = 0; n + 10 <= lines; i++, n += 10) {
    text += fmt::format(
        "pid$target:libc.so.6:malloc{0}:entry\n"
        "/arg0 > {0} && execname != \"init\"/\n"
        "{{\n"
        "\tself->start[{0}] = timestamp;\n"
        "\t@sizes[\"size\", {0}] = quantize(arg0);\n"
        "\ttotal += arg0 * 2 + (total >> 3);\n"
        "\tnames[copyinstr(arg1), tid] = strjoin(execname, probefunc);\n"
        "\tthis->d = (self->start[{0}] - timestamp) / 1000;\n"
        "\tprintf(\"%d %s %d\\n\", pid, probefunc, this->d > 5 ? this->d : 0);\n"
        "}}\n",
        i);
  }
  while (n++ < lines) text += "/* */\n";
  return text;
}

bool compile_once(const std::string& text) {
  const Source source{"bench.d", text, false};
  CompileOptions options;
  options.macros = {{"target", "1"}};
  return !compile({&source, 1}, options).programs.empty();
}

struct Measured {
  double seconds = -1;
  double bytes = 0;  // by which the process grew at its largest
};

double largest_size() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) * 1024;
}

Measured measure_here(const std::string& text) {
  const double before = largest_size();
  const auto start = std::chrono::steady_clock::now();
  compile_once(text);
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), largest_size() - before};
}

Measured first_compile(const std::string& text) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const Measured here = measure_here(text);
    _exit(write(ends[1], &here, sizeof here) == sizeof here ? 0 : 1);
  }
  Measured measured;
  if (read(ends[0], &measured, sizeof measured) != sizeof measured) measured = {};
  waitpid(child, nullptr, 0);
  close(ends[0]), close(ends[1]);
  return measured;
}

// Registered and so run first: the child inherits what tables this process has warmed.
void cold(benchmark::State& state) {
  const std::string text = script(static_cast<int>(state.range(0)));
  for (auto _ : state) state.SetIterationTime(first_compile(text).seconds);
  state.SetLabel(fmt::format("{} lines", state.range(0)));
}
BENCHMARK(cold)->Name("compiler/cold")->Arg(1)->Arg(100)->UseManualTime()->Iterations(40)->Unit(benchmark::kMillisecond);

void grow(benchmark::State& state) {
  constexpr int kBase = 100;
  const std::string base = script(kBase), text = script(static_cast<int>(state.range(0)));
  const Measured least = first_compile(base);
  Measured all;
  for (auto _ : state) {
    all = first_compile(text);
    state.SetIterationTime(all.seconds);
  }
  const double lines = static_cast<double>(state.range(0)) - kBase;
  state.counters["peak_MB"] = all.bytes / 1e6;
  if (lines <= 0) return;
  state.counters["ns_a_line"] = (all.seconds - least.seconds) * 1e9 / lines;
  state.counters["bytes_a_line"] = (all.bytes - least.bytes) / lines;
}
BENCHMARK(grow)
    ->Name("compiler/grow")
    ->RangeMultiplier(10)
    ->Range(100, 100000)
    ->UseManualTime()
    ->Iterations(5)
    ->Unit(benchmark::kMillisecond);

void warm(benchmark::State& state) {
  const std::string text = script(static_cast<int>(state.range(0)));
  for (auto _ : state)
    if (!compile_once(text)) state.SkipWithError("does not compile");
  state.SetLabel(fmt::format("{} lines", state.range(0)));
}
BENCHMARK(warm)
    ->Name("compiler/warm")
    ->MeasureProcessCPUTime()
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(10000)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
