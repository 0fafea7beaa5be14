// Requests to the process that fired: raise(), stop(), progenyof(), copyout() and copyoutstr(). One script makes each of them in
// turn, by the number of the firing, and in one turn none. The price is dvm's CPU time for the firings of a turn, less that of
// firings without a request, less the profile's prices for the rest of the clause.
//
// No other process is affected: the looping child ignores the signal, a stop is followed by the signal that ends it, and the
// bytes that are written stood there already.
//
// Covered by tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "lab/calibrate/live_run.h"
#include "lab/calibrate/script_meter.h"
#include "runtime/cost/predict.h"

namespace dvm::lab {

using namespace runtime;
namespace {

constexpr const char* kProbe = "calibrated:::entry";
constexpr uint64_t kCalls = 500;           // of a turn: a signal takes long
constexpr uint32_t kFew = 8, kMany = 200;  // bytes that are written

// What a turn does: {0}: bytes, {1}: a text of so many, {2}: the parent of the process that fires, {3}: a signal that it ignores,
// {4}: the one that ends a stop.
struct Turn {
  std::optional<Row> row;  // nothing: it does nothing
  unsigned uses;           // in a firing, as many as take some microseconds
  const char *setup, *use;
  uint32_t bytes = 0;  // of a row that is priced by them there are two turns
};

constexpr const char *kCopied = "this->copied = copyin(arg0, {0});", *kCopyout = "copyout(this->copied, arg0, {0});";
constexpr const char* kCopyoutstr = "copyoutstr(\"{1}\", arg0, {0});";
constexpr Turn kTurns[] = {
    {{}, 0, "", ""},
    {"action/raise"_row, 4, "", "raise({3});"},
    {"action/stop"_row, 1, "", "stop(); raise({4});"},
    {"subroutine/progenyof"_row, 16, "", "this->is_child = progenyof({2});"},
    {"subroutine/copyout"_row, 4, kCopied, kCopyout, kFew},
    {"subroutine/copyout"_row, 4, kCopied, kCopyout, kMany},
    {"subroutine/copyoutstr"_row, 4, "", kCopyoutstr, kFew},
    {"subroutine/copyoutstr"_row, 4, "", kCopyoutstr, kMany},
};
constexpr size_t kCount = std::size(kTurns);

std::string actions_of(const Turn& turn) {
  return fmt::format(fmt::runtime(repeated(turn.setup, turn.use, turn.uses)), turn.bytes, std::string(turn.bytes, 'x'), getpid(),
                     SIGURG, SIGCONT);
}

std::string script_of_all() {
  std::string text = fmt::format("{} {{ this->turn = firings++ / {} % {}; }}", kProbe, kCalls, kCount);
  for (size_t i = 1; i < kCount; i++) text += fmt::format(" {} /this->turn == {}/ {{ {} }}", kProbe, i, actions_of(kTurns[i]));
  return text;
}

// Ns of a firing in dvm, of each turn.
using Samples = std::array<std::vector<double>, kCount>;
using Settled = std::array<noise::Middle, kCount>;

Settled settle_turns(const Samples& samples, noise::SeriesBook& book) {
  Settled settled;
  for (size_t i = 0; i < kCount; i++) settled[i] = book.settle(fmt::format("turn {}", i), noise::quiet_middle(samples[i]));
  return settled;
}

Result<Samples> sample_turns(const Bench& bench) {
  auto child = LoopingChild::start();
  if (!child) return child.error();
  const LiveCase live{{StubKind::emulated, kCalls, 0, kMany, true}, script_of_all(), {{"destructive", ""}}};
  const Result<dif::Program> program = bench.compile(live.script);
  if (!program) return program.error();
  LoopingChild* const children[] = {child->get()};
  LiveRun run(live, children);
  if (Status started = run.start(*program); !started) return started.error();
  Samples samples;
  for (size_t i = 0; i < bench.samples * kCount; i++) {
    const Result<LiveSample> sample = run.sample();
    if (!sample) return sample.error();
    samples[i % kCount].push_back(sample->looked.value);
  }
  const Result<std::string> messages = run.stop();
  if (!messages) return messages.error();
  if (messages->find("error") != std::string::npos) return Error{*messages};
  return samples;
}

// Clocks of the turn's actions, as far as the profile goes.
Result<double> known(const Turn& turn, const Bench& bench, const vm::Profile& profile) {
  const Result<dif::Program> program = bench.compile(fmt::format("{} {{ {} }}", kProbe, actions_of(turn)));
  if (!program) return program.error();
  PredictOptions how;
  how.sizes.expected = turn.bytes;
  const Prediction prediction = predict(*program, profile, how);
  return prediction.probes.front().clauses.front().cost.actions.expected.clocks;
}

// Clocks of one use; nothing is known of its row but, of the second turn of two, what the first one has found.
Result<vm::Price> price_of(const Turn& turn, const Settled& settled, const Bench& bench, const vm::Profile& profile) {
  const Result<double> others = known(turn, bench, profile);
  if (!others) return others.error();
  const auto at = static_cast<size_t>(&turn - kTurns);
  vm::Price price = times(difference(settled[at], settled[0]), clocks_of_ns(profile) / turn.uses);
  price.m = std::max(price.m - *others / turn.uses, 0.0);
  return price;
}

// Of the row's two turns: what many bytes take is known as far as few take it, the remainder is new.
vm::Price with_many(const vm::Price& few, const vm::Price& remainder) {
  return by_size(few, kFew, {few.m + remainder.m, 0, remainder.spread}, kMany - kFew);
}

std::vector<Row> process_rows() {
  std::vector<Row> rows;
  for (const Turn& turn : kTurns)
    if (turn.row && (rows.empty() || rows.back() != *turn.row)) rows.push_back(*turn.row);
  return rows;
}

Status measure_processes(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  const Result<Samples> samples = sample_turns(bench);
  if (!samples) return samples.error();
  const Settled settled = settle_turns(*samples, bench.book);
  for (const Row row : process_rows()) profile.set(row, {});
  for (const Turn& turn : kTurns) {
    if (!turn.row) continue;
    const Result<vm::Price> found = price_of(turn, settled, bench, profile);
    if (!found) return found.error();
    profile.set(*turn.row, turn.bytes == kMany ? with_many(*profile.find(*turn.row), *found) : *found);
  }
  return {};
}

}  // namespace

extern const Meter kProcessMeter = {"processes", "requests to processes were", process_rows, measure_processes};

}  // namespace dvm::lab
