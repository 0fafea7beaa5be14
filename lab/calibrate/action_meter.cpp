// Prices of speculations, of exit(), which there is once in a run, of chill(), and of what the consumer does for system() and its
// like. Nothing outside of dvm is changed: files are its own, and the command is ":".
//
// Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "lab/calibrate/meter.h"
#include "lab/calibrate/script_meter.h"
#include "lab/price_of.h"

namespace dvm::runtime {
namespace {

struct ActionCase {
  ScriptCase script;
  unsigned least_samples = 0;
  bool is_read = true;
};

constexpr uint64_t kFirings = 20'000;           // a sample, at most
constexpr unsigned kDiscards = 4, kExits = 64;  // uses of what is small beside a firing
constexpr const char* kNothing = "P{ arg0; }";
constexpr const char* kTakes = "P{ arg0; this->id = speculation(); ";

// A speculation that is discarded where it was taken is free again at once, so one is enough. What a discard takes is found with
// one that nobody has taken; what one that was taken takes more belongs to speculation().
std::vector<ActionCase> action_cases() {
  const std::string takes(kTakes), discards = "P{ discard(this->id); }", exits = "exit(0); ";
  return {
      {{"action/discard"_row, fmt::format("P{{ arg0; {}}}", repeated("", "discard(1); ", kDiscards)), kNothing, 0, false,
        kDiscards}},
      {{"subroutine/speculation"_row, takes + "} " + discards, "P{ arg0; this->id = 1; } " + discards}},
      {{"action/speculate"_row, takes + "speculate(this->id); trace(arg1); } " + discards, takes + "trace(arg1); } " + discards}},
      {{.row = "action/exit"_row,
        .with = fmt::format("P{{ arg0; {}}}", repeated("", exits, kExits + 1)),
        .without = fmt::format("P{{ arg0; {}}}", exits),
        .uses = kExits,
        .most_firings = 1},
       31},
      {{"action/chill"_row, "P{ arg0; chill(0); }", kNothing}},
  };
}

// What the consumer does at a record, to dvm's own output. The probe side of such an action is its record, which is then left.
struct ConsumedAction {
  Row recorded, consumed;
  const char* call;
  uint64_t most_firings;  // that are consumed
};
constexpr ConsumedAction kConsumed[] = {
    {"action/system"_row, "consumer/system"_row, "system(\":\")", 10},
    {"action/freopen"_row, "consumer/freopen"_row, "freopen(\"/dev/null\")", 500},
    {"action/ftruncate"_row, "consumer/ftruncate"_row, "ftruncate()", 500},
    {"action/setopt"_row, "consumer/setopt"_row, "setopt(\"aggsortrev\")", 500},
};

// Where the output goes: a file without a name.
const std::string& own_file() {
  static const std::string path = fmt::format("/proc/self/fd/{}", memfd_create("dvm-calibrate", MFD_CLOEXEC));
  return path;
}

std::vector<ActionCase> consumed_cases() {
  const std::string begin = fmt::format("dtrace:::BEGIN {{ freopen(\"{}\"); }} ", own_file()), without = begin + kNothing;
  std::vector<ActionCase> cases;
  for (const ConsumedAction& one : kConsumed) {
    const std::string with = fmt::format("{}P{{ arg0; {}; }}", begin, one.call);
    cases.push_back({{one.recorded, with, without}, 0, false});
    cases.push_back(
        {{.row = one.consumed, .with = with, .without = without, .is_consumer = true, .most_firings = one.most_firings}});
  }
  return cases;
}

std::vector<ActionCase> all_cases() {
  std::vector<ActionCase> cases = action_cases();
  for (ActionCase& one : consumed_cases()) cases.push_back(std::move(one));
  return cases;
}

constexpr Row kCommit = "action/commit"_row;
constexpr double kSmallRecord = 24, kLargeRecord = 16 + 256;  // bytes with their head

// Ns of a firing whose speculation ends so.
Result<noise::Middle> time_ending(const std::string& recorded, const char* ending, const CompileScript& compile,
                                  const ScriptMeterOptions& options) {
  const std::string script = fmt::format("{}speculate(this->id); {}; }} P{{ {}(this->id); }}", kTakes, recorded, ending);
  const Result<dif::Program> program = compile(with_probe(script));
  if (!program) return program.error();
  noise::QuietSamples samples = noise::samples_of(options.book, script, options.samples);
  while (samples.wants_more()) {
    const Result<ScriptSample> sample = time_program(*program, {.firings = options.firings});
    if (!sample) return sample.error();
    samples.add(sample->probe);
  }
  return noise::settle(options.book, script, samples);
}

// What a commit takes more than a discard, with a small record and with a large one.
Status measure_commit(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  vm::Price more[2];
  constexpr const char* kRecords[] = {"trace(arg1)", "trace(execname)"};
  for (size_t i = 0; i < std::size(more); i++) {
    const auto kept = time_ending(kRecords[i], "commit", compile, options);
    if (!kept) return kept.error();
    const auto forgotten = time_ending(kRecords[i], "discard", compile, options);
    if (!forgotten) return forgotten.error();
    more[i] = times(difference(*kept, *forgotten), profile.clock_hz / 1e9);
  }
  const vm::Price* discard = profile.find("action/discard"_row);
  const double by_byte = std::max(more[1].m - more[0].m, 0.0) / (kLargeRecord - kSmallRecord);
  const double once = std::max(more[0].m - by_byte * kSmallRecord, 0.0) + (discard ? discard->m : 0);
  profile.set(kCommit, {once, by_byte, more[0].spread});
  return {};
}

ScriptMeterOptions options_of(const ActionCase& one, const ScriptMeterOptions& options) {
  return {std::max(options.samples, one.least_samples), std::min(options.firings, kFirings), one.is_read, true, options.book};
}

// Of chill(0) is what it takes beyond its argument, whose nanoseconds are waited in any case.
void set_waiting(vm::Profile& profile) {
  if (const vm::Price* chill = profile.find("action/chill"_row))
    profile.set("action/chill"_row, {chill->m, profile.clock_hz / 1e9, chill->spread});
}

std::vector<Row> action_rows() {
  std::vector<Row> rows = {kCommit};
  for (const ActionCase& one : all_cases()) rows.push_back(one.script.row);
  return rows;
}

Status measure_actions(const Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  for (const ActionCase& one : all_cases()) {
    if (only && one.script.row != *only) continue;
    const ScriptMeterOptions options = options_of(one, bench.scripts);
    if (Status measured = measure_script(one.script, bench.compile, options, profile); !measured) return measured;
  }
  set_waiting(profile);
  if (only && *only != kCommit) return {};
  ScriptMeterOptions options = bench.scripts;
  options.firings = std::min(options.firings, kFirings), options.may_act = true;
  return measure_commit(bench.compile, options, profile);
}

}  // namespace

const Meter kActionMeter = {"actions", "", action_rows, measure_actions};

}  // namespace dvm::runtime
