// What lives as long as a consumer, a firing and a clause, and what a value refers to when it is copied out.

#include "dvm/vm/state.h"

#include <gtest/gtest.h>

#include "dvm/vm/dynamic_room.h"
#include "dvm/vm/engine.h"
#include "dvm/vm/set_variables.h"
#include "tests/conformance/mock_host.h"
#include "tests/unit/vm/assembled.h"

namespace dvm::vm {

namespace {

class StateTest : public testing::Test {
 protected:
  uint64_t run(const std::string& text) {
    auto verified = verify(dif::test::assembled(kTable + text));
    last_ = prepare_interp(std::get<VerifiedDifo>(std::move(verified)), CostPolicy::none);
    return last_->run(*state_);
  }
  void fire(int32_t tid) {
    firing_.tid = tid;
    state_->begin_firing(firing_, host_);
  }
  void SetUp() override {
    const dif::Difo table = dif::test::assembled(kTable);
    variables_ = std::make_unique<VariableState>(table.variables, limits_);
    state_ = std::make_unique<MachineState>(*variables_, limits_);
    fire(1);
  }
  std::string text_of(uint64_t value, size_t size = 64) {
    std::string out(size, '?');
    EXPECT_TRUE(state_->copy_string(value, std::as_writable_bytes(std::span(out))));
    return out.substr(0, out.find('\0'));
  }

  const std::string kTable =
      "g 500 scl glb r/w int64\nt 501 scl tls r/w int64\nc 502 scl loc r/w int64\ns 503 scl loc r/w string\nb 504 scl loc r/w "
      "bytes[8]\no 505 scl loc r/w bytes[3]\np 506 scl loc r/w bytes[16]\na 507 arr glb r/w int64\nu 508 scl glb r/w uint8\n"
      "i 509 scl glb r/w int8\nw 50a scl tls r/w bytes[32]\nv 50b scl tls r/w string\n";
  StateLimits limits_{.strsize = 16, .scratch = 256, .dynvarsize = 16384};
  Firing firing_;
  test::MockHost host_;
  std::unique_ptr<VariableState> variables_;
  std::unique_ptr<MachineState> state_;
  std::unique_ptr<PreparedDifo> last_;
};

TEST_F(StateTest, GlobalsLiveOn) {
  run("setx 5, %r1\nstgs %r1, g\nret %r0\n");
  fire(2);
  EXPECT_EQ(run("ldgs g, %r1\nret %r1\n"), 5u);
}

TEST_F(StateTest, TellsGlobalIntegers) {
  run("setx 0xffffffffffffffff, %r1\nstgs %r1, g\nstgs %r1, u\nret %r0\n");
  EXPECT_EQ(variables_->global(0x500), ~uint64_t{0});
  EXPECT_EQ(variables_->global(0x508), 255U);
  EXPECT_EQ(variables_->global(0x509), 0U);
}

TEST_F(StateTest, TakesVariablesFromElsewhere) {
  run("setx 5, %r1\nstgs %r1, g\nret %r0\n");
  VariableValue values[] = {{dif::Scope::thread, 0x501, 7}, {dif::Scope::clause, 0x502, 8}, {dif::Scope::global, 0x500, 9}};
  set_variables(*state_, values);
  EXPECT_EQ(run("ldts t, %r1\nret %r1\n"), 7u);
  EXPECT_EQ(run("ldls c, %r1\nret %r1\n"), 8u);
  EXPECT_EQ(run("ldgs g, %r1\nstgs %r0, g\nret %r1\n"), 9u);
  clear_variables(*state_, values);
  EXPECT_EQ(variables_->live_dynamic(), 0u);
  EXPECT_EQ(run("ldts t, %r1\nret %r1\n"), 0u);
  EXPECT_EQ(variables_->global(0x500), 5U);
}

TEST_F(StateTest, TakesStringsFromElsewhere) {
  const std::string texts[] = {std::string("abc\0de", 6), "0123456789abcdefgh", ""};
  for (const std::string& text : texts) {
    VariableValue value{dif::Scope::thread, 0x50b, 1, true, std::as_bytes(std::span(text))};
    set_variables(*state_, {&value, 1});
    EXPECT_EQ(text_of(run("ldts v, %r1\nret %r1\n")), text.substr(0, std::min<size_t>(text.find('\0'), 16)));
    value.value = 0;
    set_variables(*state_, {&value, 1});
    EXPECT_EQ(run("ldts v, %r1\nret %r1\n"), 0U);
  }
  EXPECT_EQ(variables_->live_dynamic(), 0U);
}

TEST_F(StateTest, ThreadLocalsBelongToTheirThread) {
  run("setx 5, %r1\nstts %r1, t\nret %r0\n");
  fire(2);
  EXPECT_EQ(run("ldts t, %r1\nret %r1\n"), 0u);
  fire(1);
  EXPECT_EQ(run("ldts t, %r1\nret %r1\n"), 5u);
}

TEST_F(StateTest, GlobalArraysBelongToNoThread) {
  run("setx 5, %r1\npushtv %r1\nstgaa %r1, a\nret %r0\n");
  fire(2);
  EXPECT_EQ(run("setx 5, %r1\npushtv %r1\nldgaa a, %r2\nret %r2\n"), 5u);
}

TEST_F(StateTest, IntegersAreExtendedByTheirType) {
  run("setx 0x1ff, %r1\nstgs %r1, u\nstgs %r1, i\nret %r0\n");
  EXPECT_EQ(run("ldgs u, %r1\nret %r1\n"), 0xffu);
  EXPECT_EQ(run("ldgs i, %r1\nret %r1\n"), ~uint64_t{0});
}

TEST_F(StateTest, StorageIsAligned) { EXPECT_EQ(run("ldls p, %r1\nret %r1\n") % 8, 0u); }

TEST_F(StateTest, AShorterStringEndsWhereItDoes) {
  run("sets \"abcdef\", %r1\nstls %r1, s\nsets \"xy\", %r1\nstls %r1, s\nret %r0\n");
  EXPECT_EQ(text_of(run("ldls s, %r1\nret %r1\n")), "xy");
}

// NULL among them, which is no fault there.
TEST_F(StateTest, PushedStringsAreCutAtStrsize) {
  run("setx 1, %r1\nsets \"0123456789abcdef\", %r2\npushtr string, %r0, %r2\nstgaa %r1, a\nflushts\n"
      "setx 2, %r1\npushtr string, %r0, %r0\nstgaa %r1, a\nret %r0\n");
  EXPECT_EQ(state_->fault().id, dif::Fault::none);
  EXPECT_EQ(run("setx 64, %r3\nsets \"0123456789abcdef-more\", %r2\npushtr string, %r3, %r2\nldgaa a, %r4\nret %r4\n"), 1u);
  EXPECT_EQ(run("sets \"\", %r2\npushtr string, %r0, %r2\nldgaa a, %r4\nret %r4\n"), 2u);
}

TEST_F(StateTest, StructuresTakeTheirSizeAndNoMore) {
  DynamicRoom room(limits_.dynvarsize);
  int32_t fit = 0;
  while (room.add({0, 32}, 1)) fit++;
  for (int32_t tid = 1; tid <= fit + 1; tid++) {
    EXPECT_EQ(variables_->dynamic_drops(), 0u) << tid;
    fire(tid);
    run("setx 32, %r1\nallocs %r1, %r2\nstts %r2, w\nret %r0\n");
  }
  EXPECT_EQ(variables_->dynamic_drops(), 1u);
}

TEST_F(StateTest, UnsetStructuresAreZeros) {
  EXPECT_EQ(run("ldts w, %r1\nldx [%r1], %r2\nret %r2\n"), 0u);
  EXPECT_EQ(state_->fault().id, dif::Fault::none);
}

TEST_F(StateTest, AllocatedScratchIsZero) {
  run("setx 8, %r1\nallocs %r1, %r2\nstx %r1, [%r2]\nret %r0\n");
  state_->begin_clause(1);
  EXPECT_EQ(run("setx 8, %r1\nallocs %r1, %r2\nldx [%r2], %r3\nret %r3\n"), 0u);
}

// What a firing has written to the process is not in its captured memory; that of the next one is true again.
TEST_F(StateTest, WhatIsWrittenConcernsItsOwnFiring) {
  static const char kBytes[] = "old";
  const CapturedMemory memory[] = {{0x1000, std::as_bytes(std::span(kBytes)), false}};
  firing_.memory = memory;
  host_.memory[0x1000] = std::string("was\0", 4);
  fire(1);
  run("sets \"new\", %r1\nsetx 0x1000, %r2\nsetx 4, %r3\npushtv %r1\npushtv %r2\npushtv %r3\ncall copyout, %r4\nret %r0\n");
  EXPECT_EQ(text_of(run("setx 0x1000, %r1\nret %r1\n")), "new");
  fire(1);
  EXPECT_EQ(text_of(run("setx 0x1000, %r1\nret %r1\n")), "old");
}

TEST_F(StateTest, ClauseLocalsLiveAsLongAsTheFiring) {
  run("setx 5, %r1\nstls %r1, c\nsets \"abc\", %r1\nstls %r1, s\nldls b, %r1\nstx %r1, [%r1]\nret %r0\n");
  state_->begin_clause(2);
  EXPECT_EQ(run("ldls c, %r1\nret %r1\n"), 5u);
  EXPECT_EQ(text_of(run("ldls s, %r1\nret %r1\n")), "abc");
  fire(1);
  EXPECT_EQ(run("ldls c, %r1\nret %r1\n"), 0u);
  EXPECT_EQ(text_of(run("ldls s, %r1\nret %r1\n")), "");
  EXPECT_EQ(run("ldls b, %r1\nldx [%r1], %r2\nret %r2\n"), 0u);
}

TEST_F(StateTest, AFaultEndsWithTheClause) {
  run("ldub [%r0], %r1\nret %r1\n");
  EXPECT_EQ(state_->fault().id, dif::Fault::badaddr);
  state_->begin_clause(2);
  EXPECT_EQ(state_->fault().id, dif::Fault::none);
  EXPECT_EQ(run("ldgs epid, %r1\nret %r1\n"), 2u);
}

TEST_F(StateTest, TheFirstFaultStays) {
  run("setx 0x30, %r1\nldub [%r1], %r1\nret %r1\n");
  EXPECT_EQ(state_->fault().value, 0x30u);
  EXPECT_EQ(state_->fault().pc, 1u);
}

TEST_F(StateTest, ScratchEndsWithTheClause) {
  for (int i = 0; i < 10; i++) {
    run("setx 200, %r1\nallocs %r1, %r2\nret %r2\n");
    EXPECT_EQ(state_->fault().id, dif::Fault::none);
    state_->begin_clause(1);
  }
  run("setx 200, %r1\nallocs %r1, %r2\nret %r2\n");
  run("setx 200, %r1\nallocs %r1, %r2\nret %r2\n");
  EXPECT_EQ(state_->fault().id, dif::Fault::noscratch);
}

TEST_F(StateTest, ScratchOfAnEarlierClauseLastsForTheFiring) {
  const uint64_t address = run("setx 8, %r1\nallocs %r1, %r2\nstx %r1, [%r2]\nret %r2\n");
  state_->begin_clause(1);
  EXPECT_NE(run("setx 8, %r1\nallocs %r1, %r2\nret %r2\n"), address);
  uint64_t word = 0;
  EXPECT_TRUE(state_->copy_bytes(address, std::as_writable_bytes(std::span(&word, 1))));
  EXPECT_EQ(word, 8u);
  fire(1);
  EXPECT_FALSE(state_->copy_bytes(address, std::as_writable_bytes(std::span(&word, 1))));
  EXPECT_EQ(state_->fault().id, dif::Fault::badaddr);
}

TEST_F(StateTest, CopiedStringsEndWithTheirNulOrAreCut) {
  const uint64_t value = run("sets \"abc\", %r1\nret %r1\n");
  std::string to(8, '?');
  EXPECT_TRUE(state_->copy_string(value, std::as_writable_bytes(std::span(to))));
  EXPECT_EQ(to, std::string("abc\0????", 8));
  std::string two(2, '?');
  EXPECT_TRUE(state_->copy_string(value, std::as_writable_bytes(std::span(two))));
  EXPECT_EQ(two, "ab");
}

TEST_F(StateTest, StringsInWordsEndWithZeros) {
  for (size_t length = 0; length <= 16; length++)
    for (size_t most : {size_t{16}, size_t{9}, size_t{3}, size_t{0}}) {
      const std::string text = std::string("abcdefghijklmnop").substr(0, length);
      const uint64_t value = run("sets \"" + text + "\", %r1\nret %r1\n");
      std::array<std::byte, 32> to;
      to.fill(std::byte{'?'});
      const std::string kept = text.substr(0, most);
      const size_t written = state_->copy_string_in_words(value, most, to.data());
      ASSERT_EQ(written, 8 * (kept.size() / 8) + 8) << length << " of at most " << most;
      std::string wanted = kept;
      wanted.resize(written);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(to.data()), written), wanted);
      EXPECT_EQ(to[written], std::byte{'?'});
    }
  std::array<std::byte, 8> none;
  EXPECT_EQ(state_->copy_string_in_words(0, 7, none.data()), 0u);
  EXPECT_EQ(state_->fault().id, dif::Fault::badaddr);
}

TEST_F(StateTest, NullIsNoString) {
  std::byte to[8];
  EXPECT_FALSE(state_->copy_string(0, to));
  EXPECT_EQ(state_->fault().id, dif::Fault::badaddr);
}

TEST_F(StateTest, NamesCanBeCopied) {
  firing_.function = "malloc";
  fire(1);
  EXPECT_EQ(text_of(run("ldgs probefunc, %r1\nret %r1\n")), "malloc");
}

TEST_F(StateTest, StrtokEndsWithTheFiring) {
  const std::string first =
      "sets \"a:b\", %r1\nsets \":\", %r2\npushtr string, %r0, %r1\npushtr string, %r0, %r2\ncall strtok, %r3\nret %r3\n";
  const std::string next = "sets \":\", %r2\npushtv %r0\npushtr string, %r0, %r2\ncall strtok, %r3\nret %r3\n";
  EXPECT_EQ(text_of(run(first)), "a");
  EXPECT_EQ(text_of(run(next)), "b");
  run(first);
  state_->begin_clause(1);
  EXPECT_EQ(text_of(run(next)), "b");
  run(first);
  fire(1);
  EXPECT_EQ(run(next), 0u);
}

TEST_F(StateTest, ADifoOfAnotherSessionFaults) {
  VariableState empty({}, limits_);
  MachineState state(empty, limits_);
  state.begin_firing(firing_, host_);
  run("ldgs g, %r1\nret %r1\n");
  last_->run(state);
  EXPECT_EQ(state.fault().id, dif::Fault::illop);
}

TEST_F(StateTest, CountsDrops) {
  StateLimits none = limits_;
  none.dynvarsize = 0;
  const dif::Difo table = dif::test::assembled(kTable);
  VariableState variables(table.variables, none);
  MachineState state(variables, none);
  state.begin_firing(firing_, host_);
  run("setx 5, %r1\nstts %r1, t\nret %r0\n");
  EXPECT_EQ(variables_->dynamic_drops(), 0u);
  last_->run(state);
  EXPECT_EQ(state.fault().id, dif::Fault::none);
  EXPECT_EQ(variables.dynamic_drops(), 1u);
}

}  // namespace

}  // namespace dvm::vm
