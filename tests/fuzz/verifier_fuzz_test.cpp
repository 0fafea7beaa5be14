// Every DIFO that the verifier admits runs without a crash, a loop or an access to foreign memory (which the address sanitizer
// would report). Inputs are random words, words with sane fields, and mutations of the DIFOs of the conformance suite. The seed
// is fixed, so a failure repeats; DVM_FUZZ_ROUNDS sets the number of inputs.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/conformance/dift.h"
#include "tests/fuzz/machine.h"
#include "tests/fuzz/random_difo.h"

namespace dvm::vm {

namespace {

using dif::Difo;
using fuzz::all_kinds;
using fuzz::Machine;
using fuzz::Maker;

unsigned rounds() {
  const char* wanted = std::getenv("DVM_FUZZ_ROUNDS");
  return wanted ? static_cast<unsigned>(std::atoi(wanted)) : 4000;
}

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
  const std::vector<Difo> seeds = fuzz::conformance_difos();
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
