// Chooses the instruments. Covered by tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/backend/local/live.h"

#include <utility>
#include <variant>

#include "runtime/instrument/agent/agent.h"
#include "runtime/instrument/breakpoint/breakpoint.h"
#include "runtime/instrument/timer.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {
namespace {

// The words of option `backend`.
constexpr int64_t kUprobe = 0, kBreakpoint = 1, kAgent = 2;

// Stands for an agent that makes no probe fire, to say why.
class NoAgent final : public Instrument {
 public:
  explicit NoAgent(std::string_view reason) : reason_(reason) {}
  std::string_view name() const override { return "agent"; }
  std::string_view refusal(const Probe&) const override { return reason_; }
  bool is_for_others(const Probe& probe) const override { return !std::holds_alternative<UprobeSite>(probe.site); }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink&) override { return uint64_t{0}; }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}

 private:
  std::string_view reason_;
};

std::string_view why_no_agent(int64_t backend) {
  if (backend == kUprobe) return "-x backend=uprobe";
  return backend == kBreakpoint ? "-x backend=breakpoint" : "BPF is permitted, and -x backend=agent chooses it";
}

bool is_chosen(int64_t backend) { return backend == kUprobe || backend == kBreakpoint; }

// Whether breakpoints are among the instruments. If they are chosen, there is nothing else.
bool may_use_breakpoints(const dif::Options& options) {
  return options[dif::Option::breakpoints] != 0 || options[dif::Option::backend] == kBreakpoint;
}

}  // namespace

bool names_backend(const dif::Options& options) {
  const int64_t chosen = options[dif::Option::backend];
  return chosen == kAgent || is_chosen(chosen);
}

bool chooses_agent(const dif::Options& options) {
  const int64_t chosen = options[dif::Option::backend];
  return chosen == kAgent || (!is_chosen(chosen) && !may_use_bpf());
}

std::vector<LiveInstrument> make_live_instruments(const dif::Options& options) {
  const auto ring_bytes = static_cast<size_t>(options[dif::Option::ringsize]);
  auto breakpoints = make_breakpoint_instrument();
  auto uprobes = make_uprobe_instrument({.ring_bytes = ring_bytes});
  const int64_t chosen = options[dif::Option::backend];
  const bool by_breakpoints = is_chosen(chosen) ? chosen == kBreakpoint : !may_use_bpf();
  std::vector<LiveInstrument> instruments;
  if (chooses_agent(options))
    instruments.push_back({make_agent_instrument(ring_bytes, by_breakpoints), ""});
  else
    instruments.push_back({std::make_unique<NoAgent>(why_no_agent(chosen)), ""});
  const bool may_break = may_use_breakpoints(options);
  if (by_breakpoints) {
    if (may_break) instruments.push_back({std::move(breakpoints), ""});
    instruments.push_back({std::move(uprobes), is_chosen(chosen) ? "-x backend=breakpoint" : kNoRights});
  } else {
    instruments.push_back({std::move(uprobes), chosen == kAgent ? "-x backend=agent" : ""});
    if (may_break)
      instruments.push_back(
          {std::move(breakpoints), is_chosen(chosen) ? "-x backend=uprobe" : "BPF is permitted, and a uprobe costs less"});
  }
  instruments.push_back({make_timer_instrument(), ""});
  return instruments;
}

}  // namespace dvm::runtime
