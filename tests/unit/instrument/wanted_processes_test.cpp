// In which processes predicates can be true.
#include "runtime/instrument/wanted_processes.h"

#include <gtest/gtest.h>

#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn;
using dif::Difo;
using dif::Instruction;
using dif::Opcode;

using Pids = std::vector<int32_t>;

Pids wanted_pids(const Difo& difo) { return wanted_processes(difo).pids; }

Instruction get(BuiltIn variable, unsigned rd) { return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(variable), rd); }
Instruction set(unsigned integer, unsigned rd) { return Instruction::indexed(Opcode::setx, integer, rd); }
Instruction op(Opcode opcode, unsigned r1, unsigned r2, unsigned rd) { return Instruction::registers(opcode, r1, r2, rd); }
Instruction cmp(unsigned r1, unsigned r2) { return op(Opcode::cmp, r1, r2, 0); }
Instruction jump(Opcode opcode, unsigned label) { return Instruction::branch(opcode, label); }
Instruction ret(unsigned rd) { return op(Opcode::ret, 0, 0, rd); }

Difo difo(std::vector<Instruction> text) {
  Difo difo;
  difo.text = std::move(text);
  difo.integers = {7, 8, 1};
  return difo;
}

// r1 becomes 1 in process 7 and 0 in others, in as few instructions as the compiler takes.
Difo in_one_process(Opcode if_not) {
  return difo({get(BuiltIn::pid, 1), set(0, 2), cmp(1, 2), set(2, 1), jump(if_not, 6), op(Opcode::mov, 0, 0, 1), ret(1)});
}

TEST(WantedProcesses, AreTheOneThatIsComparedWith) {
  EXPECT_EQ(wanted_pids(in_one_process(Opcode::be)), Pids({7}));
  EXPECT_EQ(wanted_pids(difo({set(0, 2), get(BuiltIn::pid, 1), cmp(2, 1), jump(Opcode::bne, 5), ret(2), ret(0)})), Pids({7}));
}

TEST(WantedProcesses, AreAnyWhereTheComparisonIsAnother) {
  EXPECT_EQ(wanted_pids(in_one_process(Opcode::bne)), Pids());
  EXPECT_EQ(wanted_pids(in_one_process(Opcode::bg)), Pids());
  EXPECT_EQ(wanted_pids(difo({get(BuiltIn::pid, 1), ret(1)})), Pids());
  EXPECT_EQ(wanted_pids(difo({get(BuiltIn::tid, 1), set(0, 2), cmp(1, 2), jump(Opcode::bne, 5), ret(2), ret(0)})), Pids());
}

TEST(WantedProcesses, AreAllOfAnAlternative) {
  EXPECT_EQ(wanted_pids(difo({get(BuiltIn::pid, 1), set(0, 2), cmp(1, 2), jump(Opcode::be, 7), set(1, 2), cmp(1, 2),
                              jump(Opcode::bne, 8), ret(2), ret(0)})),
            Pids({7, 8}));
}

TEST(WantedProcesses, AreStillThoseIfMoreIsAsked) {
  EXPECT_EQ(wanted_pids(difo({get(BuiltIn::pid, 1), set(0, 2), cmp(1, 2), jump(Opcode::bne, 8), get(BuiltIn::arg0, 1),
                              op(Opcode::ldx, 1, 0, 1), op(Opcode::tst, 1, 0, 0), ret(1), ret(0)})),
            Pids({7}));
}

// The fault of another process would not be told.
TEST(WantedProcesses, AreAnyIfSomethingBeforeTheComparisonCanFault) {
  EXPECT_EQ(wanted_pids(difo({get(BuiltIn::arg0, 3), op(Opcode::ldx, 3, 0, 3), get(BuiltIn::pid, 1), set(0, 2), cmp(1, 2),
                              jump(Opcode::bne, 7), ret(2), ret(0)})),
            Pids());
}

TEST(WantedProcesses, AreAnyForBytesThatAreNoProgram) {
  EXPECT_EQ(wanted_pids(difo({})), Pids());
  EXPECT_EQ(wanted_pids(difo({Instruction(0xffffffff)})), Pids());
  EXPECT_EQ(wanted_pids(difo({jump(Opcode::ba, 0), ret(0)})), Pids());
  EXPECT_EQ(wanted_pids(difo({get(BuiltIn::pid, 200), set(77, 2), cmp(1, 2), jump(Opcode::bne, 99)})), Pids());
}

// /execname == "top"/ and, in the second, or pid 7.
TEST(WantedProcesses, CanBeGivenByName) {
  const auto text = [](unsigned at, unsigned rd) { return Instruction::indexed(Opcode::sets, at, rd); };
  const Instruction compare = op(Opcode::scmp, 1, 2, 0);
  Difo by_name = difo({get(BuiltIn::execname, 1), text(1, 2), compare, jump(Opcode::bne, 5), ret(2), ret(0)});
  constexpr char kStrings[] = "\0top\0a name of more than 15 characters";
  by_name.strings = std::string(kStrings, sizeof kStrings);
  EXPECT_EQ(wanted_processes(by_name), (WantedProcesses{{}, {"top"}}));
  by_name.text[1] = text(5, 2);
  EXPECT_TRUE(wanted_processes(by_name).is_any());
  by_name.text = {get(BuiltIn::execname, 1), text(1, 2), compare,   jump(Opcode::be, 7),
                  get(BuiltIn::pid, 1),      set(0, 3),  cmp(1, 3), ret(2)};
  by_name.text[6] = cmp(1, 3);
  by_name.text.insert(by_name.text.begin() + 7, jump(Opcode::bne, 9));
  by_name.text[3] = jump(Opcode::be, 8);
  by_name.text.push_back(ret(0));
  EXPECT_EQ(wanted_processes(by_name), (WantedProcesses{{7}, {"top"}}));
}

TEST(WantedProcesses, OfSeveralClausesAreThoseOfAll) {
  dif::EcbDesc one, all;
  one.predicate = dif::PredDesc{in_one_process(Opcode::be)};
  const dif::EcbDesc* same[] = {&one, &one};
  const dif::EcbDesc* both[] = {&one, &all};
  EXPECT_EQ(wanted_processes(same).pids, Pids({7}));
  EXPECT_TRUE(wanted_processes(both).is_any());
}

TEST(WantedProcesses, OfAClauseThatIsNeverRunAreNone) {
  dif::EcbDesc one, never;
  one.predicate = dif::PredDesc{in_one_process(Opcode::be)};
  never.predicate = dif::PredDesc{difo({ret(0)})};
  const dif::EcbDesc* both[] = {&never, &one};
  const dif::EcbDesc* neither[] = {&never};
  EXPECT_EQ(wanted_processes(both).pids, Pids({7}));
  EXPECT_TRUE(wanted_processes(neither).is_any());
}

}  // namespace
}  // namespace dvm::runtime
