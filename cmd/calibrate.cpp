// Measuring a profile. Covered by tests/runtime/scenarios/test_cost.py.

#include "cmd/calibrate.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "cmd/progress.h"
#include "common/run_program.h"
#include "dvm/compiler/compile.h"
#include "lab/calibrate/account_meter.h"
#include "lab/calibrate/action_meter.h"
#include "lab/calibrate/capture_meter.h"
#include "lab/calibrate/consumer_meter.h"
#include "lab/calibrate/dif_cases.h"
#include "lab/calibrate/dif_meter.h"
#include "lab/calibrate/live_meter.h"
#include "lab/calibrate/process_meter.h"
#include "lab/calibrate/rest_meter.h"
#include "lab/calibrate/ring_meter.h"
#include "lab/calibrate/script_meter.h"
#include "lab/calibrate/table_meter.h"
#include "lab/measure_as.h"
#include "lab/noise/core_speed.h"
#include "lab/noise/quiet_time.h"
#include "lab/noise/series_book.h"
#include "lab/price_of.h"
#include "runtime/cost/machine.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

// Of a pass.
class PassProgress {
 public:
  explicit PassProgress(size_t pass) : pass_(pass) {}
  void say(std::string_view what, size_t done, size_t all) const {
    progress_.say(fmt::format("calibrating, pass {}, {}", pass_, what), done, all);
  }

 private:
  size_t pass_;
  Progress progress_;
};

Result<dif::Program> compile_script(const std::string& text) {
  const compiler::Source source{"-n", text, true};
  compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  if (compiled.programs.empty()) return Error{fmt::format("'{}' does not compile", text)};
  return std::move(compiled.programs.front().program);
}

// How all of a pass is measured.
struct Sampling {
  bool is_quick = false;
  noise::SeriesBook& book;

  // A pass of several takes fewer samples than one that has to do, and others are taken a quarter of a minute later.
  runtime::MeterOptions dif() const {
    return is_quick ? runtime::MeterOptions{3, 2'000, &book} : runtime::MeterOptions{.samples = 10, .book = &book};
  }
  runtime::ScriptMeterOptions scripts() const {
    return is_quick ? runtime::ScriptMeterOptions{.samples = 3, .firings = 2'000, .book = &book}
                    : runtime::ScriptMeterOptions{.samples = 1, .book = &book};
  }
  runtime::LiveMeterOptions live() const {
    return is_quick ? runtime::LiveMeterOptions{3, 2'000, &book} : runtime::LiveMeterOptions{.samples = 1, .book = &book};
  }
};

Status calibrate_dif(const Sampling& sampling, const PassProgress& progress, vm::Profile& profile) {
  const auto cases = runtime::dif_cases();
  const auto rows = runtime::measure_dif(cases, sampling.dif(), [&](size_t done) { progress.say("DIF", done, cases.size()); });
  if (!rows) return rows.error();
  for (const runtime::MeasuredRow& row : *rows) profile.set(row.row, row.price);
  return {};
}

Status calibrate_scripts(const Sampling& sampling, const PassProgress& progress, vm::Profile& profile) {
  runtime::ScriptMeterOptions meter = sampling.scripts();
  const auto cases = runtime::script_cases();
  for (size_t i = 0; i < cases.size(); i++) {
    progress.say("actions", i, cases.size());
    if (Status measured = runtime::measure_script(cases[i], compile_script, meter, profile); !measured) return measured;
  }
  if (Status acted = runtime::measure_actions(compile_script, meter, profile); !acted) return acted;
  progress.say("tables", 0, 1);
  if (Status kept = runtime::measure_tables(compile_script, meter, profile); !kept) return kept;
  if (Status replayed = runtime::measure_replay(compile_script, meter, profile); !replayed) return replayed;
  if (Status counted = runtime::measure_accounting(compile_script, meter, profile); !counted) return counted;
  progress.say("consumer", 0, 1);
  meter.firings = std::min<uint64_t>(meter.firings, 40'000);  // each of them leaves a key
  return runtime::measure_consumer(compile_script, meter, profile);
}

// On a machine that allows no probes, the profile has the other prices only.
void calibrate_sources(const Sampling& sampling, const PassProgress& progress, vm::Profile& profile) {
  const runtime::LiveMeterOptions meter = sampling.live();
  progress.say("captures", 0, 1);
  if (Status measured = runtime::measure_captures(compile_script, meter, profile); !measured)
    fmt::print(stderr, "dvm: captures were not measured: {}\n", measured.error().message);
  if (Status measured = runtime::measure_processes(compile_script, meter, profile); !measured)
    fmt::print(stderr, "dvm: requests to processes were not measured: {}\n", measured.error().message);
  const auto names = runtime::live_sources();
  if (Status measured = runtime::measure_ring(compile_script, sampling.scripts(), profile); !measured)
    fmt::print(stderr, "dvm: the ring was not measured: {}\n", measured.error().message);
  if (Status measured = runtime::measure_rests(compile_script, sampling.scripts(), profile); !measured)
    fmt::print(stderr, "dvm: firings after idle time were not measured: {}\n", measured.error().message);
  bool has_looks = false;
  for (size_t i = 0; i < names.size(); i++) {
    progress.say("sources", i, names.size());
    if (runtime::is_timer_source(names[i]) && !std::exchange(has_looks, true))
      runtime::measure_looks(compile_script, sampling.scripts(), profile);
    if (Status measured = runtime::measure_source(names[i], compile_script, meter, profile); !measured)
      fmt::print(stderr, "dvm: the source {} was not measured: {}\n", names[i], measured.error().message);
  }
}

bool agree(const vm::Price& a, const vm::Price& b, double share) {
  const double apart = std::abs(a.m - b.m);
  return apart <= share * std::max(a.m, b.m) || apart <= a.spread + b.spread;
}

constexpr size_t kMostPasses = 8;
constexpr unsigned long kLongEnough = 100'000'000;  // ns, to see the usual speed of the core
constexpr std::chrono::seconds kLongest{57};        // all passes; a further one is made if it will be done by then

Result<vm::Profile> calibrate_once(const CalibrateOptions& options, noise::SeriesBook& book) {
  const PassProgress progress(std::max(options.pass, 1u));
  vm::Profile profile;
  profile.name = "calibrated";
  profile.made_on = runtime::this_machine(DVM_VERSION);
  profile.machine = runtime::text_of(profile.made_on);
  profile.clock_hz = runtime::tick_rate(100'000'000);
  profile.core_speed = options.core_speed > 0 ? options.core_speed : noise::core_speed_over(kLongEnough);
  profile.quiet_core = options.quiet_core;
  runtime::measure_as(profile);
  const Sampling sampling{options.quick, book};
  if (Status dif = calibrate_dif(sampling, progress, profile); !dif) return dif.error();
  if (Status scripts = calibrate_scripts(sampling, progress, profile); !scripts) return scripts.error();
  calibrate_sources(sampling, progress, profile);
  const noise::QuietReadings quiet = noise::quiet_core();
  profile.quiet_core = {quiet.near, quiet.far};
  return profile;
}

// A file in memory, for a program that is run: of this process, or the one that it was handed.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("dvm_calibrate", MFD_CLOEXEC)) {}
  explicit MemoryFile(int file) : file_(file) {}
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int file() const { return file_; }
  std::string text() const {
    std::string text(static_cast<size_t>(std::max<off_t>(lseek(file_, 0, SEEK_END), 0)), '\0');
    return pread(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) ? text : "";
  }
  Status set(const std::string& text) const {
    if (ftruncate(file_, 0) == 0 && pwrite(file_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) return {};
    return Error{fmt::format("failed to keep the measurements: {}", std::strerror(errno))};
  }

 private:
  int file_;
};

Result<noise::SeriesBook> read_book(const MemoryFile& file) {
  const std::string text = file.text();
  return text.empty() ? noise::SeriesBook() : noise::SeriesBook::parse(text);
}

constexpr int kBook = 3;  // as a pass has it

// One of several: takes the book of those before it, and leaves it to those that follow.
Result<vm::Profile> make_pass(const CalibrateOptions& options) {
  const MemoryFile file(kBook);
  Result<noise::SeriesBook> book = read_book(file);
  if (!book) return book.error();
  book->be_patient_until(options.patient_until);
  Result<vm::Profile> profile = calibrate_once(options, *book);
  if (!profile) return profile;
  if (Status kept = file.set(book->text()); !kept) return kept.error();
  profile->disturbed = book->quiet_series().disturbed();
  return profile;
}

// The passes of a calibration. Each makes all prices of what it and those before it have measured.
class Passes {
 public:
  // A further one is made if it will be done in time. It has less to measure than the last one.
  bool fits() const { return count_ < kMostPasses && elapsed() + last_ * 9 / 10 < kLongest; }
  // It has said itself why it failed.
  Status make() {
    const MemoryFile printed;
    const auto before = elapsed();
    const std::string pass = std::to_string(++count_);
    const auto text = [](double number) { return fmt::format("{}", number); };
    const vm::QuietCore& quiet = profile_.quiet_core;  // as the last one knew it
    const std::string words[] = {"dvm",
                                 "cost",
                                 "calibrate",
                                 "--pass",
                                 pass,
                                 "--patient-until",
                                 std::to_string(patient_until()),
                                 "--core-speed",
                                 text(core_speed_),
                                 "--quiet-near",
                                 text(quiet.near),
                                 "--quiet-far",
                                 text(quiet.far),
                                 "-o",
                                 "-"};
    const HandedFile files[] = {{printed.file(), STDOUT_FILENO}, {book_.file(), kBook}};
    const Result<int> status = run_program("/proc/self/exe", words, files);
    if (!status) return Error{fmt::format("pass {}: {}", pass, status.error().message)};
    if (*status != 0) return Error{fmt::format("pass {} failed", pass)};
    std::vector<std::string> warnings;
    Result<vm::Profile> made = runtime::parse_profile(printed.text(), fmt::format("pass {}", pass), warnings);
    if (!made) return made.error();
    profile_ = *std::move(made);
    last_ = elapsed() - before;
    return {};
  }
  // The profile of the last pass.
  const vm::Profile& profile() const { return profile_; }

 private:
  using Time = std::chrono::steady_clock::duration;
  Time elapsed() const { return std::chrono::steady_clock::now() - begin_; }
  // What a pass does beyond what it has to leaves time for that, if it takes as long as the last one.
  uint64_t patient_until() const {
    return static_cast<uint64_t>(std::chrono::nanoseconds((begin_ + kLongest - last_).time_since_epoch()).count());
  }

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const double core_speed_ = noise::core_speed_over(kLongEnough);
  const MemoryFile book_;
  vm::Profile profile_;
  unsigned count_ = 0;
  Time last_{};  // that the last one took
};

}  // namespace

Result<vm::Profile> calibrate(const CalibrateOptions& options) {
  noise::SeriesBook book;
  if (options.quick) return calibrate_once(options, book);
  if (options.pass != 0) return make_pass(options);
  Passes passes;
  do
    if (Status made = passes.make(); !made) return made.error();
  while (passes.fits());
  return passes.profile();
}

Agreement compare_profiles(const vm::Profile& a, const vm::Profile& b, double share) {
  const double speed = a.core_speed > 0 && b.core_speed > 0 ? a.core_speed / b.core_speed : 1;
  Agreement agreement;
  for (const auto& [row, price] : a.prices()) {
    const vm::Price* other = b.find(row);
    if (!other) continue;
    agreement.rows++;
    if (!agree(runtime::times(price, speed), *other, share))
      agreement.different.push_back(fmt::format("{} {:.1f} and {:.1f}", row, price.m, other->m));
  }
  return agreement;
}

}  // namespace dvm::cmd
