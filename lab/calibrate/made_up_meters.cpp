// Rows that follow from more than two scripts on made-up firings: of replays, of tables with keys, of commit(), of counting.
// Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>

#include <algorithm>

#include "lab/calibrate/script_meter.h"
#include "runtime/cost/table_uses.h"
#include "runtime/instrument/replay/replay.h"

namespace dvm::lab {

using namespace runtime;

namespace {

// Events that no clause wants are read, priced by their bytes; the rest of an event that is counted is the way to its ECB.

constexpr unsigned kTimesMore = 10;  // as many samples as of other scripts: every script pays for these rows
constexpr unsigned kFewLetters = 1, kManyLetters = 200;

std::vector<Row> replay_rows() {
  return {"capture/recorded"_row, "prepare/machine"_row, "source/replay/trigger"_row, "source/replay/handler"_row};
}

Status measure_replay(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  constexpr const char *kUnwanted = "replay:::never { @ = count(); }", *kCounted = "P{ @ = count(); }";
  std::vector<TimedScript> scripts;
  double bytes[4];
  for (const auto& [script, memory] :
       {std::pair(kUnwanted, 0u), {kUnwanted, kFewLetters}, {kUnwanted, kManyLetters}, {kCounted, 0u}}) {
    const RunSettings settings{.firings = bench.firings, .memory = memory};
    const auto recording = MadeUpRecording::of(settings);
    if (!recording) return recording.error();
    bytes[scripts.size()] = (*recording)->event_bytes;
    scripts.push_back({script, settings});
  }
  const auto timed = time_scripts(bench, "replay", scripts, bench.samples * kTimesMore);
  if (!timed) return timed.error();
  const auto clocks = [&](size_t i) { return noise::times((*timed)[i], clocks_of_ns(profile)); };
  const noise::Middle without = clocks(0), small = clocks(1), large = clocks(2), counted = clocks(3);
  const double n = difference(large, small).m / (bytes[2] - bytes[1]);
  const vm::Price piece = difference(small, without);
  profile.set("capture/recorded"_row, {std::max(piece.m - n * (bytes[1] - bytes[0]), 0.0), 0, piece.spread});
  profile.set("prepare/machine"_row, {});  // cannot be distinguished from the source
  profile.set("source/replay/trigger"_row, {std::max(without.median - n * bytes[0], 0.0), n, without.deviation()});
  const Result<dif::Program> program = bench.compile(with_probe(kCounted));
  if (!program) return program.error();
  profile.set("source/replay/handler"_row, {});
  const double known = predicted_firing(*program, profile, bytes[0]);
  profile.set("source/replay/handler"_row, {std::max(counted.median - known, 0.0), 0, counted.deviation()});
  return {};
}

// Scripts that find one of several keys in random order, less one that has a single key.

Status measure_table(Bench& bench, const TableRows& rows, const char* script, vm::Profile& profile) {
  constexpr uint64_t kFoundTimes = 4, kMore = 20 * kReplayBatch;  // firings; after the first ones nearly all keys exist
  std::vector<TimedScript> scripts;
  for (const double keys : {1.0, kFewKeys, kSomeKeys, rows.most})
    scripts.push_back({fmt::format(fmt::runtime(script), fmt::format("rand() % {:.0f}", keys)),
                       {.firings = kFoundTimes * static_cast<uint64_t>(keys) + kMore}});
  const auto timed = time_scripts(bench, script, scripts, bench.samples);
  if (!timed) return timed.error();
  for (const auto& [row, i] : {std::pair(rows.few, 1u), {rows.some, 2u}, {rows.many, 3u}})
    profile.set(row, times(difference((*timed)[i], (*timed)[0]), clocks_of_ns(profile)));
  return {};
}

std::vector<Row> table_rows() {
  std::vector<Row> rows;
  for (const TableRows& table : {kKeyRows, kTupleRows}) rows.insert(rows.end(), {table.few, table.some, table.many});
  return rows;
}

Status measure_tables(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  if (Status keys = measure_table(bench, kKeyRows, "P{{ @[{}] = count(); }}", profile); !keys) return keys;
  return measure_table(bench, kTupleRows, "P{{ a[{}] = 1; }}", profile);
}

// The extra cost of a commit over a discard, with a small record and with a large one.

std::vector<Row> commit_rows() { return {"action/commit"_row}; }

Status measure_commit(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  constexpr double kSmallRecord = 24, kLargeRecord = 16 + 256;  // bytes with their head
  const RunSettings settings{.firings = std::min<uint64_t>(bench.firings, 20'000)};
  std::vector<TimedScript> scripts;
  for (const char* recorded : {"trace(arg1)", "trace(execname)"})
    for (const char* ending : {"commit", "discard"})
      scripts.push_back(
          {fmt::format("P{{ arg0; this->id = speculation(); speculate(this->id); {}; }} P{{ {}(this->id); }}", recorded, ending),
           settings});
  const auto timed = time_scripts(bench, "commit", scripts, bench.samples);
  if (!timed) return timed.error();
  const auto more = [&](size_t i) { return times(difference((*timed)[i], (*timed)[i + 1]), clocks_of_ns(profile)); };
  const vm::Price small = more(0), large = more(2);
  const vm::Price* discard = profile.find("action/discard"_row);
  const double byte = std::max(large.m - small.m, 0.0) / (kLargeRecord - kSmallRecord);
  profile.set("action/commit"_row,
              {std::max(small.m - byte * kSmallRecord, 0.0) + (discard ? discard->m : 0), byte, small.spread});
  return {};
}

// The cost of counting: the same scripts counted and not counted, with one and with several of each counted thing.

struct CountedScript {
  const char* text;
  bool is_consumer = false;
};
constexpr CountedScript kCounted[] = {
    {"P{ @a = count(); }"},
    {"P{ @a = count(); @b = count(); @c = count(); @d = count(); @e = count(); }"},
    {"P{ @a = count(); } P{ @b = count(); } P{ @c = count(); } P{ @d = count(); } P{ @e = count(); }"},
    {"P{ @a = sum(arg1); }"},
    {"P{ arg0; printf(\"%d %d\\n\", 77777, 77777); } P{ trace(execname); }", true},
};
constexpr double kMore = 4;       // actions or clauses
constexpr double kSteps = 4 + 3;  // of that printf: the action, the format, the values; of the string that is traced

std::vector<Row> account_rows() {
  return {"account/action"_row, "account/ecb"_row, "account/evaluation"_row, "account/step"_row, "account/firing"_row};
}

Status measure_accounting(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  std::vector<TimedScript> scripts;
  for (const CountedScript& one : kCounted)
    for (const vm::CostPolicy policy : {vm::CostPolicy::blocks, vm::CostPolicy::none}) {
      const uint64_t firings = one.is_consumer ? std::min(bench.firings, kMostRecords) : bench.firings;
      scripts.push_back({one.text, {.firings = firings, .cost = policy}, one.is_consumer});
    }
  const auto timed = time_scripts(bench, "account", scripts, bench.samples);
  if (!timed) return timed.error();
  const auto counting = [&](size_t i) { return times(difference((*timed)[2 * i], (*timed)[2 * i + 1]), clocks_of_ns(profile)); };
  // Each of `more` things beyond `without`, less `others`.
  const auto each = [](const vm::Price& with, const vm::Price& without, double more, double others = 0) {
    return vm::Price{std::max((with.m - without.m) / more - others, 0.0), 0, (with.spread + without.spread) / more};
  };
  const vm::Price one = counting(0), action = each(counting(1), one, kMore), ecb = each(counting(2), one, kMore, action.m);
  profile.set("account/action"_row, action);
  profile.set("account/ecb"_row, ecb);
  profile.set("account/evaluation"_row, each(counting(3), one, 1));
  profile.set("account/step"_row, times(counting(4), 1 / kSteps));
  profile.set("account/firing"_row, {std::max(one.m - action.m - ecb.m, 0.0), 0, one.spread});
  return {};
}

}  // namespace

extern const Meter kReplayMeter = {"replay", "", replay_rows, measure_replay};
extern const Meter kTableMeter = {"tables", "", table_rows, measure_tables};
extern const Meter kCommitMeter = {"commit", "", commit_rows, measure_commit};
extern const Meter kAccountMeter = {"accounting", "", account_rows, measure_accounting};

}  // namespace dvm::lab
