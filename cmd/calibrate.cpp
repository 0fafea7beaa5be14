// Measuring a profile. Covered by tests/runtime/scenarios/test_cost.py.

#include "cmd/calibrate.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "common/run_program.h"
#include "dvm/compiler/compile.h"
#include "runtime/cost/calibrate/account_meter.h"
#include "runtime/cost/calibrate/action_meter.h"
#include "runtime/cost/calibrate/capture_meter.h"
#include "runtime/cost/calibrate/consumer_meter.h"
#include "runtime/cost/calibrate/dif_cases.h"
#include "runtime/cost/calibrate/dif_meter.h"
#include "runtime/cost/calibrate/live_meter.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/cost/calibrate/process_meter.h"
#include "runtime/cost/calibrate/ring_meter.h"
#include "runtime/cost/calibrate/script_meter.h"
#include "runtime/cost/core_speed.h"
#include "runtime/cost/machine.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

class Progress {
 public:
  explicit Progress(size_t pass) : pass_(pass), shown_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void say(std::string_view what, size_t done, size_t all) const {
    if (shown_) fmt::print(stderr, "\r\033[Kdvm: calibrating, pass {}, {}: {} of {}", pass_, what, done, all);
  }

 private:
  size_t pass_;
  bool shown_;
};

Result<dif::Program> compile_script(const std::string& text) {
  const compiler::Source source{"-n", text, true};
  compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  if (compiled.programs.empty()) return Error{fmt::format("'{}' does not compile", text)};
  return std::move(compiled.programs.front().program);
}

Status calibrate_dif(const CalibrateOptions& options, const Progress& progress, vm::Profile& profile) {
  runtime::MeterOptions meter;
  if (options.quick) meter = {3, 2'000};
  const auto cases = runtime::dif_cases();
  const auto rows = runtime::measure_dif(cases, meter, [&](size_t done) { progress.say("DIF", done, cases.size()); });
  if (!rows) return rows.error();
  for (const runtime::MeasuredRow& row : *rows) profile.set(row.row, row.price);
  return {};
}

Status calibrate_scripts(const CalibrateOptions& options, const Progress& progress, vm::Profile& profile) {
  runtime::ScriptMeterOptions meter;
  if (options.quick) meter = {3, 2'000};
  const auto cases = runtime::script_cases();
  for (size_t i = 0; i < cases.size(); i++) {
    progress.say("actions", i, cases.size());
    if (Status measured = runtime::measure_script(cases[i], compile_script, meter, profile); !measured) return measured;
  }
  if (Status acted = runtime::measure_actions(compile_script, meter, profile); !acted) return acted;
  if (Status replayed = runtime::measure_replay(compile_script, meter, profile); !replayed) return replayed;
  if (Status counted = runtime::measure_accounting(compile_script, meter, profile); !counted) return counted;
  progress.say("consumer", 0, 1);
  meter.firings = std::min<uint64_t>(meter.firings, 40'000);  // each of them leaves a key
  return runtime::measure_consumer(compile_script, meter, profile);
}

// A machine that allows no probes has prices of the rest.
void calibrate_sources(const CalibrateOptions& options, const Progress& progress, vm::Profile& profile) {
  runtime::LiveMeterOptions meter;
  if (options.quick) meter = {3, 2'000};
  progress.say("captures", 0, 1);
  if (Status measured = runtime::measure_captures(compile_script, meter, profile); !measured)
    fmt::print(stderr, "dvm: what is captured was not measured: {}\n", measured.error().message);
  if (Status measured = runtime::measure_processes(compile_script, meter, profile); !measured)
    fmt::print(stderr, "dvm: what clauses ask of a process was not measured: {}\n", measured.error().message);
  const auto names = runtime::live_sources();
  runtime::ScriptMeterOptions ring;
  if (options.quick) ring = {3, 2'000};
  if (Status measured = runtime::measure_ring(compile_script, ring, profile); !measured)
    fmt::print(stderr, "dvm: the ring was not measured: {}\n", measured.error().message);
  for (size_t i = 0; i < names.size(); i++) {
    progress.say("sources", i, names.size());
    if (Status measured = runtime::measure_source(names[i], compile_script, meter, profile); !measured)
      fmt::print(stderr, "dvm: the source {} was not measured: {}\n", names[i], measured.error().message);
  }
}

bool agree(const vm::Price& a, const vm::Price& b, double share) {
  const double apart = std::abs(a.m - b.m);
  return apart <= share * std::max(a.m, b.m) || apart <= a.spread + b.spread;
}

constexpr size_t kMostPasses = 5;
constexpr unsigned long kLongEnough = 100'000'000;  // ns, to see the usual speed of the core
constexpr std::chrono::seconds kLongest{53};        // all passes; a further one is made if it will be done by then

// Whoever was on the core besides this process does not show in the prices but by their spreads.
void report_company(const CalibrateOptions& options) {
  constexpr double kMuch = 0.2;  // of all
  const runtime::QuietSeries series = runtime::quiet_series();
  const size_t shared = series.all - series.quiet;
  if (static_cast<double>(shared) > kMuch * static_cast<double>(series.all))
    fmt::print(stderr, "dvm: pass {}: during {} of {} measurements somebody else used the core, too: their prices are too high\n",
               std::max(options.pass, 1u), shared, series.all);
}

Result<vm::Profile> calibrate_once(const CalibrateOptions& options, const Progress& progress) {
  vm::Profile profile;
  profile.name = "calibrated";
  profile.made_on = runtime::this_machine(DVM_VERSION);
  profile.machine = runtime::text_of(profile.made_on);
  profile.clock_hz = runtime::tick_rate(100'000'000);
  profile.core_speed = options.core_speed > 0 ? options.core_speed : runtime::core_speed_over(kLongEnough);
  runtime::give_times_at(profile.core_speed);
  if (Status dif = calibrate_dif(options, progress, profile); !dif) return dif.error();
  if (Status scripts = calibrate_scripts(options, progress, profile); !scripts) return scripts.error();
  if (!options.no_live) calibrate_sources(options, progress, profile);
  report_company(options);
  return profile;
}

std::string contents(int file) {
  std::string text(static_cast<size_t>(std::max<off_t>(lseek(file, 0, SEEK_END), 0)), '\0');
  return pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) ? text : "";
}

// A pass has said itself why it failed.
Result<vm::Profile> run_pass(const CalibrateOptions& options) {
  const int file = memfd_create("dvm_profile", MFD_CLOEXEC);
  if (file < 0) return Error{fmt::format("failed to keep a pass: {}", std::strerror(errno))};
  const unsigned pass = options.pass;
  std::vector<std::string> words = {"dvm", "cost", "calibrate", "--pass", std::to_string(pass), "-o", "-"};
  words.insert(words.end(), {"--core-speed", fmt::format("{}", options.core_speed)});
  if (options.no_live) words.emplace_back("--no-live");
  const HandedFile printed[] = {{file, STDOUT_FILENO}};
  const Result<int> status = run_program("/proc/self/exe", words, printed);
  const std::string text = contents(file);
  close(file);
  if (!status) return Error{fmt::format("pass {}: {}", pass, status.error().message)};
  if (*status != 0) return Error{fmt::format("pass {} failed", pass)};
  std::vector<std::string> warnings;
  return runtime::parse_profile(text, fmt::format("pass {}", pass), warnings);
}

// The passes of a calibration: what is measured live takes half of the time of a pass and is less often disturbed, so every other
// one goes without.
class Passes {
 public:
  // A further one is made if it will be done in time.
  bool fits() const { return made_.size() < kMostPasses && elapsed() + taken_[no_live()] < kLongest; }
  Status make() {
    const auto begin = std::chrono::steady_clock::now();
    const bool without = no_live();
    Result<vm::Profile> pass =
        run_pass({.pass = static_cast<unsigned>(made_.size() + 1), .core_speed = core_speed_, .no_live = without});
    if (!pass) return pass.error();
    made_.push_back(std::move(*pass));
    taken_[without] = std::chrono::steady_clock::now() - begin;
    if (made_.size() == 1) taken_[true] = taken_[false] * 2 / 3;  // so far as is known
    return {};
  }
  const std::vector<vm::Profile>& made() const { return made_; }

 private:
  using Time = std::chrono::steady_clock::duration;

  bool no_live() const { return made_.size() % 2 == 1; }
  Time elapsed() const { return std::chrono::steady_clock::now() - begin_; }

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const double core_speed_ = runtime::core_speed_over(kLongEnough);
  std::vector<vm::Profile> made_;
  std::array<Time, 2> taken_{};  // by the last pass with live measurements, and by the last one without
};

}  // namespace

Result<vm::Profile> calibrate(const CalibrateOptions& options) {
  if (options.quick || options.pass != 0) return calibrate_once(options, Progress(std::max(options.pass, 1u)));
  for (Passes passes;;) {
    if (Status made = passes.make(); !made) return made.error();
    if (!passes.fits()) return runtime::least_disturbed_profile(passes.made());
  }
}

Agreement compare_profiles(const vm::Profile& a, const vm::Profile& b, double share) {
  Agreement agreement;
  for (const auto& [row, price] : a.prices()) {
    const vm::Price* other = b.find(row);
    if (!other) continue;
    agreement.rows++;
    if (!agree(price, *other, share)) agreement.different.push_back(fmt::format("{} {:.1f} and {:.1f}", row, price.m, other->m));
  }
  return agreement;
}

}  // namespace dvm::cmd
