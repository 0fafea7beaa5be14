// Whatever the verifier admits runs without a crash, a loop or a touch of foreign memory (the last as the address sanitizer sees
// it): random words, words with sane fields, and mutations of the DIFOs of the conformance suite. The seed is fixed, so a failure
// repeats; the size of a run is DVM_FUZZ_ROUNDS.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "dvm/dif/text.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/engine.h"
#include "tests/conformance/dift.h"
#include "tests/conformance/mock_host.h"

namespace dvm::vm {

namespace {

using dif::Difo;
using dif::Instruction;

unsigned rounds() {
  const char* wanted = std::getenv("DVM_FUZZ_ROUNDS");
  return wanted ? static_cast<unsigned>(std::atoi(wanted)) : 4000;
}

// A session with one variable of every scope, kind and type, so that random ids hit something.
std::vector<dif::Variable> all_kinds() {
  const dif::DataType types[] = {{dif::TypeKind::integer, true, false, 8, "int64_t"},
                                 {dif::TypeKind::string, false, false, 0, "string"},
                                 {dif::TypeKind::bytes, false, false, 24, "struct s"}};
  std::vector<dif::Variable> table;
  uint16_t id = dif::kFirstUserVariable;
  for (const dif::Scope scope : {dif::Scope::global, dif::Scope::thread, dif::Scope::clause})
    for (const dif::VariableKind kind : {dif::VariableKind::scalar, dif::VariableKind::array})
      for (const dif::DataType& type : types) table.push_back({"v", id++, scope, kind, true, true, type});
  return table;
}

class Machine {
 public:
  Machine() {
    firing_.args = {0, 1, 0x1000, ~uint64_t{0}, 0x2000};
    firing_.provider = "pid1", firing_.module = "m", firing_.function = "f", firing_.name = "entry", firing_.execname = "e";
    firing_.memory = captured_;
    host_.memory[0x2000] = "late";
    host_.registers[16] = 5;
  }
  // True when the verifier admitted it.
  bool try_run(Difo difo) {
    auto verified = verify(std::move(difo));
    if (!std::holds_alternative<VerifiedDifo>(verified)) {
      EXPECT_FALSE(std::get<1>(verified).empty());
      return false;
    }
    run(std::get<VerifiedDifo>(std::move(verified)));
    return true;
  }

 private:
  void run(VerifiedDifo verified) {
    const auto policy = static_cast<CostPolicy>(runs_++ % 3);
    const size_t size = verified.difo().text.size();
    const auto prepared = prepare_interp(std::move(verified), policy);
    state_.begin_firing(firing_, host_);
    const uint64_t value = prepared->run(state_);
    if (state_.fault().id != dif::Fault::none) {
      EXPECT_LT(state_.fault().pc, size);
    }
    std::byte to[300];
    state_.copy_string(value, to);
    state_.copy_bytes(value, to);
    Counts counts;
    prepared->take_counts(counts);
    for (const Tally& tally : counts.opcodes) EXPECT_LE(tally.count, size);
  }

  const std::byte bytes_[8] = {std::byte{'a'}, std::byte{'b'}};
  const CapturedMemory captured_[1] = {{0x1000, bytes_, false}};
  Firing firing_;
  test::MockHost host_;
  StateLimits limits_{.strsize = 16, .scratch = 256, .dynvarsize = 4096};
  std::vector<dif::Variable> table_ = all_kinds();
  VariableState variables_{table_, limits_};
  MachineState state_{variables_, limits_};
  unsigned runs_ = 0;
};

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  Instruction any_word() { return Instruction(static_cast<uint32_t>(random_())); }

  // A word that has a chance with the verifier: registers that exist, small indices, ids of variables.
  Instruction likely_word(unsigned pc, unsigned size) {
    const auto op = static_cast<dif::Opcode>(1 + below(77));
    const unsigned r1 = below(8), r2 = below(8), rd = below(8);
    using dif::Format;
    switch (info(op).format) {
      case Format::branch:
        return Instruction::branch(op, pc + 1 + below(std::max(size - pc, 2u) - 1));
      case Format::setx:
      case Format::sets:
        return Instruction::indexed(op, below(6), rd | 1);
      case Format::ldv:
      case Format::stv:
        return Instruction::indexed(op, below(3) ? dif::kFirstUserVariable + below(18) : 0x100 + below(0x22), rd | 1);
      case Format::call:
        return Instruction::indexed(op, below(dif::kSubroutineCount), rd | 1);
      case Format::lda:
        return Instruction::registers(op, below(4), r2, rd | 1);
      case Format::pushts:
        return Instruction::registers(op, below(3), op == dif::Opcode::pushtv ? 0 : r2, rd);
      case Format::log:
        return Instruction::registers(op, r1, r2, rd | 1);
      case Format::r1rd:
      case Format::load:
        return Instruction::registers(op, r1, 0, rd | 1);
      case Format::store:
        return Instruction::registers(op, r1, 0, rd);
      case Format::cmp:
        return Instruction::registers(op, r1, r2, 0);
      case Format::tst:
        return Instruction::registers(op, r1, 0, 0);
      case Format::ret:
        return Instruction::registers(op, 0, 0, rd);
      default:
        return Instruction::registers(op, 0, 0, 0);
    }
  }

  // Addresses of every region in registers first, then anything.
  Difo likely_difo() {
    Difo difo = dif::assemble(
                    "setx 24, %r1\nallocs %r1, %r2\nsets \"a/b:c\", %r3\nldgs DT_VAR(1282), %r4\nldls DT_VAR(1293), %r5\n"
                    "ldgs probefunc, %r6\nsetx 0x1000, %r7\n")
                    .
                    operator*();
    difo.integers.insert(difo.integers.end(), {0, 3, ~uint64_t{0}, uint64_t{1} << 63, 0x2000});
    difo.variables = all_kinds();
    const unsigned size = static_cast<unsigned>(difo.text.size()) + 1 + below(24);
    while (difo.text.size() + 1 < size) difo.text.push_back(likely_word(static_cast<unsigned>(difo.text.size()), size));
    difo.text.push_back(Instruction::registers(dif::Opcode::ret, 0, 0, below(8)));
    return difo;
  }

  void mutate(Difo& difo) {
    for (unsigned n = 1 + below(3); n-- > 0;) {
      Instruction& word = difo.text[below(static_cast<unsigned>(difo.text.size()))];
      switch (below(4)) {
        case 0:
          word = Instruction(word.word() ^ 1u << below(32));
          break;
        case 1:
          word = Instruction((word.word() & ~(0xffu << 8 * below(4))) | below(8) << 8 * below(4));
          break;
        case 2:
          word = any_word();
          break;
        default:
          if (!difo.integers.empty()) difo.integers[below(static_cast<unsigned>(difo.integers.size()))] = random_();
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

TEST(VerifierFuzz, RandomWords) {
  Maker maker(1);
  Machine machine;
  for (unsigned i = 0; i < rounds(); i++) {
    Difo difo;
    for (unsigned n = 1 + maker.below(16); n-- > 0;) difo.text.push_back(maker.any_word());
    machine.try_run(std::move(difo));
  }
}

TEST(VerifierFuzz, LikelyWords) {
  Maker maker(2);
  Machine machine;
  unsigned admitted = 0;
  for (unsigned i = 0; i < 10 * rounds(); i++) admitted += machine.try_run(maker.likely_difo());
  EXPECT_GT(admitted, rounds() / 4) << "too few DIFOs ran for this to mean anything";
}

TEST(VerifierFuzz, MutatedConformanceCases) {
  Maker maker(3);
  Machine machine;
  std::vector<Difo> seeds;
  for (const test::Dift& file : test::read_all_dift())
    for (const test::Case& c : file.cases)
      if (auto difo = dif::assemble(c.dif)) seeds.push_back(*std::move(difo));
  ASSERT_GT(seeds.size(), 500u);
  unsigned admitted = 0;
  for (unsigned i = 0; i < 10 * rounds(); i++) {
    Difo difo = seeds[i % seeds.size()];
    maker.mutate(difo);
    admitted += machine.try_run(std::move(difo));
  }
  EXPECT_GT(admitted, rounds());
}

// The assembler takes any text.
TEST(AssemblerFuzz, MutatedListings) {
  Maker maker(4);
  std::string all;
  for (const test::Dift& file : test::read_all_dift())
    for (const test::Case& c : file.cases) all += c.dif;
  for (unsigned i = 0; i < rounds(); i++) {
    std::string text = all.substr(maker.below(static_cast<unsigned>(all.size())), maker.below(300));
    for (unsigned n = maker.below(6); n-- > 0 && !text.empty();)
      text[maker.below(static_cast<unsigned>(text.size()))] = static_cast<char>(maker.below(256));
    const auto difo = dif::assemble(text);
    if (!difo) {
      EXPECT_TRUE(difo.error().message.starts_with("line ")) << difo.error().message;
    }
  }
}

}  // namespace

}  // namespace dvm::vm
