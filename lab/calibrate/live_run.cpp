// Covered by tests/runtime/scenarios/test_calibrate.py.

#include "lab/calibrate/live_run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/clock.h"
#include "lab/calibrate/made_up_run.h"
#include "lab/calibrate/quiet_looks.h"
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
  if (one.is_counted_only) return make_counting_instrument();
  if (one.by == LiveCase::By::uprobe) return make_uprobe_instrument();
  return make_agent_instrument(static_cast<size_t>(options[dif::Option::ringsize]), false);
}

// The file of a child, which is dvm's own. An agent is told the name by which the child has it mapped.
std::string path_of(pid_t pid, LiveCase::By by) {
  if (const auto objects = mapped_objects(pid); objects && by != LiveCase::By::uprobe)
    for (const MappedObject& object : *objects)
      if (object.is_program) return object.open_path;
  return fmt::format("/proc/{}/exe", pid);
}

double seconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

LiveRun::LiveRun(const LiveCase& one, std::span<LoopingChild* const> children)
    : case_(one), children_(children.begin(), children.end()) {}

Status LiveRun::start(const dif::Program& program) {
  if (!nowhere_ || !messages_) return Error{"failed to open a file for the output"};
  HandleConfig config;
  config.out = nowhere_.get(), config.err = messages_.get();
  if (Status set = set_options(config.options, {{"quiet", ""}, {"switchrate", "20ms"}, {"aggrate", "1h"}}); !set) return set;
  for (const auto& [name, value] : case_.settings)
    if (Status set = set_options(config.options, {{name, value}}); !set) return set;
  handle_ = std::make_unique<Handle>(config);
  auto instrument = make_instrument(case_, config.options);
  if (FollowsProcesses* forks = instrument->abilities().follows; forks != nullptr && config.options[dif::Option::followfork] > 0)
    if (Status follows = forks->follow(children_.front()->pid()); !follows) return follows;
  handle_->add_instrument(std::move(instrument));
  if (Status found = find_probes(program); !found) return found;
  if (Status enabled = handle_->enable(program); !enabled) return enabled;
  std::vector<Refused> refused;
  if (Status went = handle_->go(refused); !went) return went;
  return refused.empty() ? Status() : Error{refused.front().reason};
}

Result<LiveSample> LiveRun::sample(size_t callers) {
  const uint64_t events = handle_->account().events, wall = read_clock(CLOCK_MONOTONIC);
  noise::QuietTime looked;
  looked.begin();
  if (Status called = call(callers); !called) return called.error();
  while (!children_.front()->is_done() && work(looked)) {
  }
  const Result<noise::QuietSample> thread = finish(callers);
  if (!thread) return thread.error();
  work(looked);  // what is left in the ring
  if (case_.warmed > 0) empty_lanes(events + callers * case_.calls.times);
  const auto firings = static_cast<double>(handle_->account().events - events);
  return LiveSample{*thread,
                    {looked.each(), looked.quiet_share() >= noise::kQuietEnough},
                    firings / cpus() / seconds(read_clock(CLOCK_MONOTONIC) - wall)};
}

Result<noise::QuietSample> LiveRun::thread(const StubCalls& calls) {
  if (Status called = children_.front()->call(calls); !called) return called.error();
  while (!children_.front()->is_done() && handle_->look() && handle_->wait()) {
  }
  return children_.front()->finish();
}

Result<noise::QuietSample> LiveRun::drain(uint64_t calls) {
  StubCalls some = case_.calls;
  some.times = calls;
  const uint64_t events = handle_->account().events;
  if (Status called = children_.front()->call(some); !called) return called.error();
  if (const auto finished = children_.front()->finish(); !finished) return finished.error();
  noise::QuietPiece piece(noise::wait_for_quiet_core());
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  handle_->look();
  if (case_.warmed > 0) empty_lanes(events + calls);
  return piece.end(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin));
}

Result<LiveLooks> LiveRun::look() {
  constexpr double kQuiet = 0.2;  // of the looks, as of the samples of a live row
  constexpr unsigned kFirst = 2;  // looks, which find what others have left: in a long run there are hardly any such
  if (Status called = call(1); !called) return called.error();
  for (unsigned i = 0; i < kFirst && handle_->look(); i++) handle_->wait();
  QuietLooks looks(*handle_);
  const uint64_t begin = read_clock(CLOCK_MONOTONIC), events = handle_->account().events;
  while (!children_.front()->is_done() && looks.look()) {
  }
  if (const Result<noise::QuietSample> done = finish(1); !done) return done.error();
  const double passed = static_cast<double>(read_clock(CLOCK_MONOTONIC) - begin) - looks.own_ns();
  const double count = std::max(looks.count(), 1.0);
  return LiveLooks{{looks.ns() / count, looks.quiet_share() >= kQuiet},
                   static_cast<double>(handle_->account().events - events) / count,
                   std::max(passed / count - kLongestWait, 0.0)};
}

// A poll takes a part of what a lane holds, and nothing that may be later than a record yet to come. Of clauses in the thread
// there is no event.
void LiveRun::empty_lanes(uint64_t events) {
  constexpr unsigned kMostPolls = 200;
  constexpr useconds_t kSoon = 200;
  for (unsigned i = 0; i < kMostPolls && handle_->account().events < events; i++) {
    const uint64_t before = handle_->account().events;
    if (!handle_->look()) return;
    if (handle_->account().events == before) usleep(kSoon);
  }
}

Status LiveRun::warm() {
  for (uint64_t calls = 0; calls < case_.warmed; calls += std::max<uint64_t>(case_.calls.times, 1))
    if (const Result<LiveSample> sample = this->sample(); !sample) return sample.error();
  return {};
}

// A piece of what dvm's thread does for firings.
bool LiveRun::work(noise::QuietTime& looked) {
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID), events = handle_->account().events;
  const bool goes_on = handle_->look() && handle_->wait();
  const auto taken = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
  looked.end(taken, static_cast<double>(handle_->account().events - events));
  return goes_on;
}

Result<std::string> LiveRun::stop() {
  if (Status stopped = handle_->stop(); !stopped) return stopped.error();
  if (const uint64_t lost = handle_->drops(); lost != 0) return Error{fmt::format("{} firings were lost", lost)};
  std::string text(static_cast<size_t>(std::max(std::ftell(messages_.get()), 0L)), '\0');
  std::rewind(messages_.get());
  text.resize(std::fread(text.data(), 1, text.size(), messages_.get()));
  return text;
}

Status LiveRun::call(size_t callers) {
  for (size_t i = 0; i < callers; i++)
    if (Status called = children_[i]->call(case_.calls); !called) return called;
  return {};
}

// What the first one says.
Result<noise::QuietSample> LiveRun::finish(size_t callers) {
  Result<noise::QuietSample> first = children_.front()->finish();
  for (size_t i = 1; i < callers; i++)
    if (Result<noise::QuietSample> other = children_[i]->finish(); !other) return other;
  return first;
}

Status LiveRun::find_probes(const dif::Program& program) {
  bool has_providers = false;
  for (const dif::EcbDesc& clause : program.clauses)
    for (const dif::ProbeDesc& description : clause.probes) {
      if (description.provider == kProvider) return add_stubs();
      if (!has_providers)
        for (auto& provider : make_providers()) handle_->add_provider(std::move(provider));
      has_providers = true;
      if (const Discovery found = handle_->discover(description); !found.reason.empty()) return Error{found.reason};
    }
  return {};
}

Status LiveRun::add_stubs() {
  const Result<uint64_t> offset = offset_of(case_.calls.stub);
  if (!offset) return offset.error();
  for (const LoopingChild* child : children_) {
    const std::string path = path_of(child->pid(), case_.by);
    for (const char* name : {"entry", "again", "return"}) {
      UprobeSite site{path, *offset, name == std::string_view("return"), child->pid()};
      if (case_.calls.stub == StubKind::framed) site.size = site.alone = size_of_framed();
      handle_->catalog().add(
          {.provider = kProvider, .function = fmt::format("f{}", child->pid()), .name = name, .site = std::move(site)});
    }
  }
  return {};
}

double cpus() { return static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))); }

namespace {

// The cost of a firing in dvm without the poll, from polls that find few firings and many. Polls vary, and so does their
// difference.
class Drains {
 public:
  Drains(const std::string& series, Bench& bench)
      : series_(series + " drained"), book_(bench.book), few_(bench.samples * kDrains), many_(bench.samples * kDrains) {}
  bool want_more() const { return few_.wants_more() || many_.wants_more(); }
  Status add(LiveRun& run) {
    for (unsigned i = 0; i < kDrains; i++)
      for (const auto& [calls, samples] : {std::pair(kFew, &few_), {kMany, &many_}}) {
        const Result<noise::QuietSample> taken = run.drain(calls);
        if (!taken) return taken.error();
        samples->add(*taken);
      }
    return {};
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

noise::Middle of_an_attachment(noise::Middle found) {
  found.distance = std::max(found.distance, kAttachment * found.median);
  return found;
}

// The time of an interrupt varies, as that of waking up does.
noise::Middle settle_calls(noise::SeriesBook& book, const std::string& series, const StubCalls& calls,
                           const noise::QuietSamples& samples) {
  if (calls.stub == StubKind::loop) return book.settle_middle(series, samples.middle(), samples.is_quiet());
  return book.settle(series, samples);
}

}  // namespace

Result<LiveFigures> measure_live(const std::string& series, const LiveCase& one, LoopingChild& child, Bench& bench) {
  const Result<dif::Program> program = bench.compile(one.script);
  if (!program) return program.error();
  const bool is_loop = one.calls.stub == StubKind::loop;
  const bool is_drained = !is_loop && !one.is_counted_only && one.by != LiveCase::By::agent_in_thread;
  const std::string of_thread = series + " thread";
  noise::QuietSamples looked(bench.samples), thread = is_loop ? looked : bench.book.samples_of(of_thread, bench.samples);
  Drains drains(series, bench);
  const auto wants_more = [&] {
    return thread.wants_more() || (is_loop && looked.wants_more()) || (is_drained && drains.want_more());
  };
  LiveFigures figures;
  LiveRun run(one, std::array{&child});
  const bool is_sure = !wants_more();
  if (Status started = is_sure ? Status() : run.start(*program); !started) return started.error();
  if (Status warmed = is_sure ? Status() : run.warm(); !warmed) return warmed.error();
  std::vector<double> rate;
  while (wants_more()) {
    const Result<LiveSample> sample = run.sample();
    if (!sample) return sample.error();
    thread.add(sample->thread), looked.add(sample->looked), rate.push_back(sample->rate);
    if (Status drained = is_drained ? drains.add(run) : Status(); !drained) return drained.error();
  }
  if (!is_sure) {
    const Result<std::string> stopped = run.stop();
    if (!stopped) return stopped.error();
    if (stopped->find("error") != std::string::npos) return Error{*stopped};
    for (const dif::AggregationDesc& aggregation : program->aggregations)
      for (AggregatedKey& key : run.handle().aggregated(aggregation.id))
        if (figures.buckets.empty()) figures.buckets = std::move(key.state);
  }
  figures.thread = of_an_attachment(settle_calls(bench.book, of_thread, one.calls, thread));
  figures.rate = noise::middle(rate).median;
  if (is_drained) figures.handled = drains.settled();
  if (is_loop) figures.handled = bench.book.settle_middle(series + " looked", looked.middle(), looked.is_quiet());
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

Result<noise::Middle> measure_untraced(const std::string& series, const StubCalls& calls, LoopingChild& child, Bench& bench) {
  const std::string untraced = series + " untraced";
  noise::QuietSamples samples = bench.book.samples_of(untraced, bench.samples);
  while (samples.wants_more()) {
    if (Status called = child.call(calls); !called) return called.error();
    const Result<noise::QuietSample> taken = child.finish();
    if (!taken) return taken.error();
    samples.add(*taken);
  }
  return settle_calls(bench.book, untraced, calls, samples);
}

}  // namespace dvm::lab
