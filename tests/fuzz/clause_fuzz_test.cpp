// Engines do the same whatever clauses they run, alone or several on a probe: records, faults with their pc, drops, state of
// aggregations, counts, and the memory of variables.
//
// DIF sees addresses, so each engine runs in a process of its own: both are forked from one that has planned the clauses and made
// the context, and so have everything at the same place.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dvm/dif/text.h"
#include "runtime/plan/plan.h"
#include "runtime/probe/enter.h"
#include "runtime/probe/fire.h"
#include "runtime/probe/prepare.h"
#include "tests/fuzz/outcomes.h"
#include "tests/fuzz/random_clause.h"
#include "tests/support/engine.h"
#include "tests/unit/runtime/programs.h"
#include "vm/state/state.h"

namespace dvm::fuzz {
namespace {

using namespace runtime;

constexpr unsigned kFirings = 6;
constexpr size_t kMostClauses = 200, kMostOfProbe = 3;

// What the clauses of a probe left, each as a hash; and how their firings ended. pcs: of faults that were recorded.
struct Outcome {
  uint64_t records, aggregations, drops, counts, memory, variables, hits, faults, pcs, bytes, errors, exits;
};

std::string to_text(const Outcome& o) {
  return fmt::format(
      "records {:#x}, {} bytes, aggregations {:#x}, drops {}, counts {:#x}, memory {:#x}, variables {:#x}, hits {}, faults {}, "
      "at {:#x}, errors in ERROR {}, exits {:#x}",
      o.records, o.bytes, o.aggregations, o.drops, o.counts, o.memory, o.variables, o.hits, o.faults, o.pcs, o.errors, o.exits);
}

// FNV-1a.
uint64_t hash(std::span<const std::byte> bytes, uint64_t before = 0xcbf29ce484222325) {
  for (const std::byte byte : bytes) before = (before ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return before;
}
template <class T>
uint64_t hash_of(const T& all, uint64_t before) {
  return hash(std::as_bytes(std::span(all)), before);
}

ErrorRecord error_of(std::span<const std::byte> record) {
  ErrorRecord error;
  std::memcpy(&error, record.data(), sizeof(error));
  return error;
}

// A record of an error has padding, which means nothing.
uint64_t hash_record(std::span<const std::byte> record, uint64_t before) {
  if (header_of(record.data()).epid != 0) return hash(record, before);
  const ErrorRecord error = error_of(record);
  const uint64_t words[] = {error.header.order, error.epid, error.action, error.offset, static_cast<uint64_t>(error.fault),
                            error.value};
  return hash_of(words, before);
}

// A context that all clauses of a batch run in, one after another.
class Batch {
 public:
  Batch() {
    require(bool{options_.set("strsize", "16")}, "an option");
    for (const dif::AggregationDesc& desc : ClauseMaker::aggregations()) add(desc);
    // Little, so that there are drops.
    require(context_.cpus.allocate({BufferPolicy::switch_, 2048, 0}, 1) && context_.aggregations.allocate(8192) &&
                context_.speculations.allocate(2, 1024, 1),
            "buffers");
    context_.variables.emplace(all_kinds(), limits_);
    context_.keyless.resize(aggregations_.size());
    context_.runs.resize(kMostOfProbe);
    context_.start(limits_, host_, 512);
    context_.level->cpu = &context_.cpus[0];
    context_.meet(0);
    firing_.provider = "pid1", firing_.module = "m", firing_.function = "f", firing_.name = "entry", firing_.execname = "e";
    firing_.memory = captured_;
    host_.memory[0x2000] = "late";
  }

  // False: there is no plan of it.
  bool add(dif::EcbDesc clause) {
    const auto find = [this](uint32_t id) { return &aggregations_[id - 1].desc; };
    Result<EcbPlan> plan = make_plan(static_cast<unsigned>(plans_.size()), std::move(clause), find, options_);
    if (plan) plans_.push_back(std::move(*plan));
    return bool{plan};
  }
  size_t size() const { return plans_.size(); }
  // The clauses of a probe, from the one that its outcome is beside.
  struct OfProbe {
    size_t first, count;
    vm::CostPolicy policy;
    bool outlives_exit;
  };
  std::vector<OfProbe> probes() const {
    std::vector<OfProbe> all;
    for (size_t first = 0; first < plans_.size(); first += all.back().count) {
      const size_t n = all.size();
      all.push_back({first, std::min(1 + n % kMostOfProbe, plans_.size() - first),
                     n / kMostOfProbe % 2 == 0 ? vm::CostPolicy::blocks : vm::CostPolicy::none, n / kMostOfProbe % 4 < 2});
    }
    return all;
  }
  std::string listing(const OfProbe& probe) const {
    std::string text;
    for (size_t i = probe.first; i < probe.first + probe.count; i++) {
      text += "clause\n";
      for (const vm::VerifiedDifo& difo : plans_[i].difos) text += dif::disassemble(difo.difo()) + "\n";
      for (const ActionPlan& action : plans_[i].actions)
        text += fmt::format("action {:#x}\n", static_cast<unsigned>(action.kind));
    }
    return text;
  }

  void run(const vm::Engine& engine, std::span<Outcome> outcomes) {
    for (const OfProbe& probe : probes()) outcomes[probe.first] = outcome(probe, engine);
  }

 private:
  void add(const dif::AggregationDesc& desc) {
    EnabledAggregation live;
    live.desc = desc, live.function = find_aggregate(desc.function),
    live.words = aggregation_words(desc.function, desc.parameters);
    live.number = static_cast<uint32_t>(aggregations_.size());
    aggregations_.push_back(std::move(live));
  }

  void fire(const ProbeEcbs& probe, vm::CostPolicy policy) {
    for (unsigned i = 0; i < kFirings; i++) {
      firing_.timestamp = i, firing_.args = {i % 3, ~uint64_t{0} << 8 * i, 0x1000, i, 0x2000};
      if (policy == vm::CostPolicy::none)
        fire_probe<Off>(*context_.level, probe, firing_);
      else
        fire_probe<OnCount>(*context_.level, probe, firing_);
    }
  }

  EcbCode code_of(const EcbPlan& plan, const vm::Engine& engine, vm::CostPolicy policy) {
    EcbCode code = prepare_code(
        plan, [this](uint32_t id) { return &aggregations_[id - 1]; }, policy, engine);
    require(code.problem.empty() && code.engine == engine.name, code.problem.c_str());
    for (const auto& difo : code.difos) context_.variables->share_strings(difo->strings());
    return code;
  }

  Outcome outcome(const OfProbe& of, const vm::Engine& engine) {
    std::deque<EcbCode> codes;
    std::deque<Ecb> ecbs;
    ProbeEcbs probe;
    probe.probe = &probe_, probe.outlives_exit = of.outlives_exit;
    context_.tallies.clear();
    for (size_t i = of.first; i < of.first + of.count; i++) {
      const EcbPlan& plan = plans_[i];
      codes.push_back(code_of(plan, engine, of.policy));
      ecbs.push_back({static_cast<Epid>(ecbs.size() + 1), &probe_, &plan, &codes.back()});
      context_.tallies.emplace_back(codes.back());
      probe.ecbs.push_back(&ecbs.back());
      probe.needs_machine |= plan.needs_machine;
    }
    choose_way(probe);
    // What a plain or light body leaves as it is: scratch, clause-local variables, and the fault of an earlier firing.
    context_.level->state.begin_firing(firing_, host_);
    context_.level->state.impl().scratch_used = 0;
    context_.level->state.set_fault(dif::Fault::illop);
    fire(probe, of.policy);
    Outcome out{};
    take_records(out);
    take_aggregations(out);
    for (size_t i = 0; i < codes.size(); i++) take_counts(codes[i], context_.tallies[i], out);
    take_memory(of.count == 1, out);
    return out;
  }

  void take_records(Outcome& out) {
    for (const auto& records : context_.cpus[0].principal.take()) {
      if (records.empty()) continue;
      out.bytes += records.size();
      for (size_t at = 0; at < records.size(); at += header_of(&records[at]).size) {
        const auto record = records.subspan(at, header_of(&records[at]).size);
        out.records = hash_record(record, out.records);
        if (header_of(record.data()).epid == 0) out.pcs = hash_of(std::vector{error_of(record).offset}, out.pcs);
      }
      // Later records may leave what lies behind the end of a string.
      std::memset(const_cast<std::byte*>(records.data()), 0, records.size());
    }
    out.drops = context_.cpus[0].principal.drops() << 32 | context_.cpus[0].aggregation_drops;
    out.errors = context_.errors_in_error;
    out.exits = static_cast<uint64_t>(context_.exit_status) << 8 |
                static_cast<uint64_t>(std::exchange(context_.activity, Activity::active));
  }

  void take_aggregations(Outcome& out) {
    context_.aggregations.visit([&out](const AggregationEntry& entry) {
      out.aggregations = hash_of(entry.words, hash(entry.key, out.aggregations + entry.aggregation));
    });
    if (++read_ % 4 == 0) context_.aggregations.clear();
  }

  static void take_counts(const ValueCode& value, EcbTallies& tallies, Outcome& out) {
    vm::Counts counts;
    vm::InstructionCounts instructions;
    value.difo->take_counts(std::span(tallies.costs).subspan(value.costs, value.difo->cost_count()), counts, instructions);
    out.counts = hash(std::as_bytes(std::span(&counts, 1)), out.counts);
    out.counts = hash_of(instructions, out.counts);
  }

  void take_counts(const EcbCode& code, EcbTallies& tallies, Outcome& out) {
    for (const ActionTally& tally : tallies.actions) out.counts = hash(std::as_bytes(std::span(&tally, 1)), out.counts);
    if (code.predicate) take_counts(*code.predicate, tallies, out);
    for (const ActionCode& action : code.actions)
      for (const ValueCode& value : action.values) take_counts(value, tallies, out);
    out.counts = hash(std::as_bytes(std::span(&context_.stages, 1)), out.counts);
    out.hits += tallies.predicate_hits, out.faults += tallies.faults;
  }

  // Scratch of one clause only: the next one forgets it, unless its body is plain.
  void take_memory(bool is_of_one, Outcome& out) {
    vm::State& state = context_.level->state.impl();
    if (is_of_one) out.memory = hash(state.scratch.used());
    for (const auto& region : {state.variables.globals.storage(), state.locals.storage(), state.variables.dynamic.memory()})
      out.variables = hash(region, out.variables);
  }

  dif::Options options_;
  std::deque<EnabledAggregation> aggregations_;
  std::deque<EcbPlan> plans_;
  Probe probe_{1, "pid1", "a.out", "f", "entry", UprobeSite{}};
  FireContext context_;
  const vm::StateLimits limits_{.strsize = 16, .scratch = 256, .dynvarsize = 4096};
  vm::Firing firing_;
  vm::test::MockHost host_;
  const std::byte bytes_[8] = {std::byte{'a'}, std::byte{'b'}};
  const vm::CapturedMemory captured_[1] = {{0x1000, bytes_, false}};
  unsigned read_ = 0;
};

size_t clauses() { return from_environment("DVM_FUZZ_ROUNDS", kMostClauses); }

class ClauseFuzz : public testing::TestWithParam<vm::Engine> {};

TEST_P(ClauseFuzz, EnginesLeaveTheSame) {
  DVM_SKIP_WITHOUT(GetParam());
  ClauseMaker maker(from_environment("DVM_FUZZ_SEED", 7));
  for (size_t done = 0; done < clauses();) {
    Batch batch;
    while (batch.size() < kMostClauses) batch.add(maker.clause());
    Outcomes<Outcome, kMostClauses> expected, got;
    ASSERT_TRUE(run_apart(batch, vm::kUsualEngine, expected));
    ASSERT_TRUE(run_apart(batch, GetParam(), got));
    for (const Batch::OfProbe& probe : batch.probes())
      ASSERT_EQ(to_text(got.all()[probe.first]), to_text(expected.all()[probe.first])) << GetParam().name << " on\n"
                                                                                       << batch.listing(probe);
    done += batch.size();
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClauseFuzz, testing::ValuesIn(std::span(vm::kEngines).subspan(1)),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace dvm::fuzz
