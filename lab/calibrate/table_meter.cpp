// Covered by tests/runtime/scenarios/test_cost.py.

#include "lab/calibrate/table_meter.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "lab/noise/quiet_time.h"
#include "lab/price_of.h"
#include "runtime/cost/tables.h"
#include "runtime/instrument/replay/replay.h"

namespace dvm::runtime {
namespace {

constexpr unsigned kRests = 20, kFoundTimes = 4;  // in a sample; by then nearly all keys are there
constexpr size_t kFewestRests = 4;                // that are quiet

// A script that finds one of so many keys, which are there when its firings are timed.
struct TableScript {
  std::string text;
  unsigned keys = 0;
};

// Ns of a firing, without rests and behind one.
struct Waits {
  noise::Middle near, rested;
  noise::Middle more() const { return {rested.median - near.median, std::hypot(rested.distance, near.distance)}; }
};

// Others leave more or less of the caches each time, so the quickest of them is not the truth; but a piece takes long enough for
// a stranger to come and go in it.
noise::QuietSample rested_sample(const noise::QuietTime& probe) {
  std::vector<double> quiet, all;
  for (const noise::QuietSample& piece : probe.pieces()) {
    all.push_back(piece.value);
    if (piece.is_quiet) quiet.push_back(piece.value);
  }
  const bool is_quiet = quiet.size() >= kFewestRests;
  std::vector<double>& found = is_quiet ? quiet : all;
  const double most = noise::kDisturbed * noise::quiet_middle(found).median;
  std::erase_if(found, [&](double ns) { return ns > most; });
  return {noise::middle(std::move(found)).median, is_quiet};
}

class TableMeter {
 public:
  TableMeter(const CompileScript& compile, const ScriptMeterOptions& options) : compile_(compile), options_(options) {}

  Result<Waits> of(const TableScript& script) const {
    const Result<dif::Program> program = compile_(with_probe(script.text));
    if (!program) return program.error();
    const std::string near_series = script.text + " near", rested_series = script.text + " rested";
    noise::QuietSamples near = noise::samples_of(options_.book, near_series, options_.samples), rested(options_.samples);
    const uint64_t firings = kFoundTimes * script.keys + kRests * kReplayBatch;
    while (near.wants_more() || rested.wants_more())
      for (const auto& [rests, samples] : {std::pair(0u, &near), {kRests, &rested}}) {
        if (!samples->wants_more()) continue;
        const Result<ScriptSample> sample = time_program(*program, {.firings = firings, .rested = rests});
        if (!sample) return sample.error();
        if (rests > 0)
          samples->add(rested_sample(sample->probe));
        else
          samples->add(sample->probe);
      }
    return Waits{noise::settle(options_.book, near_series, near),
                 noise::settle_middle(options_.book, rested_series, rested.middle(), rested.is_quiet())};
  }

 private:
  const CompileScript& compile_;
  const ScriptMeterOptions& options_;
};

vm::Price more_than(const noise::Middle& with, const noise::Middle& without, double uses, double clocks) {
  return times(difference(with, without), clocks / uses);
}

// The rows of a kind of table: `script` keeps something by the key that it is given.
Status measure_table(const TableMeter& meter, const std::string& kind, const char* script, double most, vm::Profile& profile) {
  std::vector<Waits> found;
  for (const double keys : {1.0, kFewKeys, kSomeKeys, most}) {
    const auto all = static_cast<unsigned>(keys);
    const Result<Waits> waits = meter.of({fmt::format(fmt::runtime(script), fmt::format("rand() % {}", all)), all});
    if (!waits) return waits.error();
    found.push_back(*waits);
  }
  const Waits &one = found[0], &few = found[1], &some = found[2], &many = found[3];
  const double clocks = profile.clock_hz / 1e9, batch = static_cast<double>(kReplayBatch);
  for (const auto& [row, waits] : {std::pair("/few", &few), {"/some", &some}, {"/many", &many}})
    profile.set(kind + row, more_than(waits->near, one.near, 1, clocks));
  profile.set(kind + "/first", more_than(some.more(), few.more(), different(kSomeKeys, batch) / batch, clocks));
  profile.set(kind + "/far", more_than(many.more(), few.more(), different(most, batch) / batch, clocks));
  return {};
}

Status measure_records(const TableMeter& meter, vm::Profile& profile) {
  const Result<Waits> counted = meter.of({"P{ @ = count(); }"}), traced = meter.of({"P{ trace(arg1); }"});
  for (const auto* one : {&counted, &traced})
    if (!*one) return one->error();
  const vm::Price byte = more_than(traced->more(), counted->more(), kTracedBytes, profile.clock_hz / 1e9);
  profile.set("record/rested", {0, byte.m, byte.spread});
  return {};
}

}  // namespace

std::vector<std::string> table_rows() {
  std::vector<std::string> rows;
  for (const char* kind : {"key", "tuple"})
    for (const char* row : {"few", "some", "many", "first", "far"}) rows.push_back(fmt::format("{}/{}", kind, row));
  rows.emplace_back("record/rested");
  return rows;
}

Status measure_tables(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  const TableMeter meter(compile, options);
  if (Status keys = measure_table(meter, "key", "P{{ @[{}] = count(); }}", kMostKeys, profile); !keys) return keys;
  if (Status tuples = measure_table(meter, "tuple", "P{{ a[{}] = 1; }}", kMostTuples, profile); !tuples) return tuples;
  return measure_records(meter, profile);
}

}  // namespace dvm::runtime
