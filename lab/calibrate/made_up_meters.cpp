// Rows that follow from more than two scripts on synthetic firings: of replays, of tables with keys, of counting.
// Covered by tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>

#include <algorithm>

#include "dvm/vm/engine.h"
#include "lab/calibrate/script_meter.h"
#include "runtime/cost/table_uses.h"
#include "runtime/instrument/replay/replay.h"

namespace dvm::lab {

using namespace runtime;
namespace {

// Unwanted events give the price of reading, by their bytes. What a counted event costs more on engine llvm is the price of the
// handler: it has to reach its ECB. What it costs beyond that on the interpreter is the price of starting a firing.

constexpr unsigned kTimesMore = 10;  // as many samples as of other scripts: every script pays for these rows
constexpr unsigned kFewLetters = 1, kManyLetters = 200;

std::vector<Row> replay_rows() {
  return {"capture/recorded"_row, "prepare/machine"_row, "source/replay/trigger"_row, "source/replay/handler"_row};
}

constexpr const char *kUnwanted = "replay:::never { @ = count(); }", *kWanted = "P{ @ = count(); }";

// The firings of the last two are wanted, on either engine; without LLVM on one.
std::vector<TimedScript> replay_scripts(const Bench& bench) {
  std::vector<TimedScript> scripts;
  for (const unsigned memory : {0u, kFewLetters, kManyLetters})
    scripts.push_back({kUnwanted, {.firings = bench.firings, .memory = memory}});
  scripts.push_back({kWanted, {.firings = bench.firings}});
  if (vm::llvm_problem().empty()) scripts.push_back({kWanted, {.firings = bench.firings, .engine = EngineId::llvm}});
  return scripts;
}

// ways: times of kWanted, by engine.
void set_ways(const dif::Program& counted, std::span<const noise::Middle> ways, double bytes, vm::Profile& profile) {
  profile.set("source/replay/handler"_row, {});
  const auto set_remainder = [&](Row row, EngineId engine) {
    profile.set(row.in({engine}), {});
    const double known = predicted_firing(counted, profile, {engine}, bytes);
    profile.set(row.in({engine}), beyond(difference(ways[static_cast<size_t>(engine)]), known));
  };
  profile.set("prepare/machine"_row, {});
  if (ways.size() == 1) return set_remainder("source/replay/handler"_row, {});
  profile.set("prepare/machine"_row.in({EngineId::llvm}), {});
  set_remainder("source/replay/handler"_row, EngineId::llvm);
  set_remainder("prepare/machine"_row, EngineId::interp);
}

void measure_replay(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  const std::vector<TimedScript> scripts = replay_scripts(bench);
  std::vector<double> bytes;
  for (const TimedScript& script : scripts) bytes.push_back(event_bytes(script.settings));
  const auto timed = time_scripts(bench, "replay", scripts, bench.samples * kTimesMore);
  std::vector<noise::Middle> clocks;
  for (const noise::Middle& one : timed) clocks.push_back(noise::times(one, clocks_of_ns(profile)));
  const double n = difference(clocks[2], clocks[1]).m / (bytes[2] - bytes[1]);
  const vm::Price piece = difference(clocks[1], clocks[0]);
  profile.set("capture/recorded"_row, beyond(piece, n * (bytes[1] - bytes[0])));
  profile.set("source/replay/trigger"_row, {std::max(clocks[0].median - n * bytes[0], 0.0), n, clocks[0].deviation()});
  set_ways(or_throw(bench.compile(with_probe(kWanted))), std::span(clocks).subspan(3), bytes[0], profile);
}

// Scripts that find one of several keys in random order, less one that has a single key.
void measure_table(Bench& bench, const TableRows& rows, const char* script, vm::Profile& profile) {
  constexpr uint64_t kFoundTimes = 4, kMore = 20 * kReplayBatch;  // firings; after the first ones nearly all keys exist
  std::vector<TimedScript> scripts;
  for (const double keys : {1.0, kFewKeys, kSomeKeys, rows.most})
    scripts.push_back({fmt::format(fmt::runtime(script), fmt::format("rand() % {:.0f}", keys)),
                       {.firings = kFoundTimes * static_cast<uint64_t>(keys) + kMore}});
  const auto timed = time_scripts(bench, script, scripts, bench.samples);
  for (const auto& [row, i] : {std::pair(rows.few, 1u), {rows.some, 2u}, {rows.many, 3u}})
    profile.set(row, times(difference(timed[i], timed[0]), clocks_of_ns(profile)));
}

std::vector<Row> table_rows() {
  return {kKeyRows.few, kKeyRows.some, kKeyRows.many, kTupleRows.few, kTupleRows.some, kTupleRows.many};
}

void measure_tables(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  measure_table(bench, kKeyRows, "P{{ @[{}] = count(); }}", profile);
  measure_table(bench, kTupleRows, "P{{ a[{}] = 1; }}", profile);
}

// The cost of counting: the same scripts counted and not counted, with one and with several of each counted thing.
constexpr struct {
  const char* text;
  bool is_consumer = false;
} kCounted[] = {
    {"P{ @a = count(); }"},
    {"P{ @a = count(); } P{ @b = count(); } P{ @c = count(); } P{ @d = count(); } P{ @e = count(); }"},
    {"P{ @a = sum(arg1); }"},
    {"P{ arg0; printf(\"%d %d\\n\", 77777, 77777); } P{ trace(execname); }", true},
};
constexpr double kMore = 4;       // clauses
constexpr double kSteps = 4 + 3;  // of that printf: the action, the format, the values; of the string that is traced

std::vector<Row> account_rows() { return {"account/ecb"_row, "account/evaluation"_row, "account/step"_row}; }

void measure_accounting(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  std::vector<TimedScript> scripts;
  for (const auto& one : kCounted)
    for (const vm::CostPolicy policy : {vm::CostPolicy::blocks, vm::CostPolicy::none}) {
      const uint64_t firings = one.is_consumer ? std::min(bench.firings, kMostRecords) : bench.firings;
      scripts.push_back({one.text, {.firings = firings, .cost = policy}, one.is_consumer});
    }
  const auto timed = time_scripts(bench, "account", scripts, bench.samples);
  const auto counting = [&](size_t i) { return times(difference(timed[2 * i], timed[2 * i + 1]), clocks_of_ns(profile)); };
  const vm::Price one = counting(0);
  const auto beyond_one = [&](size_t i, double more) {
    const vm::Price with = counting(i);
    return vm::Price{std::max(with.m - one.m, 0.0) / more, 0, (with.spread + one.spread) / more};
  };
  profile.set("account/ecb"_row, beyond_one(1, kMore));
  profile.set("account/evaluation"_row, beyond_one(2, 1));
  profile.set("account/step"_row, times(counting(3), 1 / kSteps));
}

}  // namespace

extern const Meter kReplayMeter = {"replay", "", replay_rows, measure_replay, {}, true};
extern const Meter kTableMeter = {"tables", "", table_rows, measure_tables, {}, true};
extern const Meter kAccountMeter = {"accounting", "", account_rows, measure_accounting, {}, true};

}  // namespace dvm::lab
