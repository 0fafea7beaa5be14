// The needs of whole clauses, and of DIF made of arbitrary bytes.

#include <gtest/gtest.h>

#include "tests/unit/instrument/capture_dif.h"

namespace dvm::runtime {
namespace {

using namespace capture_dif;

TEST(Capture, RegistersOfAllClauses) {
  CaptureNeeds a, b;
  a.registers = 1, b.registers = 2;
  a |= b;
  EXPECT_EQ(a.registers, 3u);
}

TEST(Capture, ClausesNeedTheCpuForWhatTheyKeep) {
  dif::EcbDesc clause;
  EXPECT_TRUE(needs_of(clause, kStrsize).cpu);  // the default action
  clause.actions = {action_of({ret(0)}, dif::Action::expression)};
  EXPECT_FALSE(needs_of(clause, kStrsize).cpu);
  clause.actions = {action_of({ret(0)}, dif::Action::agg_sum)};
  EXPECT_TRUE(needs_of(clause, kStrsize).cpu);
  clause.actions = {action_of({ret(0)}, dif::Action::trace)};
  EXPECT_TRUE(needs_of(clause, kStrsize).cpu);
}

TEST(Capture, PredicateAndActionsTogether) {
  dif::EcbDesc clause;
  clause.predicate.emplace();
  clause.predicate->difo.text = {get(BuiltIn::arg0, 1), ret(1)};
  clause.actions = {action_of({get(BuiltIn::arg5, 1), ret(1)}), action_of({get(BuiltIn::timestamp, 1), ret(1)})};
  const CaptureNeeds all = needs_of(clause, kStrsize);
  EXPECT_EQ(all.args, 0b100001);
  EXPECT_TRUE(all.time);
  EXPECT_FALSE(all.cpu);
}

// this->p = arg0; copyinstr(this->p)
TEST(Capture, ClauseLocalVariablesOfEightBytesCarryAnAddress) {
  const auto through_local = [](uint32_t size) {
    dif::Variable variable;
    variable.id = kLocal;
    variable.scope = dif::Scope::clause;
    variable.type.kind = dif::TypeKind::integer;
    variable.type.size = size;
    dif::EcbDesc clause;
    clause.actions = {
        action_of({get(BuiltIn::arg0, 1), Instruction::indexed(Opcode::stls, kLocal, 1), ret(1)}),
        action_of({Instruction::indexed(Opcode::ldls, kLocal, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)})};
    for (dif::ActDesc& action : clause.actions) action.args[0].difo.variables = {variable};
    return needs_of(clause, kStrsize).memory;
  };
  EXPECT_EQ(through_local(8), (std::vector<MemoryNeed>{{0, true, 0, kStrsize + 1}}));
  EXPECT_TRUE(through_local(4).empty());
}

// self->p = arg0 in one clause; copyinstr(self->p) in the next
TEST(Capture, ThreadLocalVariablesCarryAnAddressToTheNextClause) {
  dif::Variable variable;
  variable.id = kLocal;
  variable.scope = dif::Scope::thread;
  variable.type.kind = dif::TypeKind::integer;
  variable.type.size = 8;
  dif::EcbDesc stores, uses;
  stores.actions = {action_of({get(BuiltIn::arg0, 1), Instruction::indexed(Opcode::stts, kLocal, 1), ret(1)})};
  stores.actions[0].args[0].difo.variables = {variable};
  uses.actions = {action_of({Instruction::indexed(Opcode::ldts, kLocal, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)})};
  known::Locals variables;
  EXPECT_TRUE(needs_of(stores, kStrsize, variables).memory.empty());
  EXPECT_EQ(needs_of(uses, kStrsize, variables).memory, (std::vector<MemoryNeed>{{0, true, 0, kStrsize + 1}}));
  EXPECT_TRUE(needs_of(uses, kStrsize).memory.empty());
}

// copyinstr(self->p + 8), with self->p of another firing
TEST(Capture, AddressesInVariablesOfOtherFiringsAreLateOrKept) {
  dif::Variable variable;
  variable.id = kLocal;
  variable.name = "p";
  variable.scope = dif::Scope::thread;
  variable.type.kind = dif::TypeKind::integer;
  variable.type.size = 8;
  dif::EcbDesc uses;
  uses.actions = {action_of({Instruction::indexed(Opcode::ldts, kLocal, 1), set(0, 2), op(Opcode::add, 1, 2, 1), push(1),
                             call(Subroutine::copyinstr, 1), ret(1)})};
  uses.actions[0].args[0].difo.variables = {variable};
  uses.actions[0].args[0].difo.integers = {8};
  known::Locals nothing, kept = {{known::kOfThread + kLocal, known::KnownValue::of(Word::of_kept(2))}};
  LateVariables late;
  EXPECT_TRUE(needs_of(uses, kStrsize, nothing, &late).memory.empty());
  EXPECT_EQ(late, LateVariables{"self->p"});
  late.clear();
  EXPECT_EQ(needs_of(uses, kStrsize, kept, &late).memory, (std::vector<MemoryNeed>{{Word::of_kept(2), true, 8, kStrsize + 1}}));
  EXPECT_TRUE(late.empty());
}

dif::EcbDesc through_local(const dif::DataType& type, std::vector<Instruction> rest) {
  dif::Variable variable;
  variable.id = kLocal;
  variable.scope = dif::Scope::clause;
  variable.type = type;
  dif::EcbDesc clause;
  clause.actions = {action_of({get(BuiltIn::arg0, 1), push(1), set(0, 1), push(1), call(Subroutine::copyin, 1),
                               Instruction::indexed(Opcode::stls, kLocal, 1), ret(1)}),
                    action_of(std::move(rest))};
  for (dif::ActDesc& action : clause.actions) {
    action.args[0].difo.variables = {variable};
    action.args[0].difo.integers = {16, 8};
  }
  return clause;
}

// this->s = (struct s *)copyin(arg0, 16), or *(struct s *)copyin(arg0, 16); copyinstr(this->s->name)
TEST(Capture, ClauseLocalVariablesCarryCopies) {
  const std::vector<Instruction> use = {Instruction::indexed(Opcode::ldls, kLocal, 1),
                                        set(1, 2),
                                        op(Opcode::add, 1, 2, 1),
                                        op(Opcode::ldx, 1, 0, 1),
                                        push(1),
                                        call(Subroutine::copyinstr, 1),
                                        ret(1)};
  const std::vector<MemoryNeed> both = {{0, false, 0, 16}, {Word(0).load(8), true, 0, kStrsize + 1}};
  dif::DataType type;
  type.kind = dif::TypeKind::integer;
  type.size = 8;
  EXPECT_EQ(needs_of(through_local(type, use), kStrsize).memory, both);
  type.kind = dif::TypeKind::bytes;
  type.size = 16;
  EXPECT_EQ(needs_of(through_local(type, use), kStrsize).memory, both);
  type.kind = dif::TypeKind::string;
  EXPECT_EQ(needs_of(through_local(type, use), kStrsize).memory.size(), 1u);
}

// What a clause-local variable is after actions that end in several ways, or where these meet.
TEST(Capture, ClauseLocalVariablesThatDependOnTheWayAreUnknown) {
  const Instruction keep = Instruction::indexed(Opcode::stls, kLocal, 1), use = Instruction::indexed(Opcode::ldls, kLocal, 1);
  const auto found = [](std::vector<std::vector<Instruction>> texts) {
    dif::Variable variable;
    variable.id = kLocal;
    variable.scope = dif::Scope::clause;
    variable.type.kind = dif::TypeKind::integer;
    variable.type.size = 8;
    dif::EcbDesc clause;
    for (std::vector<Instruction>& text : texts) clause.actions.push_back(action_of(std::move(text)));
    for (dif::ActDesc& action : clause.actions) action.args[0].difo.variables = {variable};
    return needs_of(clause, kStrsize).memory;
  };
  const std::vector<Instruction> copy = {use, push(1), call(Subroutine::copyinstr, 1), ret(1)};
  const auto two_ways = [&](BuiltIn other, Instruction behind) {
    return std::vector<Instruction>{get(BuiltIn::arg0, 1),
                                    keep,
                                    op(Opcode::tst, 1, 0, 0),
                                    Instruction::branch(Opcode::be, 5),
                                    behind,
                                    get(other, 1),
                                    keep,
                                    ret(1)};
  };
  for (const Instruction behind : {ret(1), Instruction::branch(Opcode::ba, 7)}) {
    EXPECT_EQ(found({two_ways(BuiltIn::arg0, behind), copy}).size(), 1u);
    EXPECT_TRUE(found({two_ways(BuiltIn::arg1, behind), copy}).empty());
  }
}

// this->s = *(struct s *)arg0; strlen((string)&this->s) is asked of the copy.
// this->file = &((entry_t *)0)[arg4]; this->node = this->file ? this->file : 0; the path of the node. An entry has 8 bytes, and
// the pointers are the descriptor plus 1, as in curthread.d.
TEST(Capture, VariablesCarryAnOpenFile) {
  const auto file_of = [](uint64_t entry_bytes) {
    dif::Variable pointer;
    pointer.id = kLocal;
    pointer.scope = dif::Scope::clause;
    pointer.type.kind = dif::TypeKind::integer;
    pointer.type.size = 8;
    const Instruction keep = Instruction::indexed(Opcode::stls, kLocal, 1), use = Instruction::indexed(Opcode::ldls, kLocal, 1);
    const unsigned path = static_cast<unsigned>(BuiltIn::file_text);
    dif::EcbDesc clause;
    clause.actions = {
        action_of({get(BuiltIn::tid, 1), op(Opcode::and_, 1, 0, 1), get(BuiltIn::arg4, 2), set(0, 3), op(Opcode::sll, 2, 3, 2),
                   op(Opcode::add, 1, 2, 1), set(1, 3), op(Opcode::udiv, 1, 3, 1), set(2, 3), op(Opcode::add, 1, 3, 1), keep,
                   ret(0)}),
        action_of({use, op(Opcode::tst, 1, 0, 0), op(Opcode::mov, 0, 0, 2), Instruction::branch(Opcode::be, 5),
                   op(Opcode::mov, 1, 0, 2), op(Opcode::mov, 2, 0, 1), keep, ret(0)}),
        action_of({use, set(2, 3), op(Opcode::sub, 1, 3, 1), set(3, 3), op(Opcode::sll, 1, 3, 1), op(Opcode::sra, 1, 3, 1),
                   set(4, 3), op(Opcode::mul, 1, 3, 1), op(Opcode::ldga, path, 1, 2), ret(2)})};
    for (dif::ActDesc& action : clause.actions)
      action.args[0].difo.variables = {pointer}, action.args[0].difo.integers = {3, entry_bytes, 1, 32, 8};
    return needs_of(clause, kStrsize);
  };
  EXPECT_EQ(file_of(8).memory, std::vector{MemoryNeed::of_file(4, 0)});
  EXPECT_FALSE(file_of(8).any_file);
  EXPECT_TRUE(file_of(16).memory.empty());
  EXPECT_TRUE(file_of(16).any_file);
}

TEST(Capture, ACopyInAVariableIsNoMemoryOfTheProcess) {
  dif::DataType type;
  type.kind = dif::TypeKind::bytes;
  type.size = 16;
  dif::EcbDesc clause =
      through_local(type, {Instruction::indexed(Opcode::ldls, kLocal, 1), push(1), call(Subroutine::strlen, 1), ret(1)});
  clause.actions[0].args[0].difo.text = {get(BuiltIn::arg0, 1), Instruction::indexed(Opcode::stls, kLocal, 1), ret(1)};
  EXPECT_EQ(needs_of(clause, kStrsize).memory, (std::vector<MemoryNeed>{{0, false, 0, 16}}));
}

class Random {
 public:
  uint32_t operator()() { return (state_ = state_ * 1664525 + 1013904223) >> 8; }
  unsigned below(unsigned end) { return (*this)() % end; }

 private:
  uint32_t state_ = 12345;
};

// DIF from anywhere: every word of text, with empty tables, in every place.
TEST(Capture, AnyBytesAreRead) {
  Random random;
  for (int round = 0; round < 2000; round++) {
    std::vector<Instruction> text;
    for (int i = 0; i < 40; i++) {
      const uint32_t opcode = random.below(82);
      text.emplace_back(opcode << 24 | (random() & (round % 2 ? 0x070707 : 0xffffff)));
    }
    const CaptureNeeds found = needs(std::move(text), {1, 2, 1u << 31});
    EXPECT_LE(found.memory.size(), 16u);
    EXPECT_EQ(found.args & ~(0x3ff | kGoroutineBit), 0);
  }
}

// Chains of copies and loads, at distances up to the ends of the address space.
TEST(Capture, AnyChainIsKnownFromItsRecordAlone) {
  Random random;
  size_t through_two = 0, by_word = 0;
  for (int round = 0; round < 20'000; round++) {
    std::vector<Instruction> text = {get(BuiltIn::arg0, 1), get(BuiltIn::arg1, 2), set(1, 3)};
    for (int i = 0; i < 40; i++) {
      const unsigned a = 1 + random.below(3), b = 1 + random.below(3), to = 1 + random.below(3);
      const Instruction choices[] = {set(random.below(6), to),
                                     op(Opcode::add, a, b, to),
                                     op(Opcode::sub, a, b, to),
                                     op(Opcode::uldx, a, 0, to),
                                     op(Opcode::ldx, a, 0, to),
                                     push(a),
                                     push(b),
                                     call(Subroutine::copyin, to),
                                     call(Subroutine::copyinstr, to),
                                     Instruction::branch(Opcode::be, static_cast<unsigned>(text.size()) + 1 + random.below(4))};
      text.push_back(choices[random.below(std::size(choices))]);
    }
    text.push_back(ret(1));
    const auto found = memory(std::move(text), {8, 16, 4096, uint64_t{1} << 63, ~uint64_t{0} >> 1, ~uint64_t{0}});
    EXPECT_TRUE(is_closed(found));
    for (const MemoryNeed& need : found) through_two += need.base.depth == 2, by_word += need.sized_by.has_value();
  }
  EXPECT_GT(through_two, 100u);
  EXPECT_GT(by_word, 100u);
}

}  // namespace
}  // namespace dvm::runtime
