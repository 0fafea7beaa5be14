// What the verifier refuses and why, all errors of a DIFO at once; what the blocks of an admitted one are.

#include "dvm/vm/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/text.h"

namespace dvm::vm {

namespace {

using dif::Instruction;
using dif::Opcode;
using testing::ElementsAre;
using testing::HasSubstr;

dif::Difo assembled(std::string_view text) {
  auto difo = dif::assemble(text);
  EXPECT_TRUE(difo) << (difo ? "" : difo.error().message);
  return difo ? *std::move(difo) : dif::Difo{};
}

std::vector<std::string> errors_of(dif::Difo difo) {
  auto result = verify(std::move(difo));
  std::vector<std::string> out;
  if (const auto* errors = std::get_if<1>(&result))
    for (const VerifyError& error : *errors) out.push_back(std::to_string(error.pc) + ": " + error.message);
  return out;
}
std::vector<std::string> errors_of(std::string_view text) { return errors_of(assembled(text)); }

std::vector<std::string> errors_of_words(std::vector<Instruction> words) {
  dif::Difo difo;
  difo.text = std::move(words);
  return errors_of(std::move(difo));
}

constexpr Instruction kRet = Instruction::registers(Opcode::ret, 0, 0, 0);

TEST(Verify, AdmitsTheSimplest) { EXPECT_THAT(errors_of("ret %r0\n"), ElementsAre()); }

TEST(Verify, WantsInstructions) {
  EXPECT_THAT(errors_of_words({}), ElementsAre("0: no instructions"));
  EXPECT_THAT(errors_of_words(std::vector<Instruction>(dif::kMaxInstructions + 1, kRet)),
              ElementsAre("0: too many instructions"));
}

TEST(Verify, KnowsOpcodes) {
  EXPECT_THAT(errors_of_words({Instruction(0), Instruction(80u << 24), Instruction(0xffffffff), kRet}),
              ElementsAre("0: no opcode 0", "1: no opcode 80", "2: no opcode 255"));
}

TEST(Verify, KnowsRegisters) {
  EXPECT_THAT(errors_of_words({Instruction::registers(Opcode::add, 8, 0, 1), Instruction::registers(Opcode::add, 0, 255, 1),
                               Instruction::registers(Opcode::add, 0, 0, 9), kRet}),
              ElementsAre("0: no register %r8", "1: no register %r255", "2: no register %r9"));
}

TEST(Verify, KeepsRegisterZero) {
  EXPECT_THAT(errors_of("mov %r0, %r0\nsetx 1, %r0\ncall rand, %r0\nret %r0\n"),
              ElementsAre("0: %r0 cannot be written", "1: %r0 cannot be written", "2: %r0 cannot be written"));
}

TEST(Verify, WantsUnusedOperandsToBeZero) {
  EXPECT_THAT(errors_of_words({Instruction::registers(Opcode::mov, 0, 1, 1), Instruction::registers(Opcode::nop, 1, 0, 0), kRet}),
              ElementsAre("0: unused operand r2 is not 0", "1: unused operand r1 is not 0"));
}

TEST(Verify, WantsAReturn) { EXPECT_THAT(errors_of("ret %r0\nnop\n"), ElementsAre("1: the last instruction is not a ret")); }

TEST(Verify, WantsBranchesAhead) {
  EXPECT_THAT(errors_of("nop\nbe 0\nbe 1\nba 2\nbne 5\nret %r0\n"),
              ElementsAre("1: branch back to 0", "2: branch back to 1", "3: branch back to 2"));
  EXPECT_THAT(errors_of("be 2\nret %r0\n"), ElementsAre("0: branch to 2, outside the object"));
  EXPECT_THAT(errors_of("be 0\nret %r0\n"), ElementsAre("0: branch back to 0"));
}

TEST(Verify, WantsTablesToReachFarEnough) {
  dif::Difo difo = assembled("setx 1, %r1\nsets \"a\", %r1\nret %r0\n");
  difo.integers.clear();
  difo.strings = "a";
  EXPECT_THAT(errors_of(std::move(difo)),
              ElementsAre("0: the string table does not end with a NUL", "0: no integer 0 in a table of 0"));
  difo = assembled("sets \"\", %r1\nret %r0\n");
  difo.strings.clear();
  EXPECT_THAT(errors_of(std::move(difo)), ElementsAre("0: no string at 0 in a table of 0 bytes"));
}

TEST(Verify, WantsTranslatorsToBeResolved) {
  EXPECT_THAT(errors_of_words({Instruction::indexed(Opcode::xlate, 0, 1), kRet}),
              ElementsAre("0: a translator that the compiler should have resolved"));
}

// Whichever check finds it.
TEST(Verify, TellsErrorsInTheOrderOfTheText) {
  EXPECT_THAT(errors_of_words({Instruction::indexed(Opcode::setx, 0, 1), Instruction::registers(Opcode::mov, 9, 0, 1), kRet}),
              ElementsAre("0: no integer 0 in a table of 0", "1: no register %r9"));
}

TEST(Verify, KnowsWhatCanBePushed) {
  EXPECT_THAT(errors_of_words({Instruction::registers(Opcode::pushtr, 3, 0, 0), Instruction::registers(Opcode::pushtr, 0, 0, 0),
                               Instruction::registers(Opcode::pushtv, 0, 1, 0), kRet}),
              ElementsAre("0: no type 3 to push", "1: pushtr pushes a string or bytes", "2: unused operand r2 is not 0"));
}

TEST(Verify, WantsSubroutinesThatExist) {
  EXPECT_THAT(errors_of_words({Instruction::indexed(Opcode::call, dif::kSubroutineCount, 1), kRet}),
              ElementsAre("0: no subroutine " + std::to_string(dif::kSubroutineCount)));
  EXPECT_THAT(errors_of("pushtv %r0\ncall mutex_owned, %r1\nret %r0\n"),
              ElementsAre("1: subroutine mutex_owned: it inspects a lock of the Solaris kernel"));
}

TEST(Verify, WantsVariablesOfTheRightScopeAndKind) {
  const std::string table = "g 500 scl glb r/w int64\nt 501 scl tls r/w int64\na 502 arr glb r/w int64\n";
  EXPECT_THAT(errors_of(table + "ldgs DT_VAR(1280), %r1\nldts DT_VAR(1281), %r1\nldgaa DT_VAR(1282), %r1\nret %r0\n"),
              ElementsAre());
  EXPECT_THAT(
      errors_of(table + "ldgs DT_VAR(1281), %r1\nldls DT_VAR(1280), %r1\nldgaa DT_VAR(1280), %r1\nstgs %r0, DT_VAR(1282)\n"
                        "ldtaa DT_VAR(1282), %r1\nret %r0\n"),
      ElementsAre(HasSubstr("0: no global scalar with id 0x501"), HasSubstr("1: no clause-local scalar with id 0x500"),
                  HasSubstr("2: no global associative array with id 0x500"), HasSubstr("3: no global scalar with id 0x502"),
                  HasSubstr("4: no thread-local associative array with id 0x502")));
}

TEST(Verify, WantsVariablesOfASaneSize) {
  EXPECT_THAT(errors_of("b 500 scl glb r bytes[0]\nret %r0\n"), ElementsAre("0: variable b has 0 bytes"));
  EXPECT_THAT(errors_of("b 500 scl glb r bytes[99999999]\nret %r0\n"), ElementsAre("0: variable b has 99999999 bytes"));
  EXPECT_THAT(errors_of("b 500 scl glb r bytes[16777216]\nret %r0\n"), ElementsAre());
  EXPECT_THAT(errors_of("b 500 scl glb r bytes[16777217]\nret %r0\n"), ElementsAre("0: variable b has 16777217 bytes"));
}

TEST(Verify, WantsBuiltInsThatExist) {
  EXPECT_THAT(
      errors_of("ldgs DT_VAR(1000), %r1\nldgs curthread, %r1\nldgs args, %r1\nldga DT_VAR(255), %r0, %r1\nldts DT_VAR(262), %r1\n"
                "ret %r0\n"),
      ElementsAre("0: no built-in variable 0x3e8", "1: dvm does not have the variable curthread", "2: args is an array",
                  "3: no built-in variable 0xff", "4: variable 0x106 cannot be accessed so"));
}

TEST(Verify, WantsRegistersWrittenBeforeTheyAreRead) {
  EXPECT_THAT(errors_of("add %r1, %r2, %r3\nret %r3\n"),
              ElementsAre("0: %r1 is read but not written on every path", "0: %r2 is read but not written on every path"));
  EXPECT_THAT(errors_of("tst %r0\nbe skip\nsetx 1, %r1\nskip: ret %r1\n"),
              ElementsAre("3: %r1 is read but not written on every path"));
  EXPECT_THAT(errors_of("tst %r0\nbe else\nsetx 1, %r1\nba end\nelse: nop\nend: ret %r1\n"),
              ElementsAre("5: %r1 is read but not written on every path"));
  EXPECT_THAT(errors_of("tst %r0\nbe else\nsetx 1, %r1\nba end\nelse: setx 2, %r1\nend: ret %r1\n"), ElementsAre());
}

TEST(Verify, CopysReadsItsDestination) {
  EXPECT_THAT(errors_of("copys %r0, %r0, %r1\nret %r0\n"), ElementsAre("0: %r1 is read but not written on every path"));
}

TEST(Verify, LooksAtNothingThatCannotBeReached) {
  EXPECT_THAT(errors_of("ba end\nadd %r1, %r2, %r3\npopts\nend: ret %r0\n"), ElementsAre());
}

TEST(Verify, FollowsTheTupleStack) {
  EXPECT_THAT(errors_of("popts\nret %r0\n"), ElementsAre("0: tuple stack underflow"));
  std::string deep;
  for (unsigned i = 0; i <= dif::kTupleDepth; i++) deep += "pushtv %r0\n";
  EXPECT_THAT(errors_of(deep + "ret %r0\n"), ElementsAre("24: tuple stack overflow"));
  EXPECT_THAT(errors_of("tst %r0\nbe skip\npushtv %r0\nskip: ret %r0\n"), ElementsAre("3: the tuple stack is 0 or 1 deep here"));
  EXPECT_THAT(errors_of("tst %r0\nbe else\npushtv %r0\nba end\nelse: nop\nend: ret %r0\n"),
              ElementsAre("5: the tuple stack is 1 or 0 deep here"));
  EXPECT_THAT(errors_of("pushtv %r0\npopts\npopts\nret %r0\n"), ElementsAre("2: tuple stack underflow"));
}

TEST(Verify, CountsArguments) {
  EXPECT_THAT(errors_of("call strlen, %r1\nret %r0\n"), ElementsAre("0: strlen finds 0 arguments on the tuple stack"));
  EXPECT_THAT(
      errors_of("pushtv %r0\npushtv %r0\ncall substr, %r1\npushtv %r0\npushtv %r0\npushtv %r0\ncall substr, %r1\nret %r0\n"),
      ElementsAre());
  EXPECT_THAT(
      errors_of("pushtv %r0\ncall substr, %r1\npushtv %r0\npushtv %r0\npushtv %r0\npushtv %r0\ncall substr, %r1\nret %r0\n"),
      ElementsAre("1: substr finds 1 arguments on the tuple stack", "6: substr finds 4 arguments on the tuple stack"));
}

TEST(Verify, FindsBlocks) {
  auto result = verify(assembled("tst %r0\nbe else\nnop\nba end\nelse: nop\nend: ret %r0\n"));
  const auto& blocks = std::get<VerifiedDifo>(result).blocks();
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  for (const BasicBlock& block : blocks) ranges.emplace_back(block.begin, block.end);
  using Range = std::pair<uint32_t, uint32_t>;
  EXPECT_THAT(ranges, ElementsAre(Range{0, 2}, Range{2, 4}, Range{4, 5}, Range{5, 6}));
}

}  // namespace

}  // namespace dvm::vm
