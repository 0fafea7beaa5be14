// Every DIFO that the verifier admits runs without a crash, a loop or an access to foreign memory (which the address sanitizer
// would report). Inputs are random words, words with sane fields, and mutations of the DIFOs of the conformance suite. The seed
// is fixed, so a failure repeats; DVM_FUZZ_ROUNDS sets the number of inputs.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "dvm/dif/text.h"
#include "tests/conformance/dift.h"
#include "tests/fuzz/machine.h"

namespace dvm::vm {

namespace {

using dif::Difo;
using dif::Instruction;
using fuzz::all_kinds;
using fuzz::Machine;

unsigned rounds() {
  const char* wanted = std::getenv("DVM_FUZZ_ROUNDS");
  return wanted ? static_cast<unsigned>(std::atoi(wanted)) : 4000;
}

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
  Machine machine(all_kinds());
  for (unsigned i = 0; i < rounds(); i++) {
    Difo difo;
    for (unsigned n = 1 + maker.below(16); n-- > 0;) difo.text.push_back(maker.any_word());
    machine.try_run(std::move(difo));
  }
}

TEST(VerifierFuzz, LikelyWords) {
  Maker maker(2);
  Machine machine(all_kinds());
  unsigned admitted = 0;
  for (unsigned i = 0; i < 10 * rounds(); i++) admitted += machine.try_run(maker.likely_difo());
  EXPECT_GT(admitted, rounds() / 4) << "too few DIFOs ran for this to mean anything";
}

TEST(VerifierFuzz, MutatedConformanceCases) {
  Maker maker(3);
  Machine machine(all_kinds());
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
