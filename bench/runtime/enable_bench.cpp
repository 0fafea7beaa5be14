// How long five clauses take to become ECBs on 2,000 probes, without placing the probes: enable/2000_probes. `verified` and
// `prepared` count calls of the verifier and of the interpreter's preparation; linking replaces both by the counters below.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "dvm/compiler/compile.h"
#include "dvm/vm/engine.h"
#include "runtime/enabling/enabling.h"

namespace dvm::vm {

using Verified = std::variant<VerifiedDifo, std::vector<VerifyError>>;
using Interpreted = std::unique_ptr<PreparedDifo>;

Verified real_verify(dif::Difo) asm("__real__ZN3dvm2vm6verifyENS_3dif4DifoE");
Verified counted_verify(dif::Difo) asm("__wrap__ZN3dvm2vm6verifyENS_3dif4DifoE");
Interpreted real_prepare(VerifiedDifo, CostPolicy) asm("__real__ZN3dvm2vm14prepare_interpENS0_12VerifiedDifoENS0_10CostPolicyE");
Interpreted counted_prepare(VerifiedDifo,
                            CostPolicy) asm("__wrap__ZN3dvm2vm14prepare_interpENS0_12VerifiedDifoENS0_10CostPolicyE");

namespace {
uint64_t verified = 0, prepared = 0;
}

Verified counted_verify(dif::Difo difo) {
  verified++;
  return real_verify(std::move(difo));
}
Interpreted counted_prepare(VerifiedDifo difo, CostPolicy policy) {
  prepared++;
  return real_prepare(std::move(difo), policy);
}

}  // namespace dvm::vm

namespace dvm::runtime {
namespace {

constexpr uint32_t kProbes = 2000;
constexpr char kScript[] =
    "pid1:::entry { @[probefunc] = count(); }"
    "pid1:::entry /arg0 > 0/ { @bytes = sum(arg1); }"
    "pid1:::entry { self->start = timestamp; }"
    "pid1:::entry /self->start/ { @time[probefunc] = quantize(timestamp - self->start); self->start = 0; }"
    "pid1:::entry { printf(\"%s %d\", copyinstr(arg0), arg1); }";

void enable(benchmark::State& state, vm::CostPolicy policy) {
  const compiler::Source source{"bench.d", kScript, false};
  const compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  if (compiled.programs.empty()) return state.SkipWithError("does not compile");
  std::vector<Probe> probes(kProbes);
  std::vector<const Probe*> matched;
  for (Probe& probe : probes) {
    probe.id = static_cast<uint32_t>(matched.size() + 1), probe.site = UprobeSite{"a.out", probe.id, false, 1};
    matched.push_back(&probe);
  }
  const dif::Options options;
  vm::verified = vm::prepared = 0;
  for (auto _ : state) {
    auto enabling = std::make_unique<Enabling>();
    const auto matches = [&](const dif::ProbeDesc&) { return matched; };
    if (!enabling->add(compiled.programs.front().program, matches, options, policy)) return state.SkipWithError("not enabled");
    state.PauseTiming();
    enabling.reset();
    state.ResumeTiming();
  }
  const auto each = [&](uint64_t count) { return static_cast<double>(count) / static_cast<double>(state.iterations()); };
  state.counters["verified"] = each(vm::verified);
  state.counters["prepared"] = each(vm::prepared);
}

BENCHMARK_CAPTURE(enable, plain, vm::CostPolicy::none)->Name("enable/2000_probes")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(enable, account, vm::CostPolicy::blocks)->Name("enable/2000_probes/account")->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dvm::runtime

BENCHMARK_MAIN();
