// Engines do the same, whatever verified DIF they run: value, fault with its pc, counts, and all memory that DIF may write.
//
// DIF sees addresses, so each engine runs in a process of its own: both are forked from one that has verified the DIFOs and made
// the state, and so have everything at the same place. State goes on from one DIFO to the next.

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

#include "tests/fuzz/outcomes.h"
#include "tests/fuzz/random_difo.h"
#include "tests/support/engine.h"
#include "vm/state/state.h"

namespace dvm::fuzz {
namespace {

constexpr size_t kBatch = 300;
constexpr size_t kPadding = 32;  // long strings keep their place when they are moved

struct Outcome {
  uint64_t value, fault, fault_value, pc, text, memory, counts;
};

std::string to_text(const Outcome& o) {
  return fmt::format("value {:#x}, fault {} {:#x} pc {}, text {:#x}, memory {:#x}, counts {:#x}", o.value, o.fault, o.fault_value,
                     o.pc, o.text, o.memory, o.counts);
}

// FNV-1a.
uint64_t hash(std::span<const std::byte> bytes, uint64_t before = 0xcbf29ce484222325) {
  for (const std::byte byte : bytes) before = (before ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return before;
}

uint64_t hash_memory(vm::State& state) {
  uint64_t all = hash(state.scratch.used());
  for (const auto& region : {state.variables.globals.storage(), state.locals.storage(), state.variables.dynamic.memory()})
    all = hash(region, all);
  return all;
}

uint64_t hash_counts(const vm::Counts& counts) {
  uint64_t all = hash(std::as_bytes(std::span(counts.opcodes)));
  all = hash(std::as_bytes(std::span(counts.subroutines)), all);
  return hash(std::as_bytes(std::span(counts.variables)), all);
}

// A session, and the DIFOs that run in it one after another.
class Batch {
 public:
  void add(dif::Difo difo) {
    difo.strings.append(kPadding, '\0');
    auto verified = vm::verify(std::move(difo));
    if (auto* admitted = std::get_if<0>(&verified)) difos_.push_back(std::move(*admitted));
  }
  size_t size() const { return difos_.size(); }
  std::string listing(size_t i) const { return dif::disassemble(listings_[i]); }
  void keep_listings() {
    for (const vm::VerifiedDifo& difo : difos_) listings_.push_back(difo.difo());
  }

  void run(const vm::Engine& engine, std::span<Outcome> outcomes) {
    for (size_t i = 0; i < difos_.size(); i++) {
      vm::Prepared made = engine.prepare(std::move(difos_[i]), i % 2 == 0 ? vm::CostPolicy::blocks : vm::CostPolicy::none);
      require(made.difo != nullptr, made.problem.c_str());
      outcomes[i] = machine_.outcome(std::move(made.difo));
    }
  }

 private:
  struct Twin : Machine {
    using Machine::Machine;
    Outcome outcome(std::shared_ptr<const vm::PreparedDifo> difo) {
      vm::test::Counted prepared(std::move(difo));
      state_.begin_firing(firing_, host_);
      Outcome out{};
      out.value = prepared.run(state_);
      const vm::FaultState fault = state_.fault();
      out.fault = static_cast<uint64_t>(fault.id), out.fault_value = fault.value, out.pc = fault.pc;
      if (fault.id != dif::Fault::none) out.value = 0;
      out.memory = hash_memory(state_.impl());
      std::byte text[64]{};
      state_.copy_string(out.value, text);
      out.text = hash(text);
      vm::Counts counts;
      prepared.take_counts(counts);
      out.counts = hash_counts(counts);
      return out;
    }
  };

  std::vector<vm::VerifiedDifo> difos_;
  std::vector<dif::Difo> listings_;
  Twin machine_{all_kinds()};
};

void compare(Batch& batch, const vm::Engine& engine) {
  batch.keep_listings();
  Outcomes<Outcome, kBatch> expected, got;
  ASSERT_TRUE(run_apart(batch, vm::kUsualEngine, expected));
  ASSERT_TRUE(run_apart(batch, engine, got));
  for (size_t i = 0; i < batch.size(); i++)
    ASSERT_EQ(to_text(got.all()[i]), to_text(expected.all()[i])) << engine.name << " on\n" << batch.listing(i);
}

size_t rounds() { return from_environment("DVM_FUZZ_ROUNDS", 300); }

class EngineFuzz : public testing::TestWithParam<vm::Engine> {
 protected:
  // Compares so many DIFOs, as `make` makes them.
  template <class Make>
  void run(Make make) {
    DVM_SKIP_WITHOUT(GetParam());
    for (size_t done = 0; done < rounds() && !HasFatalFailure();) {
      Batch batch;
      while (batch.size() < std::min(kBatch, rounds())) batch.add(make());
      compare(batch, GetParam());
      done += batch.size();
    }
  }
};

TEST_P(EngineFuzz, LikelyWords) {
  Maker maker(from_environment("DVM_FUZZ_SEED", 5));
  run([&] { return maker.likely_difo(); });
}

TEST_P(EngineFuzz, MutatedConformanceCases) {
  Maker maker(from_environment("DVM_FUZZ_SEED", 6));
  const std::vector<dif::Difo> seeds = conformance_difos();
  ASSERT_GT(seeds.size(), 500u);
  run([&, i = size_t{0}]() mutable {
    dif::Difo difo = seeds[i++ % seeds.size()];
    maker.mutate(difo);
    return difo;
  });
}

INSTANTIATE_TEST_SUITE_P(All, EngineFuzz, testing::ValuesIn(std::span(vm::kEngines).subspan(1)),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace dvm::fuzz
