// The delay of firings while clauses are translated: translation_delay [SECONDS [INSTRUCTIONS]]
//
// A firing is due every 50 us. Its delay is the time from then until its clauses have run. Five clauses run on engine interp, and
// then on auto, which translates them on the way; twice. Printed: median, 99.9th percentile and longest delay of each run, and
// the longest one within 100 ms before the first poll that saw a clause on the other engine.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "dvm/dif/text.h"
#include "dvm/runtime/handle.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/instrument.h"
#include "runtime/provider/providers.h"
#include "tests/unit/runtime/programs.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kEvery = 50'000, kBefore = 100'000'000;  // ns
constexpr unsigned kClauses = 5, kMostAPoll = 1000;

struct Fired {
  uint64_t at, delay;
};

class Clockwork final : public Instrument {
 public:
  Clockwork(uint32_t probe, std::vector<Fired>& fired) : fired_(fired) {
    firing_.probe_id = probe, firing_.pid = firing_.tid = 1;
  }
  std::string_view name() const override { return "clockwork"; }
  std::string_view refusal(const Probe& probe) const override {
    return std::holds_alternative<InternalSite>(probe.site) ? "it fires in dvm itself" : "";
  }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    uint64_t count = 0;
    if (due_ == 0) due_ = read_clock(CLOCK_MONOTONIC);
    for (bool goes_on = true; goes_on && count < kMostAPoll && due_ <= read_clock(CLOCK_MONOTONIC) && sink.has_buffers(0);
         due_ += kEvery, count++) {
      firing_.timestamp = due_, firing_.args[0] = count;
      goes_on = sink.fire(firing_);
      const uint64_t now = read_clock(CLOCK_MONOTONIC);
      fired_.push_back({now, now - due_});
    }
    return count;
  }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  Abilities abilities() override { return {}; }

 private:
  vm::Firing firing_;
  std::vector<Fired>& fired_;
  uint64_t due_ = 0;
};

// @ = sum(arg0), after many additions of nothing.
dif::EcbDesc long_clause(unsigned instructions) {
  std::string text = "ldgs arg0, %r1\n";
  for (unsigned i = 0; i < instructions; i++) text += "add %r1, %r0, %r1\n";
  auto difo = dif::assemble(text + "ret %r1\n");
  if (!difo) std::abort();
  difo->result = test::kLong;
  return test::clause("f", {test::aggregate(dif::Action::agg_sum, 1, {*std::move(difo)}, 0)});
}

uint64_t longest(const std::vector<Fired>& fired, uint64_t from, uint64_t to) {
  uint64_t most = 0;
  for (const Fired& one : fired)
    if (one.at >= from && one.at <= to) most = std::max(most, one.delay);
  return most;
}

void report(const char* engine, std::vector<Fired> fired, uint64_t changed_at) {
  const uint64_t most = changed_at == 0 ? 0 : longest(fired, changed_at - kBefore, changed_at);
  std::sort(fired.begin(), fired.end(), [](const Fired& a, const Fired& b) { return a.delay < b.delay; });
  const auto at = [&fired](double share) {
    return static_cast<double>(fired[static_cast<size_t>(share * static_cast<double>(fired.size() - 1))].delay) / 1e3;
  };
  fmt::print("{:7} {:9} firings, delay in us: median {:.2f}, 99.9 % {:.1f}, longest {:.1f}", engine, fired.size(), at(0.5),
             at(0.999), at(1));
  if (changed_at != 0) fmt::print("; while translating {:.1f}", static_cast<double>(most) / 1e3);
  fmt::print("\n");
}

bool run(const char* engine, uint64_t seconds, unsigned instructions) {
  HandleConfig config;
  config.out = config.err = std::fopen("/dev/null", "w");
  if (!config.options.set("engine", engine) || !config.options.set("quiet", "")) return false;
  Handle handle(config);
  for (auto& provider : make_providers()) handle.add_provider(std::move(provider));
  handle.discover({"dtrace", "", "", ""});
  std::vector<Fired> fired;
  fired.reserve(seconds * 1'000'000'000 / kEvery + 1000);
  const uint32_t probe = handle.catalog().add({0, "pid1", "a.out", "f", "entry", UprobeSite{"a.out", 1, false, 1}}).id;
  handle.add_instrument(std::make_unique<Clockwork>(probe, fired));
  dif::Program program;
  for (unsigned i = 0; i < kClauses; i++) program.clauses.push_back(long_clause(instructions));
  for (dif::EcbDesc& clause : program.clauses) clause.probes = {{"pid1", "a.out", "f", "entry"}};
  program.aggregations = {test::declare(1, dif::Action::agg_sum)};
  std::vector<Refused> refused;
  if (!handle.enable(program) || !handle.go(refused)) return false;
  const std::string before(handle.placements().at(0).engine);
  uint64_t changed_at = 0;
  for (const uint64_t end = read_clock(CLOCK_MONOTONIC) + seconds * 1'000'000'000; read_clock(CLOCK_MONOTONIC) < end;) {
    handle.look();
    if (changed_at == 0 && handle.placements().at(0).engine != before) changed_at = read_clock(CLOCK_MONOTONIC);
  }
  if (!handle.stop()) return false;
  report(engine, std::move(fired), changed_at);
  return true;
}

}  // namespace
}  // namespace dvm::runtime

int main(int argc, char** argv) {
  const auto seconds = static_cast<uint64_t>(argc > 1 ? std::atoi(argv[1]) : 10);
  const auto instructions = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1000);
  for (const char* engine : {"interp", "auto", "interp", "auto"})
    if (!dvm::runtime::run(engine, seconds, instructions)) return 1;
}
