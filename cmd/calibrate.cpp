// Measuring a profile. Covered by tests/runtime/scenarios/test_calibrate.py.

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

#include "cmd/command.h"
#include "cmd/profiles.h"
#include "cmd/progress.h"
#include "common/run_program.h"
#include "dvm/compiler/compile.h"
#include "lab/calibrate/meter.h"
#include "lab/calibrate/quiet_polls.h"
#include "lab/noise/quiet_time.h"
#include "lab/noise/series_book.h"
#include "runtime/cost/profile_file.h"

namespace dvm::cmd {
namespace {

// Progress of a pass.
class PassProgress {
 public:
  explicit PassProgress(size_t pass) : pass_(pass) {}
  void say(std::string_view what, size_t done, size_t all) {
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

// A pass of several takes fewer samples than one that has to do, and others are taken a quarter of a minute later.
lab::Bench bench_of(bool is_quick) {
  if (is_quick)
    return {.compile = compile_script, .dif_samples = 3, .dif_ns = 2'000, .samples = 3, .firings = 2'000, .calls = 2'000};
  return {.compile = compile_script, .dif_samples = 10, .samples = 1};
}

bool measures(const lab::Meter& meter, const CalibrateOptions& options) {
  const auto is_meant = [&](const runtime::Row row) {
    const std::string name = row.name();
    const std::string& only = options.only;
    return name.starts_with(only) && (name.size() == only.size() || name[only.size()] == '/');
  };
  if (options.brief && !meter.is_brief) return false;
  const std::vector<runtime::Row> rows = meter.rows();
  return options.only.empty() || std::any_of(rows.begin(), rows.end(), is_meant);
}

// On a machine that allows no probes, the profile has the other prices only, and those that it had before.
Status run_meters(lab::Bench& bench, PassProgress& progress, const CalibrateOptions& options, vm::Profile& profile) {
  bench.warn = [](const std::string& text) { fmt::print(stderr, "dvm: {}\n", text); };
  for (const lab::Meter* meter : lab::meters()) {
    if (!measures(*meter, options)) continue;
    bench.progress = [&](size_t done, size_t all) { progress.say(meter->subject, done, all); };
    bench.progress(0, 1);
    const vm::Profile before = profile;
    const Status measured = meter->measure(bench, {}, profile);
    if (measured) continue;
    if (meter->unmeasured.empty()) return measured;
    for (const auto& [row, price] : before.prices())
      if (const auto name = vm::RowName::of_table(row); !profile.find(name)) profile.set(name, price);
    bench.warn(fmt::format("{} not measured: {}", meter->unmeasured, measured.error().message));
  }
  return {};
}

bool agree(const vm::Price& a, const vm::Price& b, double share) {
  const double apart = std::abs(a.m - b.m);
  return apart <= share * std::max(a.m, b.m) || apart <= a.spread + b.spread;
}

constexpr size_t kMostPasses = 12;
constexpr unsigned long kLongEnough = 100'000'000;  // ns, to see the usual speed of the core
constexpr std::chrono::seconds kLongest{90};        // all passes; a further one is made if it will be done by then

vm::Profile empty_profile(const CalibrateOptions& options) {
  vm::Profile profile;
  profile.name = "calibrated";
  profile.made_on = runtime::this_machine(DVM_VERSION);
  profile.machine = runtime::text_of(profile.made_on);
  profile.clock_hz = runtime::tick_rate(100'000'000);
  profile.core_speed = options.core_speed > 0 ? options.core_speed : lab::noise::core_speed_over(kLongEnough);
  profile.quiet_core = options.quiet_core;
  return profile;
}

// The profile whose other rows are kept, with the machine and the build that measured them. Prices of two machines, or in two
// clocks, are never mixed.
Result<vm::Profile> base_profile(const CalibrateOptions& options) {
  if (options.only.empty()) return empty_profile(options);
  const auto meters = lab::meters();
  if (std::none_of(meters.begin(), meters.end(), [&](const lab::Meter* meter) { return measures(*meter, options); }))
    return Error{fmt::format("--only {}: no row that is measured has this name, or begins with it", options.only)};
  Result<vm::Profile> base = read_profile(options.base, options.pass == 0);
  if (base && base->made_on.cpu != runtime::this_machine("").cpu)
    return Error{
        fmt::format("--only {}: the other rows of profile {} were measured on another machine", options.only, base->name)};
  return base;
}

Result<vm::Profile> calibrate_once(const CalibrateOptions& options, lab::Bench& bench) {
  PassProgress progress(std::max(options.pass, 1u));
  Result<vm::Profile> base = base_profile(options);
  if (!base) return base;
  vm::Profile profile = *std::move(base);
  lab::measure_as(profile);
  if (Status measured = run_meters(bench, progress, options, profile); !measured) return measured.error();
  const lab::noise::QuietReadings quiet = lab::noise::quiet_core();
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

constexpr int kBook = 3;  // as a pass has it

// One of several: takes the book of those before it, and leaves it to those that follow.
Result<vm::Profile> make_pass(const CalibrateOptions& options) {
  const MemoryFile file(kBook);
  lab::Bench bench = bench_of(options.quick);
  if (const std::string text = file.text(); !text.empty()) {
    Result<lab::noise::SeriesBook> book = lab::noise::SeriesBook::parse(text);
    if (!book) return book.error();
    bench.book = *std::move(book);
  }
  bench.book.be_patient_until(options.patient_until);
  Result<vm::Profile> profile = calibrate_once(options, bench);
  if (!profile) return profile;
  if (Status kept = file.set(bench.book.text()); !kept) return kept.error();
  profile->disturbed = bench.book.disturbed();
  return profile;
}

// The passes of a calibration. Each makes all prices of what it and those before it have measured.
class Passes {
 public:
  explicit Passes(const CalibrateOptions& options) : options_(options) {}
  // A further round is made if it will be done in time.
  bool fits() const { return count_ < kMostPasses && elapsed() + last_ * 9 / 10 < kLongest; }
  // A round: a brief pass and a whole one. A pass that fails has said itself why.
  Status make() {
    const auto before = elapsed();
    if (options_.only.empty())
      if (Status made = run_pass(true); !made) return made;
    Status made = run_pass(false);
    last_ = elapsed() - before;
    return made;
  }
  // The profile of the last pass.
  const vm::Profile& profile() const { return profile_; }

 private:
  using Time = std::chrono::steady_clock::duration;
  Status run_pass(bool is_brief) {
    const MemoryFile printed;
    const std::string pass = std::to_string(++count_);
    const auto text = [](double number) { return fmt::format("{}", number); };
    const vm::QuietCore& quiet = profile_.quiet_core;  // as the last one knew it
    std::vector<std::string> words = {"dvm",
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
    if (is_brief) words.push_back("--brief");
    if (!options_.only.empty()) words.insert(words.end(), {"--only", options_.only, "--base", options_.base});
    const HandedFile files[] = {{printed.file(), STDOUT_FILENO}, {book_.file(), kBook}};
    const Result<int> status = run_program("/proc/self/exe", words, files);
    if (!status) return Error{fmt::format("pass {}: {}", pass, status.error().message)};
    if (*status != 0) return Error{fmt::format("pass {} failed", pass)};
    std::vector<std::string> warnings;
    Result<vm::Profile> made = runtime::parse_profile(printed.text(), fmt::format("pass {}", pass), warnings);
    if (!made) return made.error();
    profile_ = *std::move(made);
    return {};
  }
  Time elapsed() const { return std::chrono::steady_clock::now() - begin_; }
  // A pass may do optional work until then; its required work still fits, if it takes as long as the last round.
  uint64_t patient_until() const {
    return static_cast<uint64_t>(std::chrono::nanoseconds((begin_ + kLongest - last_).time_since_epoch()).count());
  }

  const CalibrateOptions& options_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const double core_speed_ = lab::noise::core_speed_over(kLongEnough);
  const MemoryFile book_;
  vm::Profile profile_;
  unsigned count_ = 0;
  Time last_{};  // that the last round took
};

}  // namespace

Result<vm::Profile> calibrate(const CalibrateOptions& options) {
  lab::Bench bench = bench_of(options.quick);
  if (options.quick) return calibrate_once(options, bench);
  if (options.pass != 0) return make_pass(options);
  if (!options.only.empty())  // said once, not by a pass
    if (Result<vm::Profile> base = base_profile(options); !base) return base;
  tell("calibrating takes a minute and a half");
  Passes passes(options);
  do
    if (Status made = passes.make(); !made) return made.error();
  while (passes.fits());
  return passes.profile();
}

Agreement compare_profiles(const vm::Profile& a, const vm::Profile& b, double share) {
  const double speed = a.core_speed > 0 && b.core_speed > 0 ? a.core_speed / b.core_speed : 1;
  Agreement agreement;
  for (const auto& [row, price] : a.prices()) {
    const vm::Price* other = b.find(vm::RowName::of_table(row));
    if (!other) continue;
    agreement.rows++;
    if (!agree(lab::times(price, speed), *other, share))
      agreement.different.push_back(fmt::format("{} {:.1f} and {:.1f}", row, price.m, other->m));
  }
  return agreement;
}

}  // namespace dvm::cmd
