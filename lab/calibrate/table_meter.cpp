// What is found in no cache: the rows of tables.h, and records behind a rest. Made-up firings are replayed to scripts that differ
// by their keys. Each is run twice, without a rest and with one before each batch of firings, as long as those of dvm between two
// looks: what a script takes more behind a rest, less what one takes that keeps nothing, is what it waits for.
//
// Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "lab/calibrate/meter.h"
#include "lab/calibrate/script_meter.h"
#include "lab/noise/quiet_time.h"
#include "lab/price_of.h"
#include "runtime/cost/table_uses.h"
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
Status measure_table(const TableMeter& meter, const TableRows& rows, const char* script, vm::Profile& profile) {
  const double most = rows.most;
  std::vector<Waits> found;
  for (const double keys : {1.0, kFewKeys, kSomeKeys, most}) {
    const auto all = static_cast<unsigned>(keys);
    const Result<Waits> waits = meter.of({fmt::format(fmt::runtime(script), fmt::format("rand() % {}", all)), all});
    if (!waits) return waits.error();
    found.push_back(*waits);
  }
  const Waits &one = found[0], &few = found[1], &some = found[2], &many = found[3];
  const double clocks = profile.clock_hz / 1e9, batch = static_cast<double>(kReplayBatch);
  for (const auto& [row, waits] : {std::pair(rows.few, &few), {rows.some, &some}, {rows.many, &many}})
    profile.set(row, more_than(waits->near, one.near, 1, clocks));
  profile.set(rows.first, more_than(some.more(), few.more(), different(kSomeKeys, batch) / batch, clocks));
  profile.set(rows.far, more_than(many.more(), few.more(), different(most, batch) / batch, clocks));
  return {};
}

Status measure_records(const TableMeter& meter, vm::Profile& profile) {
  const Result<Waits> counted = meter.of({"P{ @ = count(); }"}), traced = meter.of({"P{ trace(arg1); }"});
  for (const auto* one : {&counted, &traced})
    if (!*one) return one->error();
  const vm::Price byte = more_than(traced->more(), counted->more(), kTracedBytes, profile.clock_hz / 1e9);
  profile.set("record/rested"_row, {0, byte.m, byte.spread});
  return {};
}

std::vector<Row> table_rows() {
  std::vector<Row> rows;
  for (const TableRows& table : {kKeyRows, kTupleRows})
    rows.insert(rows.end(), {table.few, table.some, table.many, table.first, table.far});
  rows.push_back("record/rested"_row);
  return rows;
}

Status measure_tables(const Bench& bench, std::optional<Row>, vm::Profile& profile) {
  const TableMeter meter(bench.compile, bench.scripts);
  if (Status keys = measure_table(meter, kKeyRows, "P{{ @[{}] = count(); }}", profile); !keys) return keys;
  if (Status tuples = measure_table(meter, kTupleRows, "P{{ a[{}] = 1; }}", profile); !tuples) return tuples;
  return measure_records(meter, profile);
}

}  // namespace

const Meter kTableMeter = {"tables", "", table_rows, measure_tables};

}  // namespace dvm::runtime
