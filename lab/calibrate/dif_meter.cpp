// Timing DIF. Covered by tests/unit/lab/calibrate_test.cpp.

#include "lab/calibrate/dif_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "common/clock.h"
#include "dvm/dif/text.h"
#include "dvm/vm/engine.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab {

using namespace runtime;
namespace {

// Letters of the strings that by_size is found with: as likely as others, so no multiples of what is moved at once.
constexpr unsigned kShort = 13, kLong = 197;
constexpr size_t kCapturedBytes = 512;

// A process of one piece of memory.
class CaseHost final : public vm::Host {
 public:
  bool read(uint64_t, std::span<std::byte> to) noexcept override {
    std::ranges::fill(to, std::byte{'a'});
    return true;
  }
  std::ptrdiff_t read_string(uint64_t, std::span<char> to) noexcept override {
    std::ranges::fill(to, 'a');
    return static_cast<std::ptrdiff_t>(to.size());
  }
  int32_t ppid() noexcept override { return 1; }
  int64_t uid() noexcept override { return 0; }
  int64_t gid() noexcept override { return 0; }
};

// A text, ready to run again and again in a firing of its own each time.
class Runnable {
 public:
  static std::unique_ptr<Runnable> make(const std::string& text, unsigned letters, runtime::EngineId engine) {
    dif::Difo difo = or_throw(dif::assemble(text));
    auto made = std::unique_ptr<Runnable>(new Runnable(difo.variables, letters));
    auto verified = vm::verify(std::move(difo));
    if (const auto* errors = std::get_if<1>(&verified)) throw Error{errors->front().message};
    vm::Prepared prepared =
        vm::kEngines[static_cast<size_t>(engine)].prepare(std::get<0>(std::move(verified)), vm::CostPolicy::none);
    if (!prepared.difo) throw Error{prepared.problem};
    made->difo_ = std::move(prepared.difo);
    made->variables_.share_strings(made->difo_->strings());
    made->run(1);
    if (made->state_.fault().id != dif::Fault::none) throw Error{fmt::format("fault at instruction {}", made->state_.fault().pc)};
    return made;
  }

  void run(uint64_t times) noexcept {
    for (uint64_t i = 0; i < times; i++) {
      state_.begin_firing(firing_, host_);
      difo_->run(state_);
    }
  }

  // The same firings without DIF.
  void run_nothing(uint64_t times) noexcept {
    for (uint64_t i = 0; i < times; i++) state_.begin_firing(firing_, host_);
  }

  // Ticks of one of so many runs.
  double time(uint64_t times, bool with_dif = true) noexcept {
    const uint64_t begin = vm::read_ticks();
    with_dif ? run(times) : run_nothing(times);
    return static_cast<double>(vm::read_ticks() - begin) / static_cast<double>(times);
  }

 private:
  Runnable(const std::vector<dif::Variable>& variables, unsigned letters)
      : variables_(variables, {}), state_(variables_, {}), string_(letters, 'a'), bytes_(kCapturedBytes, std::byte{'a'}) {
    memory_[0] = {kCaptured, std::as_bytes(std::span(string_.c_str(), string_.size() + 1)), true};
    memory_[1] = {kCaptured, bytes_, false};
    firing_.timestamp = firing_.vtimestamp = firing_.walltimestamp = 1;
    firing_.provider = firing_.module = firing_.function = firing_.name = names_;
    firing_.execname = string_;
    firing_.memory = memory_;
    firing_.registers = {(1u << registers_.size()) - 1, registers_};
    firing_.stack = stack_;
  }

  std::unique_ptr<vm::PreparedDifo> difo_;
  vm::VariableState variables_;
  vm::MachineState state_;
  std::string string_, names_ = string_;
  std::vector<std::byte> bytes_;
  std::array<vm::CapturedMemory, 2> memory_;
  std::array<uint64_t, 21> registers_{};
  std::array<uint64_t, 3> stack_ = {1, 2, 3};
  vm::Firing firing_;
  CaseHost host_;
};

// So that one sample takes about as long as is asked for.
uint64_t times_of(Runnable& text, uint64_t ns) {
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  uint64_t times = 0;
  for (uint64_t taken = 0; taken < ns; taken = read_clock(CLOCK_MONOTONIC) - begin) text.run(1), times++;
  return std::max<uint64_t>(times, 1);
}

constexpr unsigned kTries = 6;  // of a sample, which is short

vm::Price time_difference(const std::string& series, Runnable& text, Runnable* base, Bench& bench) {
  const uint64_t runs = times_of(text, bench.dif_ns);
  const std::string of_with = series + " with", of_without = series + " without";
  const unsigned samples = bench.book.is_sure(of_with) && bench.book.is_sure(of_without) ? 0 : bench.dif_samples;
  noise::QuietSamples with(samples, kTries), without(samples, kTries);
  while (with.wants_more()) {
    noise::QuietPiece piece(noise::wait_for_quiet_core());
    const noise::QuietSample one = piece.end(text.time(runs)),
                             other = piece.end(base ? base->time(runs) : text.time(runs, false));
    const bool is_quiet = one.is_quiet && other.is_quiet;
    with.add({one.value, is_quiet}), without.add({other.value, is_quiet});
  }
  return difference(bench.book.settle(of_with, with), bench.book.settle(of_without, without));
}

// The extra cost of a copy of the body over one of the base. A case without copies is its setup alone.
vm::Price measure(const DifCase& one, unsigned letters, Bench& bench, const char* state = "") {
  const std::string series = fmt::format("{}{}{} {}", series_of(bench), one.row.name(), state, letters);
  const runtime::EngineId engine = bench.execution.engine;
  const auto text = Runnable::make(case_text(one, one.body, one.copies, letters), letters, engine);
  if (one.copies == 0) return time_difference(series, *text, nullptr, bench);
  const auto base = Runnable::make(case_text(one, one.base, one.copies, letters), letters, engine);
  return times(time_difference(series, *text, base.get(), bench), 1.0 / one.copies);
}

vm::Price price(const DifCase& one, Bench& bench) {
  const vm::Price few = measure(one, kShort, bench);
  if (one.by_size) return by_size(few, kShort + 1, measure(one, kLong, bench), kLong - kShort);
  if (one.body_of_change.empty()) return few;
  DifCase changing = one;
  changing.body = one.body_of_change;  // of two stores
  return by_size(few, 0, times(measure(changing, kShort, bench, " changing"), 0.5), 1);
}

// The price of a case without its other rows, whose own prices may need others in turn.
vm::Price own_price(const DifCase& one, const std::vector<DifCase>& cases, const DifPrices& whole) {
  vm::Price left = whole.at(one.row);
  for (const auto& [others, sign] : {std::pair(&one.only_base, 1), {&one.only_body, -1}})
    for (const Row row : *others) {
      const auto other = std::ranges::find(cases, row, &DifCase::row);
      if (other == cases.end()) continue;
      const vm::Price price = own_price(*other, cases, whole);
      left.m += sign * price.m, left.spread += price.spread;
    }
  left.m = std::max(left.m, 0.0);
  return left;
}

// The case of the row, and those of the rows that are subtracted from it.
void find_cases(Row row, const std::vector<DifCase>& all, std::vector<DifCase>& found) {
  const auto own = std::ranges::find(all, row, &DifCase::row);
  if (own == all.end() || std::ranges::find(found, row, &DifCase::row) != found.end()) return;
  found.push_back(*own);
  for (const auto* others : {&own->only_base, &own->only_body})
    for (const Row other : *others) find_cases(other, all, found);
}

std::vector<DifCase> cases_of(std::optional<Row> only) {
  std::vector<DifCase> found;
  if (!only) return dif_cases();
  find_cases(*only, dif_cases(), found);
  return found;
}

std::vector<Row> dif_case_rows() { return rows_of(dif_cases()); }

void measure_dif_rows(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  for (const auto& [row, price] : or_throw(measure_dif(cases_of(only), bench)))
    if (!only || row == *only) profile.set(row.in(bench.execution), price);
}

}  // namespace

void level(const std::vector<DifCase>& cases, DifPrices& prices) {
  constexpr double kPredicted = 2.9;  // clocks
  std::map<dif::Format, double> least;
  for (const DifCase& one : cases)
    if (one.alike) least[*one.alike] = std::min(least.try_emplace(*one.alike, HUGE_VAL).first->second, prices.at(one.row).m);
  for (const DifCase& one : cases)
    if (double& price = prices.at(one.row).m; one.alike && price < least.at(*one.alike) + kPredicted)
      price = least.at(*one.alike);
}

Result<DifPrices> measure_dif(const std::vector<DifCase>& cases, Bench& bench) {
  DifPrices whole, own;
  for (const DifCase& one : cases) {
    const Status found = caught([&] { whole[one.row] = price(one, bench); });
    if (!found) return Error{fmt::format("{}: {}", one.row.name(), found.error().message)};
    bench.progress(whole.size(), cases.size());
  }
  if (bench.execution.engine == EngineId{}) level(cases, whole);
  for (const DifCase& one : cases) own[one.row] = own_price(one, cases, whole);
  return own;
}

extern const Meter kDifMeter = {"DIF", "", dif_case_rows, measure_dif_rows, {}, true};
extern const Meter kNativeDifMeter = {"DIF on engine llvm", "DIF on engine llvm was", dif_case_rows,
                                      measure_dif_rows,     EngineId::llvm,           true};

}  // namespace dvm::lab
