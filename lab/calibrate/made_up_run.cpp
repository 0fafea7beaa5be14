// Covered by tests/runtime/scenarios/test_calibrate.py.

#include "lab/calibrate/made_up_run.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "common/clock.h"
#include "dvm/vm/engine.h"
#include "runtime/instrument/replay/replay.h"
#include "runtime/provider/providers.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr uint32_t kProbe = 100;  // its id
constexpr uint64_t kPointer = 0x1000, kFunction = 64;
constexpr int32_t kProcess = 1000;

// Names the functions of a stack, from kPointer on, one after the other. That of kPointer has a name without a stack, too.
std::vector<uint64_t> make_stack(UserSymbols& symbols, unsigned frames) {
  std::vector<uint64_t> stack;
  for (unsigned i = 0; i < std::max(frames, 1u); i++) {
    const uint64_t address = stack.emplace_back(kPointer + i * kFunction);
    symbols.use_recorded(kProcess, address, {"libmadeup.so.1", fmt::format("made_up_function_{}", i), address - 8, kPointer - 8});
  }
  stack.resize(frames);
  return stack;
}

void write(RecordingWriter& writer, const RunSettings& settings) {
  writer.add_probe({.id = kProbe, .provider = "replay", .name = "firing", .site = UprobeSite{"", 1, false, kProcess}});
  const std::string execname(kExecnameBytes - 1, 'x'), text(settings.memory, 'a');
  const vm::CapturedMemory captured{kPointer, std::as_bytes(std::span(text.c_str(), text.size() + 1)), true};
  const std::vector<uint64_t> stack = make_stack(*writer.symbols(), settings.frames);
  vm::Firing firing;
  firing.probe_id = kProbe;
  firing.timestamp = 1'000'000'000;
  firing.pid = firing.tid = kProcess;
  firing.args = {1, 42, kPointer};
  firing.execname = execname;
  firing.stack = stack;
  if (settings.memory != 0) firing.memory = std::span(&captured, 1);
  for (uint64_t i = 0; i < settings.firings; i++, firing.timestamp += 1000) writer.write(firing);
  or_throw(writer.finish(0));
}

// A recording of synthetic firings, in a file without a name: one for each of its settings. arg2 and the frames have symbols.
const RecordingReader& recording_of(const RunSettings& settings) {
  static std::map<std::tuple<uint64_t, unsigned, unsigned>, std::unique_ptr<RecordingReader>> all;
  auto& known = all[{settings.firings, settings.memory, settings.frames}];
  if (known) return *known;
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  if (error) throw Error{fmt::format("there is no folder for temporary files: {}", error.message())};
  const std::string path = (folder / fmt::format("dvm-made-up-{}", getpid())).string();
  const Status made = caught([&] {
    write(*or_throw(RecordingWriter::open(path, 0)), settings);
    known = or_throw(RecordingReader::open(path));
  });
  unlink(path.c_str());
  or_throw(made);
  return *known;
}

// The next run uses the memory again that a run has given back: like the buffers of a long run, it is not new to the processor.
void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

}  // namespace

double event_bytes(const RunSettings& settings) {
  return static_cast<double>(recording_of(settings).size()) / static_cast<double>(settings.firings);
}

void set_options(dif::Options& options, const Settings& settings) {
  for (const auto& [name, value] : settings)
    if (!options.set(name, value)) throw Error{fmt::format("option {} cannot be set", name)};
}

MadeUpRun::MadeUpRun(const dif::Program& program, const RunSettings& settings) {
  auto reader = or_throw(recording_of(settings).again());
  if (!nowhere_) throw Error{"failed to open /dev/null"};
  keep_memory();
  HandleConfig config;
  config.is_timed = false;
  config.out = config.err = nowhere_.get();
  config.is_replay = true;
  config.symbols = reader->symbols();
  config.cost = settings.cost;
  set_options(config.options, {{"quiet", settings.is_quiet ? "on" : "off"},
                               {"destructive", settings.may_act ? "on" : "off"},
                               {"engine", vm::kEngines[static_cast<size_t>(settings.engine)].name.data()},
                               {"switchrate", "1h"},
                               {"aggrate", "1h"},
                               {"bufsize", settings.bufsize},
                               {"aggsize", settings.aggsize}});
  handle_ = std::make_unique<Handle>(config);
  make_dtrace_provider()->discover({}, handle_->catalog());
  or_throw(reader->add_probes(handle_->catalog()));
  handle_->catalog().add({.provider = "replay", .name = "never", .site = UprobeSite{"", 2, false, 1000}});
  handle_->add_instrument(make_replay_instrument(std::move(reader)));
  or_throw(handle_->enable(program));
  if (std::ranges::none_of(handle_->enabled(), [](const EnabledProbe& one) { return one.probe->provider == "replay"; }))
    throw Error{fmt::format("it has no clause for the probe {}", kCalibratedProbe)};
  if (settings.engine != EngineId{})
    if (const std::string problem = vm::kEngines[static_cast<size_t>(settings.engine)].problem(); !problem.empty())
      throw Error{problem};
  std::vector<Refused> refused;
  or_throw(handle_->go(refused));
}

void MadeUpRun::fire_all(const std::function<void(const RunClock&, double)>& report) {
  RunClock last = read_run_clock(*handle_);
  for (bool goes_on = true; goes_on;) {
    const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    goes_on = handle_->poll() && handle_->wait();
    const auto taken = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
    const RunClock now = read_run_clock(*handle_), done = now - last;
    if (report) report(done, taken - done.consumer - done.files);
    last = now;
  }
}

ScriptSample time_program(const dif::Program& program, const RunSettings& settings) {
  MadeUpRun run(program, settings);
  ScriptSample sample;
  noise::QuietTime& probe = sample.probe;
  noise::QuietTime reads;
  probe.begin();
  run.fire_all([&](const RunClock& done, double ns) {
    const noise::QuietSample taken = probe.end(ns, done.firings);
    const double speed = ns > 0 ? taken.value / ns : 1;
    reads.add({done.consumer * speed, taken.is_quiet}, done.prints);
    if (!probe.starts_quietly()) probe.begin();
  });
  noise::QuietPiece last(noise::wait_for_quiet_core());  // what is left to read, at the end
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (settings.is_read) or_throw(run.handle().stop());
  const noise::QuietSample end = last.end(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin));
  if (const uint64_t drops = run.handle().drops(); drops != 0) throw Error{fmt::format("{} drops", drops)};
  const auto firings = static_cast<double>(settings.firings);
  for (const noise::QuietSample& read : reads.pieces())
    sample.consumer.add({read.value * reads.things() + end.value, read.is_quiet}, firings);
  if (reads.things() == 0) sample.consumer.add(end, firings);
  return sample;
}

}  // namespace dvm::lab
