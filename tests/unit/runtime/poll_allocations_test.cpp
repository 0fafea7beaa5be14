// A poll in steady state does not allocate: firings run clauses that record, aggregate, keep variables, speculate, fault and ask
// the host about the process.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "dvm/runtime/handle.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/own_firing.h"
#include "runtime/provider/providers.h"
#include "tests/support/allocations.h"
#include "tests/unit/runtime/programs.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::runtime::test {
namespace {

using dif::BuiltIn;

constexpr uint64_t kFirings = 3000, kUnsteady = 1000;

// Fires probes from this process, and counts what the later firings allocate.
class CountingInstrument final : public Instrument, public Replays {
 public:
  explicit CountingInstrument(uint32_t probe) : probe_(probe) {}
  std::string_view name() const override { return "counting"; }
  std::string_view refusal(const Probe&) const override { return ""; }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    for (uint64_t i = 0; fired < kFirings; i++) {
      vm::Firing firing = own_firing();
      firing.probe_id = probe_;
      firing.args[0] = fired % 100, firing.args[1] = reinterpret_cast<uint64_t>("a string");
      firing.stack = stack_;
      const uint64_t before = dvm::test::allocations();
      const bool goes_on = sink.fire(firing);
      if (fired++ >= kUnsteady) allocated += dvm::test::allocations() - before;
      if (!goes_on) return i + 1;
    }
    return uint64_t{0};
  }
  bool finished() const override { return fired == kFirings; }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  Abilities abilities() override { return {.replays = this}; }

  uint64_t fired = 0, allocated = 0;

 private:
  uint32_t probe_;
  std::array<uint64_t, 4> stack_{0x1000, 0x2000, 0x3000, 0x4000};
};

// self->t = timestamp
dif::Difo set_thread_local() {
  return dif::test::assembled("v 500 scl tls r/w int64\nldgs timestamp, %r1\nstts %r1, v\nret %r1\n");
}
// a[arg0] = arg0
dif::Difo set_array() {
  return dif::test::assembled("w 501 arr glb r/w int64\nldgs arg0, %r1\npushtv %r1\nstgaa %r1, w\nret %r1\n");
}
// copyinstr(arg1)
dif::Difo copied_string() {
  dif::Difo difo = dif::test::assembled("ldgs arg1, %r1\npushtv %r1\ncall copyinstr, %r2\nret %r2\n");
  difo.result = kString;
  return difo;
}

dif::Program program() {
  dif::Program program;
  const auto add = [&](std::vector<dif::ActDesc> actions) { program.clauses.push_back(clause("entry", std::move(actions))); };
  add({action(dif::Action::trace, {copied_string()}), action(dif::Action::trace, {built_in(BuiltIn::arg0)}),
       action(dif::Action::ustack, {constant(4)})});
  add({action(dif::Action::expression, {set_thread_local()}), action(dif::Action::expression, {set_array()})});
  add({aggregate(dif::Action::agg_count, 1, {copied_string(), built_in(BuiltIn::arg0)}, 2)});
  add({aggregate(dif::Action::agg_quantize, 2, {built_in(BuiltIn::arg0)}, 0)});
  add({action(dif::Action::trace, {divide_by_zero()})});
  for (const dif::BuiltInInfo& one : dif::kBuiltIns)  // goid is known on probes of Go functions only
    if (one.kind == dif::BuiltInKind::scalar && one.family != dif::VariableFamily::none && one.id != BuiltIn::goid)
      add({action(dif::Action::trace, {built_in(one.id, one.type == "string" ? kString : kLong)})});
  program.clauses.push_back(clause("ERROR", {aggregate(dif::Action::agg_count, 3, {}, 0)}));
  for (const dif::Difo& difo : {set_thread_local(), set_array()})
    program.variables.insert(program.variables.end(), difo.variables.begin(), difo.variables.end());
  program.aggregations = {declare(1, dif::Action::agg_count, {kString, kLong}), declare(2, dif::Action::agg_quantize),
                          declare(3, dif::Action::agg_count)};
  return program;
}

class Polls : public testing::TestWithParam<vm::CostPolicy> {};

TEST_P(Polls, DoNotAllocateInSteadyState) {
  HandleConfig config;
  config.out = config.err = std::fopen("/dev/null", "w");
  config.cost = GetParam();
  {
    Handle handle(config);
    for (auto& provider : make_providers()) handle.add_provider(std::move(provider));
    handle.discover({"dtrace", "", "", ""});
    auto made = std::make_unique<CountingInstrument>(
        handle.catalog().add({0, "pid1", "a.out", "f", "entry", UprobeSite{"a.out", 1, false, 1}}).id);
    CountingInstrument& instrument = *made;
    handle.add_instrument(std::move(made));
    const Status enabled = handle.enable(program());
    ASSERT_TRUE(enabled) << enabled.error().message;
    std::vector<Refused> refused;
    const Status went = handle.go(refused);
    ASSERT_TRUE(went) << went.error().message;
    ASSERT_TRUE(refused.empty()) << refused[0].reason;
    while (handle.work()) {
    }
    EXPECT_TRUE(handle.stop());
    EXPECT_EQ(instrument.fired, kFirings);
    EXPECT_EQ(instrument.allocated, 0u);
  }
  std::fclose(config.out);
}

INSTANTIATE_TEST_SUITE_P(All, Polls, testing::Values(vm::CostPolicy::none, vm::CostPolicy::blocks, vm::CostPolicy::time));

TEST(Allocations, AreCounted) {
  const uint64_t before = dvm::test::allocations();
  const auto one = std::make_unique<int>(1);
  EXPECT_EQ(dvm::test::allocations(), before + 1 + (one == nullptr));
}

}  // namespace
}  // namespace dvm::runtime::test
