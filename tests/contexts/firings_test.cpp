// Clauses on two contexts, each with a thread of its own that fires: what they leave, merged, is what one would have left.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "dvm/dif/text.h"
#include "runtime/consumer/record_merge.h"
#include "runtime/enabling/enabling.h"
#include "runtime/probe/fire.h"
#include "runtime/probe/prepare.h"
#include "tests/conformance/mock_host.h"
#include "tests/contexts/both.h"
#include "tests/support/engine.h"
#include "tests/unit/runtime/programs.h"

namespace dvm::runtime::test {
namespace {

constexpr uint64_t kFirings = 2000;
constexpr uint64_t kFaults = kFirings / 10;
constexpr uint32_t kCount = 1, kSums = 2, kQuantize = 3, kErrors = 4;
constexpr Epid kPrinting = 4, kFaulting = 5;

// ++x
dif::Difo next_x() {
  auto difo = dif::assemble("v 500 scl glb r/w int64\nldgs v, %r1\nsetx 1, %r2\nadd %r1, %r2, %r1\nstgs %r1, v\nret %r1\n");
  EXPECT_TRUE(difo) << difo.error().message;
  difo->result = kLong;
  return *std::move(difo);
}

//   f { @1 = count(); @2[tid] = sum(arg0); @3 = quantize(arg0); printf("%d %d", ++x, tid); }  each in a clause of its own
//   f /arg1/ { 1 / 0 }    ERROR { @4 = count(); }
dif::Program program() {
  const auto tid = [] { return built_in(dif::BuiltIn::tid); };
  const auto arg0 = [] { return built_in(dif::BuiltIn::arg0); };
  dif::Program program;
  program.clauses = {clause("f", {aggregate(dif::Action::agg_count, kCount, {}, 0)}),
                     clause("f", {aggregate(dif::Action::agg_sum, kSums, {tid(), arg0()}, 1)}),
                     clause("f", {aggregate(dif::Action::agg_quantize, kQuantize, {arg0()}, 0)}),
                     clause("f", {print("%d %d", {next_x(), tid()})}),
                     clause("f", {action(dif::Action::expression, {divide_by_zero()})}),
                     clause("ERROR", {aggregate(dif::Action::agg_count, kErrors, {}, 0)})};
  program.clauses[kFaulting - 1].predicate = dif::PredDesc{built_in(dif::BuiltIn::arg1)};
  program.variables = next_x().variables;
  program.aggregations = {declare(kCount, dif::Action::agg_count), declare(kSums, dif::Action::agg_sum, {kLong}),
                          declare(kQuantize, dif::Action::agg_quantize), declare(kErrors, dif::Action::agg_count)};
  return program;
}

class Enabled {
 public:
  explicit Enabled(vm::CostPolicy policy) {
    const auto matches = [this](const dif::ProbeDesc& description) {
      return std::vector<const Probe*>{description.name == "f" ? &f : &error};
    };
    const Status status = enabling.add(program(), matches, {}, policy);
    EXPECT_TRUE(status) << status.error().message;
  }

  Probe f{1, "pid1", "a.out", "f", "f", UprobeSite{}}, error{2, "dtrace", "", "", "ERROR", InternalSite{}};
  Enabling enabling;
};

// A context, as a session makes it, and the firings of its thread. Firings of the two take turns in time.
class Tracer {
 public:
  Tracer(const Enabled& enabled, uint64_t number) : enabled_(enabled), number_(number) {
    const vm::StateLimits limits;
    const Enabling& enabling = enabled.enabling;
    EXPECT_TRUE(context.cpus.allocate({BufferPolicy::switch_, 1 << 20, 0}, 2));
    EXPECT_TRUE(context.aggregations.allocate(1 << 20));
    EXPECT_TRUE(context.speculations.allocate(1, 4096, 2));
    context.variables.emplace(enabling.variables(), limits);
    context.runs.resize(enabling.ecbs().size());
    context.keyless.resize(enabling.aggregations().size());
    context.start(limits, host_, enabling.largest_key());
    context.error_probe = enabling.find(enabled.error.id);
    for (const Ecb& ecb : enabling.ecbs()) context.tallies.emplace_back(*ecb.code);
  }

  template <class Accounting>
  void fire(uint64_t begin, uint64_t end) noexcept {
    const ProbeEcbs& probe = *enabled_.enabling.find(enabled_.f.id);
    for (uint64_t i = begin; i < end; i++) {
      vm::Firing firing;
      firing.timestamp = 1000 + 16 * i + 8 * number_;
      firing.tid = static_cast<int32_t>(1 + number_);
      firing.cpu = static_cast<int32_t>(i % 2);
      firing.args[0] = i, firing.args[1] = i % 10 == 0;
      context.level->cpu = &context.cpus[firing.cpu];
      fire_probe<Accounting>(*context.level, probe, firing);
    }
  }

  FireContext context;

 private:
  const Enabled& enabled_;
  const uint64_t number_;
  vm::test::MockHost host_;
};

// Of each aggregation and first word of a key, all words of the states together: of one word, it is the value.
using Sums = std::map<std::pair<uint32_t, uint64_t>, uint64_t>;

void add_to(Sums& sums, const AggregationSource& source) {
  source.visit([&](const AggregationEntry& entry) {
    uint64_t key = 0;
    if (!entry.key.empty()) std::memcpy(&key, entry.key.data(), sizeof(key));
    for (const uint64_t word : entry.words) sums[{entry.aggregation, key}] += word;
  });
}

template <class T>
T value_at(const std::byte* record, const ValuePlan& value) {
  T result{};
  std::memcpy(&result, record + value.offset, value.size);
  return result;
}

class TwoContexts : public ::testing::Test {
 protected:
  template <class Accounting>
  void run(vm::CostPolicy policy) {
    enabled_ = std::make_unique<Enabled>(policy);
    for (uint64_t number : {0, 1}) tracers_[number] = std::make_unique<Tracer>(*enabled_, number);
    fire_on_both<Accounting>(0, kFirings);
  }

  template <class Accounting>
  void fire_on_both(uint64_t begin, uint64_t end) {
    on_both([this, begin, end](size_t thread) { tracers_[thread]->template fire<Accounting>(begin, end); });
  }

  // Both fire while a third thread makes the machine code, again once they have it, and in the end by the interpreter: as a
  // session does, code changes between firings.
  template <class Accounting>
  void run_with_changes(vm::CostPolicy policy) {
    enabled_ = std::make_unique<Enabled>(policy);
    for (uint64_t number : {0, 1}) tracers_[number] = std::make_unique<Tracer>(*enabled_, number);
    change_while<Accounting>(vm::kEngines[1], policy, 0);
    change_while<Accounting>(vm::kUsualEngine, policy, kFirings / 3);
    fire_on_both<Accounting>(kFirings / 3 * 2, kFirings);
  }

  template <class Accounting>
  void change_while(const vm::Engine& engine, vm::CostPolicy policy, uint64_t begin) {
    Enabling& enabling = enabled_->enabling;
    std::vector<EcbCode> made;
    std::thread translator([&] {
      for (const EcbPlan& plan : enabling.plans())
        made.push_back(prepare_code(
            plan, [&enabling](uint32_t id) { return enabling.aggregation(id); }, policy, engine));
    });
    fire_on_both<Accounting>(begin, begin + kFirings / 3);
    translator.join();
    for (size_t clause = 0; clause < made.size(); clause++) {
      EXPECT_EQ(made[clause].engine, engine.name) << made[clause].problem;
      enabling.replace_code(clause, std::move(made[clause]));
    }
  }

  void check_sums() const {
    Sums sums;
    for (const auto& tracer : tracers_) add_to(sums, tracer->context.aggregations);
    const uint64_t sum = kFirings * (kFirings - 1) / 2;
    EXPECT_EQ(sums, (Sums{{{kCount, 0}, 2 * kFirings},
                          {{kSums, 1}, sum},
                          {{kSums, 2}, sum},
                          {{kQuantize, 0}, 2 * kFirings},
                          {{kErrors, 0}, 2 * kFaults}}));
  }

  // Each context has an x of its own, and their records take turns.
  void check_records() {
    std::vector<RecordLane> lanes;
    for (const auto& tracer : tracers_)
      for (const RecordLane& lane : tracer->context.cpus.take_records()) lanes.push_back(lane);
    const std::vector<ValuePlan>& values = enabled_->enabling.ecb(kPrinting)->plan->actions[0].values;
    RecordMerge merge(lanes, true);
    uint64_t printed = 0, errors = 0;
    while (merge.next()) {
      if (header_of(merge.record()).epid == kPrinting) {
        EXPECT_EQ(value_at<uint64_t>(merge.record(), values[0]), 1 + printed / 2);
        EXPECT_EQ(value_at<uint64_t>(merge.record(), values[1]), 1 + printed % 2);
        printed++;
      } else {
        ErrorRecord error;
        std::memcpy(&error, merge.record(), sizeof(error));
        EXPECT_EQ(std::tie(error.header.epid, error.epid, error.fault), std::make_tuple(Epid{0}, kFaulting, dif::Fault::divzero));
        errors++;
      }
    }
    EXPECT_EQ(printed, 2 * kFirings);
    EXPECT_EQ(errors, 2 * kFaults);
  }

  // Of all contexts together.
  void check_account() {
    for (const Ecb& ecb : enabled_->enabling.ecbs()) {
      uint64_t firings = 0, faults = 0;
      for (const auto& tracer : tracers_) {
        firings += tracer->context.tallies[ecb.epid - 1].firings;
        faults += tracer->context.tallies[ecb.epid - 1].faults;
      }
      const bool is_error = ecb.probe == &enabled_->error;
      EXPECT_EQ(firings, 2 * (is_error ? kFaults : kFirings));
      EXPECT_EQ(faults, ecb.epid == kFaulting ? 2 * kFaults : 0);
    }
    const ValueCode& x = enabled_->enabling.ecb(kPrinting)->code->actions[0].values[0];
    vm::Counts counts;
    vm::InstructionCounts instructions;
    for (const auto& tracer : tracers_) {
      const std::span<vm::OpCost> costs = tracer->context.tallies[kPrinting - 1].costs;
      x.difo->take_counts(costs.subspan(x.costs, x.difo->cost_count()), counts, instructions);
      x.timed->take_counts(costs.subspan(x.timed_costs, x.timed->cost_count()), counts, instructions);
    }
    EXPECT_EQ(counts.opcodes[static_cast<size_t>(dif::Opcode::stgs)].count, 2 * kFirings);
  }

  std::unique_ptr<Enabled> enabled_;
  std::unique_ptr<Tracer> tracers_[2];
};

TEST_F(TwoContexts, LeaveTheirSumsAndRecords) {
  run<Off>(vm::CostPolicy::none);
  check_sums();
  check_records();
}

TEST_F(TwoContexts, CountApart) {
  run<OnSample>(vm::CostPolicy::blocks);
  check_sums();
  check_records();
  check_account();
}

TEST_F(TwoContexts, ChangeTheirEngineWhileTheyRun) {
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  run_with_changes<Off>(vm::CostPolicy::none);
  check_sums();
  check_records();
}

TEST_F(TwoContexts, CountApartWithEnginesThatChange) {
  DVM_SKIP_WITHOUT(vm::kEngines[1]);
  run_with_changes<OnSample>(vm::CostPolicy::blocks);
  check_sums();
  check_records();
  check_account();
}

}  // namespace
}  // namespace dvm::runtime::test
