// Costs that depend on other users of the CPUs: polls, a thread's first firing after idle time, and two CPUs that fire at the
// same time. Covered by tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "lab/calibrate/live_run.h"
#include "lab/noise/apart.h"

namespace dvm::lab {

using namespace runtime;
namespace {

// Polls for the calls that a child makes in each millisecond before it sleeps. Most of a poll is waking up and the first firing.
class Polls {
 public:
  // firing: ns of a firing in dvm.
  Polls(const std::string& script, CalleeKind callee, LiveCase::By by, double firing, const Bench& bench)
      : one_{{.callee = callee, .times = kBursts * kCalls, .sleeps = true}, script, {{"switchrate", "1h"}}, by},
        firing_(firing),
        child_(or_throw(start_looping_child())),
        run_(one_, std::array{&child_}) {
    run_.start(or_throw(bench.compile(script)));
  }
  // Ns of a poll without its firings, as far as they are priced.
  LivePolls sample(bool is_apart = true) {
    const noise::CpuPlacement placed =
        is_apart ? noise::CpuPlacement::apart(child_.pid()) : noise::CpuPlacement::together(child_.pid());
    LivePolls polls = run_.poll();
    polls.ns.value = std::max(polls.ns.value - polls.firings * firing_, 0.0);
    return polls;
  }

 private:
  static constexpr uint64_t kBursts = 80, kCalls = 50;

  LiveCase one_;
  double firing_;
  LoopingChild child_;
  LiveRun run_;
};

double ns_of(const vm::Profile& profile, Row row, double things = 0) {
  const vm::Price* price = profile.find(row);
  return price ? (price->m + things * price->n) / clocks_of_ns(profile) : 0;
}

Polls polls_of_clauses(unsigned clauses, const Bench& bench, const vm::Profile& profile) {
  std::string script = "calibrated:::entry { @ = count(); }";
  for (unsigned i = 1; i < clauses; i++) script += fmt::format(" calibrated:::entry /arg2 == {}/ {{ @ = count(); }}", 1000 + i);
  const double firing = known_firings(script, bench, profile, 0).m;  // of the clauses the first alone has no predicate
  return Polls(script, CalleeKind::emulated, LiveCase::By::uprobe, firing + ns_of(profile, "source/pid_emulated/handler"_row),
               bench);
}

// In clocks, of times that vary anyway.
noise::Middle settled(Bench& bench, const char* series, const noise::QuietSamples& samples, const vm::Profile& profile) {
  return noise::times(bench.book.settle_middle(series, samples.plain_middle(), samples.is_quiet()), clocks_of_ns(profile));
}

// whole: a poll for a clause. clause: a further one.
void set_poll(vm::Profile& profile, Row row, const noise::Middle& whole, const noise::Middle& clause) {
  const double n = std::max(clause.median, 0.0);
  profile.set(row, {std::max(whole.median - n, 0.0), n, std::hypot(whole.deviation(), clause.deviation())});
}

// The first firing of each clause in a poll finds it cache-cold. So a poll for many clauses is compared with the one just before
// it for one clause; polls of another moment take half as long, or twice.
void sample_polls(Bench& bench, vm::Profile& profile) {
  constexpr unsigned kRuns = 6, kClauses = 10;
  Polls one = polls_of_clauses(1, bench, profile), many = polls_of_clauses(kClauses, bench, profile);
  const unsigned wanted = kRuns * bench.samples;
  noise::QuietSamples usual(wanted), shared(wanted), clause(wanted), late(wanted);
  while (usual.wants_more() || shared.wants_more() || clause.wants_more()) {
    const LivePolls of_one = one.sample(), of_many = many.sample(), together = one.sample(false);
    usual.add(of_one.ns), shared.add(together.ns);
    late.add({of_one.late, of_one.ns.is_quiet});  // who shares the core wakes dvm up later
    clause.add({(of_many.ns.value - of_one.ns.value) / (kClauses - 1), of_one.ns.is_quiet && of_many.ns.is_quiet});
  }
  const noise::Middle each = settled(bench, "clause of a poll", clause, profile);
  set_poll(profile, "consumer/poll"_row, settled(bench, "poll", usual, profile), each);
  set_poll(profile, "consumer/poll_shared"_row, settled(bench, "shared poll", shared, profile), each);
  profile.set("consumer/late"_row, difference(settled(bench, "late", late, profile)));
}

std::vector<Row> poll_rows() { return {"consumer/poll"_row, "consumer/poll_shared"_row, "consumer/late"_row}; }

// If nothing can be traced, a poll costs two context switches.
void measure_polls(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  const Status sampled = caught([&] { sample_polls(bench, profile); });
  const vm::Price* context_switch = profile.find("consumer/context_switch"_row);
  if (sampled || only || !context_switch) return or_throw(sampled);
  for (const Row row : {"consumer/poll"_row, "consumer/poll_shared"_row}) profile.set(row, times(*context_switch, 2));
}

// Polls for records that an agent leaves. A poll for uprobes says what each clause costs.
void measure_lane_polls(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  constexpr unsigned kRuns = 6;
  constexpr double kRecordBytes = 32;
  const std::string script = "calibrated:::entry { n[0] = 1; }";
  const double firing = known_firings(script, bench, profile).m + ns_of(profile, "agent/lane/read"_row, kRecordBytes);
  Polls lanes(script, CalleeKind::framed, LiveCase::By::agent, firing, bench);
  noise::QuietSamples polls(kRuns * bench.samples);
  while (polls.wants_more()) polls.add(lanes.sample().ns);
  const vm::Price* usual = profile.find("consumer/poll"_row);
  set_poll(profile, "consumer/poll_lanes"_row, settled(bench, "lane poll", polls, profile), {usual ? usual->n : 0, 0});
}

struct WokenCase {
  Row row;
  CalleeKind callee;
  const char* script;  // CHILD: its process
};
constexpr WokenCase kCases[] = {
    {"rested/process"_row, CalleeKind::emulated, "calibrated:::entry { @ = count(); }"},
    {"rested/kernel"_row, CalleeKind::system_call, "syscall::getppid:entry /pid == CHILD/ { @ = count(); }"}};

// Few, or the extra cost of the first one would be lost among them. That of the following ones is included.
constexpr uint32_t kBurst = 8;
constexpr uint64_t kBursts = 40;  // a sample

// Extra ns of a burst after idle time, compared with one after another burst.
template <class Call>
noise::QuietSample after_sleep(CalleeKind callee, const Call& call) {
  CalleeCalls calls{.callee = callee, .times = kBurst * kBursts, .burst = kBurst};
  const noise::QuietSample busy = call(calls);
  calls.sleeps = true;
  const noise::QuietSample woken = call(calls);
  return {kBurst * (woken.value - busy.value), busy.is_quiet && woken.is_quiet};
}

// Extra ns when traced, measured right after the untraced ones: the state of the caches varies from second to second.
noise::QuietSample sample_wake(const WokenCase& one, LoopingChild& child, const dif::Program& program) {
  const auto untraced = after_sleep(one.callee, [&](const CalleeCalls& calls) { return or_throw(child.ask(calls)); });
  const LiveCase live{.calls = {.callee = one.callee}, .script = {}};
  LiveRun run(live, std::array{&child});
  run.start(program);
  const noise::QuietSample traced = after_sleep(one.callee, [&](const CalleeCalls& calls) { return run.thread(calls); });
  return {traced.value - untraced.value, traced.is_quiet && untraced.is_quiet};
}

void measure_wakes(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  constexpr unsigned kRuns = 3;
  for (const WokenCase& one : kCases) {
    if (only && *only != one.row) continue;
    LoopingChild child = or_throw(start_looping_child());
    const noise::CpuPlacement apart = noise::CpuPlacement::apart(child.pid());
    const dif::Program program = or_throw(bench.compile(replaced(one.script, "CHILD", std::to_string(child.pid()))));
    noise::QuietSamples more(kRuns * bench.samples);
    while (more.wants_more()) more.add(sample_wake(one, child, program));
    // Other users of the caches during the sleep make it longer, and no gauge shows them: the quicker samples of a pass count.
    const noise::Middle woken = bench.book.settle_middle(one.row.name(), more.middle(), more.is_quiet());
    profile.set(one.row, times(difference(woken), clocks_of_ns(profile)));
  }
}

void measure_ring(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  LiveCase one{{CalleeKind::emulated, bench.firings}, "calibrated:::entry { @ = count(); }"};
  one.calls.hurries = true;
  const dif::Program program = or_throw(bench.compile(one.script));
  LoopingChild first = or_throw(start_looping_child()), second = or_throw(start_looping_child());
  const noise::CpuPlacement apart = noise::CpuPlacement::apart(first.pid(), 1, second.pid());  // or neither waits for the other
  LiveRun run(one, std::array{&first, &second});
  run.start(program);
  constexpr unsigned kRuns = 4;
  noise::QuietSamples alone(kRuns * bench.samples), both(kRuns * bench.samples);
  while (alone.wants_more() || both.wants_more())
    for (const auto& [callers, samples] : {std::pair(size_t{1}, &alone), {size_t{2}, &both}})
      samples->add(run.sample(callers).thread);
  profile.set("ring/shared"_row,
              difference(settled(bench, "ring both", both, profile), settled(bench, "ring alone", alone, profile)));
}

}  // namespace

extern const Meter kPollMeter = {"polls", "", poll_rows, measure_polls};
extern const Meter kLanePollMeter = {"polls of lanes", "polls of an agent's lanes were",
                                     [] { return std::vector{"consumer/poll_lanes"_row}; }, measure_lane_polls};
extern const Meter kWakeMeter = {"wake-ups", "firings after idle time were", [] { return rows_of(kCases); }, measure_wakes};
extern const Meter kRingMeter = {"ring", "the ring was", [] { return std::vector{"ring/shared"_row}; }, measure_ring};

}  // namespace dvm::lab
