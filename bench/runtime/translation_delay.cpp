// The delay of firings while clauses are translated: translation_delay [SECONDS [INSTRUCTIONS]]
//
// A firing is due every 50 us. Its delay is the time from then until its clauses have run. Five clauses run on engine interp, and
// then on auto, which translates them on the way; twice. On a busy machine most of a long delay is the scheduler's, so the part
// of dvm is measured by itself, from the last poll before the firing was due:
//
//   own      CPU time of dvm's thread, but for that of earlier firings
//   blocked  time in which the thread slept, on a lock or in the kernel: all that is neither CPU time nor waiting for a CPU, if
//            it gave the CPU up. Otherwise that is time in which the hypervisor ran something else
//   beside   time in which it waited for a CPU, as far as the translator thread had that CPU
//
// Printed of each run: median, 99.9th percentile and longest delay; the longest part of dvm, and that while a clause was
// translated; and the time from the last CPU time of the translator thread to the first poll that saw a clause on the other
// engine.

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
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

constexpr uint64_t kEvery = 50'000, kLookForThread = 1'000'000, kLongWait = 100'000;  // ns
constexpr unsigned kClauses = 5, kMostAPoll = 1000;

// Ns: clocks of this thread and of the translator.
struct Reading {
  uint64_t wall = 0, cpu = 0, waited = 0, translator = 0;
  long slept = 0;  // times that the thread gave the CPU up
};

class Clocks {
 public:
  Clocks() : statistics_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~Clocks() { ::close(statistics_); }
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;

  Reading read() {
    Reading now;
    now.waited = waited(), now.slept = slept();
    now.cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
    now.wall = read_clock(CLOCK_MONOTONIC);
    if (translator_ == 0 && now.wall > looked_for_ + kLookForThread) find_translator(), looked_for_ = now.wall;
    if (translator_ != 0) now.translator = read_clock(translator_);
    if (now.translator != last_) last_ = now.translator, last_at_ = now.wall;
    return now;
  }
  // Whether it was last on the CPU of this thread.
  bool is_translator_here() const {
    std::ifstream file(fmt::format("/proc/self/task/{}/stat", translator_id_));
    std::string text;
    std::getline(file, text);
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    for (int i = 3; i <= kProcessorField; i++) fields >> text;
    return std::atoi(text.c_str()) == ::sched_getcpu();
  }
  // When the translator was last seen to have used a CPU.
  uint64_t translator_ended_at() const { return last_at_; }

 private:
  // "RUNNING WAITING SLICES"
  uint64_t waited() const {
    char text[96] = {};
    if (::pread(statistics_, text, sizeof(text) - 1, 0) <= 0) std::abort();
    char* end = nullptr;
    std::strtoull(text, &end, 10);
    return std::strtoull(end, nullptr, 10);
  }
  static long slept() {
    rusage used = {};
    if (::getrusage(RUSAGE_THREAD, &used) != 0) std::abort();
    return used.ru_nvcsw;
  }
  // The only other thread; its clock as clock_getcpuclockid() spells that of a thread.
  void find_translator() {
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task"))
      if (const int tid = std::atoi(each.path().filename().c_str()); tid != ::gettid())
        translator_id_ = tid, translator_ = static_cast<clockid_t>((~static_cast<unsigned>(tid) << 3) | 6);
  }

  int statistics_;
  static constexpr int kProcessorField = 39;  // of /proc/PID/stat

  clockid_t translator_ = 0;
  int translator_id_ = 0;
  uint64_t looked_for_ = 0, last_ = 0, last_at_ = 0;
};

struct Fired {
  uint64_t delay = 0, own = 0, blocked = 0, beside = 0;
  bool translates = false;  // the translator thread had a CPU meanwhile

  uint64_t dvm() const { return own + blocked + beside; }
};

uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

class Clockwork final : public Instrument {
 public:
  Clockwork(uint32_t probe, std::vector<Fired>& fired, Clocks& clocks) : fired_(fired), clocks_(clocks) {
    firing_.probe_id = probe, firing_.pid = firing_.tid = 1;
  }
  std::string_view name() const override { return "clockwork"; }
  std::string_view refusal(const Probe& probe) const override {
    return std::holds_alternative<InternalSite>(probe.site) ? "it fires in dvm itself" : "";
  }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    uint64_t count = 0;
    Reading now = clocks_.read();
    if (due_ == 0) due_ = now.wall + kEvery;
    note_wait(now);
    polls_.push_back({now, firing_time_, beside_});
    for (bool goes_on = true; goes_on && count < kMostAPoll && due_ <= now.wall && sink.has_buffers(0); due_ += kEvery, count++) {
      firing_.timestamp = due_, firing_.args[0] = count;
      const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
      goes_on = sink.fire(firing_);
      now = clocks_.read();
      note(now);
      firing_time_ += read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
    return count;
  }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  Abilities abilities() override { return {}; }

 private:
  // A wait for a CPU that the translator had: at most for as long as that ran.
  void note_wait(const Reading& now) {
    const uint64_t waited = now.waited - last_.waited, translator = now.translator - last_.translator;
    if (waited > kLongWait && translator > 0 && clocks_.is_translator_here()) beside_ += std::min(waited, translator);
    last_ = now;
  }
  void note(const Reading& now) {
    note_wait(now);
    while (polls_.size() > 1 && polls_[1].at.wall <= due_) polls_.pop_front();
    const auto& [before, firing_time, beside] = polls_.front();
    const uint64_t cpu = now.cpu - before.cpu, waited = now.waited - before.waited;
    const uint64_t blocked = now.slept == before.slept ? 0 : less(now.wall - before.wall, cpu + waited);
    fired_.push_back(
        {now.wall - due_, less(cpu, firing_time_ - firing_time), blocked, beside_ - beside, now.translator != before.translator});
  }

  vm::Firing firing_;
  std::vector<Fired>& fired_;
  Clocks& clocks_;
  uint64_t due_ = 0;
  Reading last_;
  uint64_t firing_time_ = 0, beside_ = 0;  // CPU time of firings, and time beside the translator, since the start
  struct Poll {
    Reading at;
    uint64_t firing_time, beside;
  };
  std::deque<Poll> polls_;  // from the last one before the next firing is due
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

double us(uint64_t ns) { return static_cast<double>(ns) / 1e3; }

void report_part(const char* when, const std::vector<Fired>& fired, bool (*counts)(const Fired&)) {
  Fired most;
  for (const Fired& one : fired)
    if (counts(one) && one.dvm() >= most.dvm()) most = one;
  fmt::print("        of dvm{} {:.1f}: own {:.1f}, blocked {:.1f}, beside the translator {:.1f}\n", when, us(most.dvm()),
             us(most.own), us(most.blocked), us(most.beside));
}

void report(const char* engine, std::vector<Fired> fired, uint64_t changed_at, uint64_t ended_at) {
  std::sort(fired.begin(), fired.end(), [](const Fired& a, const Fired& b) { return a.delay < b.delay; });
  const auto at = [&fired](double share) {
    return us(fired[static_cast<size_t>(share * static_cast<double>(fired.size() - 1))].delay);
  };
  fmt::print("{:7} {:9} firings, delay in us: median {:.2f}, 99.9 % {:.1f}, longest {:.1f}\n", engine, fired.size(), at(0.5),
             at(0.999), at(1));
  report_part("", fired, [](const Fired&) { return true; });
  if (changed_at == 0) return;
  report_part(" while translating", fired, [](const Fired& one) { return one.translates; });
  fmt::print("        taken up {:.1f} us after the last CPU time of the translator\n", us(less(changed_at, ended_at)));
}

bool run(const char* engine, uint64_t seconds, unsigned instructions) {
  HandleConfig config;
  config.out = config.err = std::fopen("/dev/null", "w");
  if (!config.options.set("engine", engine) || !config.options.set("quiet", "")) return false;
  Handle handle(config);
  for (auto& provider : make_providers()) handle.add_provider(std::move(provider));
  handle.discover({"dtrace", "", "", ""});
  Clocks clocks;
  std::vector<Fired> fired;
  fired.reserve(seconds * 1'000'000'000 / kEvery + 1000);
  const uint32_t probe = handle.catalog().add({0, "pid1", "a.out", "f", "entry", UprobeSite{"a.out", 1, false, 1}}).id;
  handle.add_instrument(std::make_unique<Clockwork>(probe, fired, clocks));
  dif::Program program;
  for (unsigned i = 0; i < kClauses; i++) program.clauses.push_back(long_clause(instructions));
  for (dif::EcbDesc& clause : program.clauses) clause.probes = {{"pid1", "a.out", "f", "entry"}};
  program.aggregations = {test::declare(1, dif::Action::agg_sum)};
  std::vector<Refused> refused;
  if (!handle.enable(program) || !handle.go(refused)) return false;
  const std::string before(handle.placements().at(0).engine);
  uint64_t changed_at = 0, ended_at = 0;
  uint64_t looked_at = 0;
  for (const uint64_t end = read_clock(CLOCK_MONOTONIC) + seconds * 1'000'000'000; read_clock(CLOCK_MONOTONIC) < end;) {
    handle.poll();
    if (const uint64_t now = read_clock(CLOCK_MONOTONIC); changed_at != 0 || now < looked_at + kLookForThread)
      continue;
    else
      looked_at = now;
    if (handle.placements().at(0).engine != before)
      changed_at = read_clock(CLOCK_MONOTONIC), ended_at = clocks.translator_ended_at();
  }
  if (!handle.stop()) return false;
  report(engine, std::move(fired), changed_at, ended_at);
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
