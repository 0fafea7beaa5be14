// Covered by tests/runtime/scenarios/test_calibrate.py.

#include "lab/calibrate/live_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/clock.h"
#include "lab/calibrate/quiet_polls.h"
#include "runtime/catalog/catalog.h"
#include "runtime/cost/predict.h"
#include "runtime/instrument/agent/agent.h"
#include "runtime/instrument/pace.h"
#include "runtime/instrument/timer.h"
#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/provider/providers.h"
#include "runtime/symbol/maps.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr const char* kProvider = "calibrated";
constexpr uint64_t kFew = 100, kMany = 2100;  // calls whose firings are handled at once, while a core may stay quiet
constexpr unsigned kDrains = 4;               // of both, a sample

std::unique_ptr<Instrument> make_instrument(const LiveCase& one, const dif::Options& options) {
  if (one.by == LiveCase::By::counter) return make_counting_instrument();
  if (one.by == LiveCase::By::timer) return make_timer_instrument();
  if (one.by == LiveCase::By::uprobe) return make_uprobe_instrument();
  return make_agent_instrument(static_cast<size_t>(options[dif::Option::ringsize]), false);
}

// The file of a child, which is dvm's own. An agent is told the name by which the child has it mapped.
std::string path_of(pid_t pid, LiveCase::By by) {
  if (const auto objects = mapped_objects(pid); objects && by >= LiveCase::By::agent)
    for (const MappedObject& object : *objects)
      if (object.is_program) return object.open_path;
  return fmt::format("/proc/{}/exe", pid);
}

// The cost of a firing in dvm without the poll, which varies: the difference of polls that find many firings and few.
class Drains {
 public:
  Drains(const std::string& series, Bench& bench)
      : series_(series + " drained"), book_(bench.book), few_(bench.samples * kDrains), many_(bench.samples * kDrains) {}
  bool want_more() const { return few_.wants_more() || many_.wants_more(); }
  void add(LiveRun& run) {
    for (unsigned i = 0; i < kDrains; i++)
      for (const auto& [calls, samples] : {std::pair(kFew, &few_), {kMany, &many_}}) samples->add(run.drain(calls));
  }
  noise::Middle settled() {
    const noise::Middle few = few_.middle(), many = many_.middle();
    const noise::Middle found =
        times(noise::Middle{std::max(many.median - few.median, 0.0), std::hypot(many.distance, few.distance)},
              1.0 / static_cast<double>(kMany - kFew));
    return book_.settle_middle(series_, found, few_.is_quiet() && many_.is_quiet());
  }

 private:
  std::string series_;
  noise::SeriesBook& book_;
  noise::QuietSamples few_, many_;
};

// Relative difference of two attachments of the same script to the same calls.
constexpr double kAttachment = 0.01;

// The time of an interrupt varies, as that of waking up does.
noise::Middle settle_calls(noise::SeriesBook& book, const std::string& series, const CalleeCalls& calls,
                           const noise::QuietSamples& samples) {
  if (calls.callee == CalleeKind::loop) return book.settle_middle(series, samples.middle(), samples.is_quiet());
  return book.settle(series, samples);
}

}  // namespace

LiveRun::LiveRun(const LiveCase& one, std::span<LoopingChild* const> children)
    : case_(one), children_(children.begin(), children.end()) {}

void LiveRun::start(const dif::Program& program) {
  if (!nowhere_ || !messages_) throw Error{"failed to open a file for the output"};
  HandleConfig config;
  config.out = nowhere_.get(), config.err = messages_.get();
  set_options(config.options, {{"quiet", ""}, {"switchrate", "20ms"}, {"aggrate", "1h"}});
  set_options(config.options, case_.settings);
  handle_ = std::make_unique<Handle>(config);
  auto instrument = make_instrument(case_, config.options);
  if (FollowsProcesses* forks = instrument->abilities().follows; forks != nullptr && config.options[dif::Option::followfork] > 0)
    or_throw(forks->follow(children_.front()->pid()));
  handle_->add_instrument(std::move(instrument));
  find_probes(program);
  or_throw(handle_->enable(program));
  std::vector<Refused> refused;
  or_throw(handle_->go(refused));
  if (!refused.empty()) throw Error{refused.front().reason};
  const uint64_t begin = read_clock(CLOCK_MONOTONIC), each = std::max<uint64_t>(case_.calls.times, 1);
  for (uint64_t calls = 0; calls < case_.warmed || read_clock(CLOCK_MONOTONIC) - begin < case_.warmed_ns; calls += each) sample();
}

LiveSample LiveRun::sample(size_t callers) {
  const uint64_t events = handle_->account().events, wall = read_clock(CLOCK_MONOTONIC);
  noise::QuietTime in_dvm;
  in_dvm.begin();
  call(callers);
  while (!children_.front()->is_done() && work(in_dvm)) {
  }
  const noise::QuietSample thread = finish(callers);
  work(in_dvm);  // what is left in the ring
  if (case_.warmed > 0) empty_lanes(events + callers * case_.calls.times);
  const auto firings = static_cast<double>(handle_->account().events - events);
  return {thread,
          {in_dvm.each(), in_dvm.quiet_share() >= noise::kQuietEnough},
          firings / cpus() / static_cast<double>(read_clock(CLOCK_MONOTONIC) - wall) * 1e9};
}

noise::QuietSample LiveRun::thread(const CalleeCalls& calls) {
  or_throw(children_.front()->tell(calls));
  while (!children_.front()->is_done() && handle_->poll() && handle_->wait()) {
  }
  return or_throw(children_.front()->finish());
}

noise::QuietSample LiveRun::drain(uint64_t calls) {
  CalleeCalls some = case_.calls;
  some.times = calls;
  const uint64_t events = handle_->account().events;
  or_throw(children_.front()->ask(some));
  noise::QuietPiece piece(noise::wait_for_quiet_core());
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  handle_->poll();
  if (case_.warmed > 0) empty_lanes(events + calls);
  return piece.end(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin));
}

LivePolls LiveRun::poll() {
  constexpr double kQuiet = 0.2;  // of the polls, as of the samples of a live row
  constexpr unsigned kFirst = 2;  // polls, which find what others have left: in a long run there are hardly any such
  call(1);
  for (unsigned i = 0; i < kFirst && handle_->poll(); i++) handle_->wait();
  QuietPolls polls(*handle_);
  const uint64_t begin = read_clock(CLOCK_MONOTONIC), events = handle_->account().events;
  while (!children_.front()->is_done() && polls.poll()) {
  }
  finish(1);
  const double passed = static_cast<double>(read_clock(CLOCK_MONOTONIC) - begin) - polls.own_ns();
  const double count = std::max(polls.count(), 1.0);
  return {{polls.ns() / count, polls.quiet_share() >= kQuiet},
          static_cast<double>(handle_->account().events - events) / count,
          std::max(passed / count - kLongestWait, 0.0)};
}

// A poll takes part of a lane, and nothing that may be later than a record yet to come. Clauses in the thread are no events.
void LiveRun::empty_lanes(uint64_t events) {
  const unsigned most_polls = case_.is_uncounted ? 20 : 200;
  constexpr useconds_t kSoon = 200;
  for (unsigned i = 0; i < most_polls && handle_->account().events < events; i++) {
    const uint64_t before = handle_->account().events;
    if (!handle_->poll()) return;
    if (handle_->account().events == before) usleep(kSoon);
  }
}

bool LiveRun::work(noise::QuietTime& in_dvm) {
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID), events = handle_->account().events;
  const bool goes_on = handle_->poll() && handle_->wait();
  const auto taken = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
  in_dvm.end(taken, static_cast<double>(handle_->account().events - events));
  return goes_on;
}

void LiveRun::stop() {
  or_throw(handle_->stop());
  if (const uint64_t lost = handle_->drops(); lost != 0) throw Error{fmt::format("{} firings were lost", lost)};
  std::string text(static_cast<size_t>(std::max(std::ftell(messages_.get()), 0L)), '\0');
  std::rewind(messages_.get());
  text.resize(std::fread(text.data(), 1, text.size(), messages_.get()));
  if (!case_.fails && text.find("error") != std::string::npos) throw Error{text};
}

void LiveRun::call(size_t callers) {
  for (size_t i = 0; i < callers; i++) or_throw(children_[i]->tell(case_.calls));
}

// What the first one says.
noise::QuietSample LiveRun::finish(size_t callers) {
  const noise::QuietSample first = or_throw(children_.front()->finish());
  for (size_t i = 1; i < callers; i++) or_throw(children_[i]->finish());
  return first;
}

void LiveRun::find_probes(const dif::Program& program) {
  bool has_providers = false;
  for (const dif::EcbDesc& clause : program.clauses)
    for (const dif::ProbeDesc& description : clause.probes) {
      if (description.provider == kProvider) return add_callees();
      if (!has_providers)
        for (auto& provider : make_providers()) handle_->add_provider(std::move(provider));
      has_providers = true;
      if (const Discovery found = handle_->discover(description); !found.reason.empty()) throw Error{found.reason};
    }
}

void LiveRun::add_callees() {
  const uint64_t offset = or_throw(offset_of(case_.calls.callee));
  for (const LoopingChild* child : children_) {
    const std::string path = path_of(child->pid(), case_.by);
    for (const char* name : {"entry", "again", "return"}) {
      UprobeSite site{path, offset, name == std::string_view("return"), child->pid()};
      if (case_.calls.callee == CalleeKind::framed) site.size = site.alone = size_of_framed();
      handle_->catalog().add(
          {.provider = kProvider, .function = fmt::format("f{}", child->pid()), .name = name, .site = std::move(site)});
    }
  }
}

double cpus() { return static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

LiveFigures measure_live(const std::string& series, const LiveCase& one, LoopingChild& child, Bench& bench) {
  const dif::Program program = or_throw(bench.compile(one.script));
  const bool is_loop = one.calls.callee == CalleeKind::loop;
  const bool is_drained = !is_loop && one.by != LiveCase::By::counter && one.by != LiveCase::By::agent_in_thread;
  const std::string of_thread = series + " thread";
  noise::QuietSamples in_dvm(bench.samples), thread = is_loop ? in_dvm : bench.book.samples_of(of_thread, bench.samples);
  Drains drains(series, bench);
  const auto wants_more = [&] {
    return thread.wants_more() || (is_loop && in_dvm.wants_more()) || (is_drained && drains.want_more());
  };
  LiveFigures figures;
  LiveRun run(one, std::array{&child});
  const bool is_sure = !wants_more();
  if (!is_sure) run.start(program);
  std::vector<double> rate;
  while (wants_more()) {
    const LiveSample sample = run.sample();
    thread.add(sample.thread), in_dvm.add(sample.in_dvm), rate.push_back(sample.rate);
    if (is_drained) drains.add(run);
  }
  if (!is_sure) {
    run.stop();
    for (const dif::AggregationDesc& aggregation : program.aggregations)
      for (AggregatedKey& key : run.handle().aggregated(aggregation.id))
        if (figures.buckets.empty()) figures.buckets = std::move(key.state);
  }
  figures.thread = settle_calls(bench.book, of_thread, one.calls, thread);
  figures.thread.distance = std::max(figures.thread.distance, kAttachment * figures.thread.median);
  figures.rate = noise::middle(rate).median;
  if (is_drained) figures.handled = drains.settled();
  if (is_loop) figures.handled = bench.book.settle_middle(series + " in dvm", in_dvm.middle(), in_dvm.is_quiet());
  return figures;
}

vm::Price known_firings(const std::string& script, const Bench& bench, const vm::Profile& profile, double probability) {
  const Result<dif::Program> program = bench.compile(script);
  if (!program) return {};
  PredictOptions options;
  options.probability = probability;
  vm::Price clocks;
  for (const ProbePrediction& probe : predict(*program, profile, options).probes) {
    clocks.m += probe.firing.expected.clocks - probe.trigger.clocks - probe.capture.clocks;
    clocks.spread += probe.firing.expected.spread - probe.trigger.spread - probe.capture.spread;
  }
  return times(clocks, 1e9 / profile.clock_hz);
}

noise::Middle measure_untraced(const std::string& series, const CalleeCalls& calls, LoopingChild& child, Bench& bench) {
  const std::string untraced = series + " untraced";
  noise::QuietSamples samples = bench.book.samples_of(untraced, bench.samples);
  while (samples.wants_more()) samples.add(or_throw(child.ask(calls)));
  return settle_calls(bench.book, untraced, calls, samples);
}

}  // namespace dvm::lab
