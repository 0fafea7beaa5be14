// How much of what speculates is committed, and so is the consumer's part.

#include <gtest/gtest.h>

#include "runtime/cost/assumptions.h"
#include "tests/unit/runtime/priced_clauses.h"

namespace dvm::runtime::test {
namespace {

const dif::ProbeDesc kBegin = own_probe("BEGIN"), kEnd = own_probe("END");

struct Speculating : testing::Test {
  const dif::ProbeDesc a = system_call("a"), b = system_call("b"), c = system_call("c");
  dif::ActDesc begin = doing(dif::Action::expression, "call speculation, %r1\nret %r1\n");
  dif::ActDesc speculate = doing(dif::Action::speculate, kArgument);
  dif::ActDesc commit = doing(dif::Action::commit, kArgument);
  dif::ActDesc discard = doing(dif::Action::discard, kArgument);
  PredictOptions options;

  double share(std::vector<dif::EcbDesc> clauses) const {
    return of_program(std::move(clauses), [&](const auto& programs) { return committed_share(programs, options); });
  }
};

TEST_F(Speculating, WithoutACommitNothingIsPrinted) {
  EXPECT_EQ(share({on(a, {begin, speculate}), on(b, {discard})}), 0);
  EXPECT_EQ(share({on(a, {begin, speculate})}), 0);
  EXPECT_EQ(share({on(a, {begin, speculate}), on(b, {commit})}), 1);
}

TEST_F(Speculating, ACommitThatHoldsHalfOfTheTimeCommitsHalf) {
  EXPECT_EQ(share({on(a, {begin, speculate}), on(b, {commit}, true), on(b, {discard}, true)}), 0.5);
  EXPECT_EQ(share({on(a, {begin, speculate}), on(b, {commit}, true), on(b, {discard})}), 0.5);
  EXPECT_EQ(share({on(a, {begin, speculate}), on(b, {discard}, true), on(b, {commit})}), 0.5);
  EXPECT_EQ(share({on(a, {begin, speculate}), on(b, {commit}), on(b, {discard})}), 1);
  options.probability = 0.1;
  EXPECT_NEAR(share({on(a, {begin, speculate}), on(b, {commit}, true), on(b, {discard})}), 0.1, 1e-9);
  EXPECT_NEAR(share({on(a, {begin, speculate}), on(b, {discard}, true), on(b, {commit})}), 0.9, 1e-9);
}

TEST_F(Speculating, MeasuredPredicatesAndKnownRatesCount) {
  const std::vector<dif::EcbDesc> clauses = {on(a, {begin, speculate}), on(b, {commit}, true), on(c, {discard})};
  options.measured[position_of(clauses[1].position)] = {4, 1, 0, {}};
  EXPECT_EQ(share(clauses), 0.25);
  options.rates = {{"syscall::a:entry", 1000}, {"syscall::b:entry", 100}};  // not all: as if each fired as often
  EXPECT_EQ(share(clauses), 0.25);
  options.rates["syscall::c:entry"] = 10;
  EXPECT_DOUBLE_EQ(share(clauses), 0.025);
}

TEST_F(Speculating, WhatBeginBeginsIsSharedByThoseThatEndIt) {
  EXPECT_DOUBLE_EQ(share({on(kBegin, {begin}), on(a, {speculate}), on(b, {commit}), on(c, {discard}, true)}), 2 / 3.0);
  EXPECT_EQ(share({on(kBegin, {begin}), on(a, {speculate}), on(kEnd, {commit})}), 1);
  EXPECT_EQ(share({on(kBegin, {begin}), on(a, {speculate}), on(kEnd, {discard})}), 0);
}

TEST_F(Speculating, OnlyWhatIsCommittedIsTheConsumersPart) {
  const dif::ActDesc trace = tracing();
  const auto rate = [&](dif::EcbDesc speculating, dif::ActDesc end) {
    options.rates = {{"syscall::a:entry", 1000}, {"syscall::b:entry", 1000}};
    return predicted({std::move(speculating), on(b, {std::move(end)}, true)}, pentium(), options).record_rate;
  };
  EXPECT_DOUBLE_EQ(rate(on(a, {begin, speculate, trace}), commit), 24 * 1000 * 0.5);
  EXPECT_EQ(rate(on(a, {begin, speculate, trace}), discard), 0);
  EXPECT_EQ(rate(on(a, {begin, speculate, trace, commit}), discard), 0);  // what a clause ends itself is lost
  EXPECT_DOUBLE_EQ(rate(on(a, {begin, discard, speculate, trace}), commit), 0);
  EXPECT_DOUBLE_EQ(rate(on(a, {begin, trace}), discard), 24 * 1000);
}

}  // namespace
}  // namespace dvm::runtime::test
