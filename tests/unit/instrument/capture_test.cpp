// The capture analysis: registers and memory that DIF needs at the firing.

#include <gtest/gtest.h>

#include "tests/unit/instrument/capture_dif.h"

namespace dvm::runtime {
namespace {

using namespace capture_dif;

TEST(Capture, NothingIsNeededByWhatReadsNothing) { EXPECT_EQ(needs({set(0, 1), ret(1)}, {1}), CaptureNeeds{}); }

TEST(Capture, EachVariableNeedsItsOwn) {
  const auto of = [](BuiltIn variable) { return needs({get(variable, 1), ret(1)}); };
  EXPECT_EQ(of(BuiltIn::arg0).args, 1);
  EXPECT_EQ(of(BuiltIn::arg9).args, 1 << 9);
  EXPECT_EQ(of(BuiltIn::goid).args, kGoroutineBit);
  EXPECT_TRUE(of(BuiltIn::timestamp).time);
  EXPECT_TRUE(of(BuiltIn::walltimestamp).time);
  EXPECT_TRUE(of(BuiltIn::vtimestamp).vtime);
  EXPECT_TRUE(of(BuiltIn::cpu).cpu);
  EXPECT_TRUE(of(BuiltIn::execname).comm);
  EXPECT_TRUE(of(BuiltIn::execargs).command);
  EXPECT_TRUE(of(BuiltIn::cwd).directory);
  EXPECT_TRUE(of(BuiltIn::vtimestamp).thread);
  EXPECT_TRUE(of(BuiltIn::chip).cpu);
  for (const BuiltIn process :
       {BuiltIn::pid, BuiltIn::tid, BuiltIn::ppid, BuiltIn::uid, BuiltIn::gid, BuiltIn::cwd, BuiltIn::root})
    EXPECT_TRUE(of(process).thread);
  const auto element = [](BuiltIn array) { return needs({op(Opcode::ldga, static_cast<unsigned>(array), 0, 1), ret(1)}); };
  EXPECT_TRUE(element(BuiltIn::proc_number).time);
  EXPECT_TRUE(element(BuiltIn::proc_text).time);
  EXPECT_EQ(of(BuiltIn::probefunc), CaptureNeeds{});
}

TEST(Capture, DescentNeedsTheParent) {
  const auto code = [](dif::Subroutine subroutine) { return needs({push(0), call(subroutine, 1), ret(1)}); };
  EXPECT_TRUE(code(dif::Subroutine::progenyof).parent);
  EXPECT_TRUE(code(dif::Subroutine::progenyof).ancestors);
  EXPECT_TRUE(code(dif::Subroutine::progenyof).thread);
  EXPECT_FALSE(code(dif::Subroutine::rand).parent);
}

TEST(Capture, ThreadLocalVariablesNeedTheThread) {
  EXPECT_TRUE(needs({Instruction::indexed(Opcode::ldts, kLocal, 1), ret(1)}).thread);
  EXPECT_TRUE(needs({Instruction::indexed(Opcode::stts, kLocal, 0), ret(0)}).thread);
  EXPECT_TRUE(needs({push(0), Instruction::indexed(Opcode::ldtaa, kLocal, 1), ret(1)}).thread);
  EXPECT_TRUE(needs({push(0), Instruction::indexed(Opcode::sttaa, kLocal, 0), ret(0)}).thread);
  EXPECT_FALSE(needs({Instruction::indexed(Opcode::stgs, kLocal, 0), ret(0)}).thread);
}

// 8 * (int)value, as fds[value] has it.
constexpr auto kFileText = static_cast<unsigned>(BuiltIn::file_text);
CaptureNeeds of_file(BuiltIn variable, std::vector<uint64_t> integers = {32, 8, 1}) {
  return needs({get(variable, 1), set(2, 2), op(Opcode::add, 1, 2, 1), set(0, 2), op(Opcode::sll, 1, 2, 1),
                op(Opcode::sra, 1, 2, 1), set(1, 2), op(Opcode::mul, 1, 2, 1), op(Opcode::ldga, kFileText, 1, 2), ret(2)},
               std::move(integers));
}

TEST(Capture, OpenFilesOfDescriptorsThatAreForeseen) {
  EXPECT_EQ(of_file(BuiltIn::arg1).memory, std::vector{MemoryNeed::of_file(1, 1)});
  EXPECT_FALSE(of_file(BuiltIn::arg1).any_file);
  EXPECT_TRUE(of_file(BuiltIn::arg1).thread);
  const CaptureNeeds constant = needs({set(0, 1), op(Opcode::ldga, kFileText, 1, 2), ret(2)}, {8 * 3 + 2});
  EXPECT_EQ(constant.memory, std::vector{MemoryNeed::of_file(Word::zero(), 3)});
}

TEST(Capture, OtherDescriptorsAreAnyFile) {
  for (const CaptureNeeds& other :
       {of_file(BuiltIn::tid), of_file(BuiltIn::arg1, {16, 8, 1}), of_file(BuiltIn::arg1, {32, 16, 1})}) {
    EXPECT_TRUE(other.memory.empty());
    EXPECT_TRUE(other.any_file);
  }
}

TEST(Capture, AFileIsNoMemoryOfTheProcess) {
  CaptureNeeds both;
  both.add({0, false, 0, 8, {}});
  both.add(MemoryNeed::of_file(0, 0));
  both.add(MemoryNeed::of_file(0, 0));
  EXPECT_EQ(both.memory.size(), 2u);
  EXPECT_TRUE(both.has_file());
}

TEST(Capture, ElementsOfArgs) {
  const auto element = [](std::vector<uint64_t> integers) {
    return needs({set(0, 1), op(Opcode::ldga, static_cast<unsigned>(BuiltIn::args), 1, 2), ret(2)}, std::move(integers)).args;
  };
  EXPECT_EQ(element({3}), 1 << 3);
  EXPECT_EQ(element({9}), 1 << 9);
  EXPECT_EQ(element({10}), 0x3ff);  // out of range: whatever the machine makes of it
  EXPECT_EQ(element({}), 0x3ff);    // unknown
}

TEST(Capture, RegistersByTheirNumber) {
  const auto of = [](std::vector<uint64_t> integers) {
    return needs({set(0, 1), op(Opcode::ldga, static_cast<unsigned>(BuiltIn::uregs), 1, 2), ret(2)}, std::move(integers))
        .registers;
  };
  EXPECT_EQ(of({36}), 1u << 16);  // R_RIP
  EXPECT_EQ(of({14}), 1u << 16);  // R_PC
  EXPECT_EQ(of({0}), 0u);         // no probe sees it
  EXPECT_EQ(of({99}), 0u);
  EXPECT_EQ(of({}), (1u << 21) - 1);  // unknown: all of them
}

TEST(Capture, StringsOfAnArgument) {
  EXPECT_EQ(memory({get(BuiltIn::arg2, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)}),
            (std::vector<MemoryNeed>{{2, true, 0, kStrsize + 1}}));
  EXPECT_EQ(memory({get(BuiltIn::arg0, 1), push(1), set(0, 2), push(2), call(Subroutine::copyinstr, 1), ret(1)}, {10}),
            (std::vector<MemoryNeed>{{0, true, 0, 10}}));  // a length counts the NUL
  EXPECT_EQ(memory({get(BuiltIn::arg0, 1), push(1), set(0, 2), push(2), call(Subroutine::copyinstr, 1), ret(1)}, {1}),
            (std::vector<MemoryNeed>{{0, true, 0, 2}}));
  EXPECT_EQ(memory({get(BuiltIn::arg0, 1), push(1), push(1), op(Opcode::popts, 0, 0, 0), call(Subroutine::copyinstr, 1), ret(1)}),
            (std::vector<MemoryNeed>{{0, true, 0, kStrsize + 1}}));
  EXPECT_EQ(memory({get(BuiltIn::arg0, 1), push(1), set(0, 2), push(2), call(Subroutine::copyinstr, 1), ret(1)}, {100'000}),
            (std::vector<MemoryNeed>{{0, true, 0, kStrsize + 1}}));
}

TEST(Capture, BytesAtAnOffsetFromAnArgument) {
  const auto copy = [](Opcode opcode, uint64_t offset) {
    return memory(
        {get(BuiltIn::arg1, 1), set(0, 2), op(opcode, 1, 2, 3), push(3), set(1, 4), push(4), call(Subroutine::copyin, 1), ret(1)},
        {offset, 16});
  };
  EXPECT_EQ(copy(Opcode::add, 24), (std::vector<MemoryNeed>{{1, false, 24, 16}}));
  EXPECT_EQ(copy(Opcode::sub, 8), (std::vector<MemoryNeed>{{1, false, -8, 16}}));
  EXPECT_TRUE(copy(Opcode::mul, 2).empty());
  EXPECT_EQ(memory({get(BuiltIn::arg1, 1), set(0, 2), op(Opcode::add, 2, 1, 3), op(Opcode::ulduw, 3, 0, 3), ret(3)}, {24}),
            (std::vector<MemoryNeed>{{1, false, 24, 4}}));
}

// The DIF need not be verified.
TEST(Capture, RegisterZeroStaysZero) {
  EXPECT_TRUE(memory({get(BuiltIn::arg0, 0), push(0), call(Subroutine::copyinstr, 1), ret(1)}).empty());
}

TEST(Capture, FramesAsManyAsAnybodyWants) {
  EXPECT_EQ(needs({get(BuiltIn::ucaller, 1), ret(1)}).frames, 2);
  EXPECT_EQ(needs({get(BuiltIn::ustackdepth, 1), get(BuiltIn::ucaller, 1), ret(1)}).frames, kMostFrames);
  dif::EcbDesc clause;
  clause.actions = {action_of({ret(0)}, dif::Action::ustack), action_of({ret(0)}, dif::Action::ustack)};
  for (dif::ActDesc& action : clause.actions) action.args[0].made_by = dif::Action::ustack;
  clause.actions[0].args[0].frames = 20, clause.actions[1].args[0].frames = 10;
  EXPECT_EQ(needs_of(clause, kStrsize).frames, 20);
  clause.actions[1].args[0].frames = 1000;
  EXPECT_EQ(needs_of(clause, kStrsize).frames, kMostFrames);
}

TEST(Capture, FramesOfAStackThatAVariableKeeps) {
  const auto keeping = [](uint64_t frames) {
    return needs({set(0, 1), push(1), call(Subroutine::dvm_ustack, 2), ret(2)}, {frames});
  };
  EXPECT_EQ(keeping(7).frames, 7);
  EXPECT_EQ(keeping(1000).frames, kMostFrames);
  EXPECT_TRUE(keeping(7).thread);
  dif::EcbDesc clause;
  clause.actions = {action_of({ret(0)}, dif::Action::ustack)};
  dif::RecDesc& kept = clause.actions[0].args[0];
  kept.made_by = dif::Action::ustack, kept.frames = 20, kept.difo.result = {dif::TypeKind::bytes, false, false, 168, ""};
  EXPECT_EQ(needs_of(clause, kStrsize).frames, 0);
}

TEST(Capture, LoadsFromTheProcess) {
  EXPECT_EQ(memory({get(BuiltIn::arg0, 1), op(Opcode::ulduw, 1, 0, 2), ret(2)}), (std::vector<MemoryNeed>{{0, false, 0, 4}}));
  EXPECT_EQ(memory({get(BuiltIn::arg0, 1), op(Opcode::ldsh, 1, 0, 2), ret(2)}), (std::vector<MemoryNeed>{{0, false, 0, 2}}));
  EXPECT_EQ(memory({get(BuiltIn::arg0, 1), op(Opcode::rldub, 1, 0, 2), ret(2)}), (std::vector<MemoryNeed>{{0, false, 0, 1}}));
  EXPECT_TRUE(memory({set(0, 1), op(Opcode::lduw, 1, 0, 2), ret(2)}, {0x10}).empty());
}

// What is read by reference: the result of a DIFO, what is stored, pushed, compared, copied, or an argument of a subroutine.
TEST(Capture, WhatIsReadByReference) {
  const std::vector<MemoryNeed> string = {{0, true, 0, kStrsize + 1}}, bytes = {{0, false, 0, 24}};
  const auto in = [](std::vector<Instruction> text, const dif::DataType& type) {
    Difo difo;
    text.insert(text.begin(), get(BuiltIn::arg0, 1));
    difo.text = std::move(text);
    difo.integers = {24};
    difo.result = type;
    dif::Variable variable;
    variable.id = kLocal, variable.type = type;
    for (const dif::Scope scope : {dif::Scope::global, dif::Scope::thread, dif::Scope::clause})
      variable.scope = scope, difo.variables.push_back(variable);
    return needs_of(difo, kStrsize).memory;
  };
  dif::DataType text, record, number;
  text.kind = dif::TypeKind::string;
  record.kind = dif::TypeKind::bytes, record.size = 24;
  number.kind = dif::TypeKind::integer, number.size = 8;
  EXPECT_EQ(in({ret(1)}, text), string);
  EXPECT_EQ(in({ret(1)}, record), bytes);
  EXPECT_TRUE(in({ret(1)}, number).empty());
  for (const Opcode store : {Opcode::stgs, Opcode::stls, Opcode::stts, Opcode::stgaa, Opcode::sttaa}) {
    EXPECT_EQ(in({Instruction::indexed(store, kLocal, 1), ret(0)}, text), string);
    EXPECT_EQ(in({Instruction::indexed(store, kLocal, 1), ret(0)}, record), bytes);
    EXPECT_TRUE(in({Instruction::indexed(store, kLocal, 1), ret(0)}, number).empty());
  }
  EXPECT_EQ(in({op(Opcode::pushtr, 1, 0, 1), ret(0)}, number), string);
  EXPECT_EQ(in({set(0, 2), op(Opcode::pushtr, 2, 2, 1), ret(0)}, number), bytes);
  EXPECT_EQ(in({op(Opcode::scmp, 1, 0, 0), ret(0)}, number), string);
  EXPECT_EQ(in({set(0, 2), op(Opcode::allocs, 2, 0, 3), op(Opcode::copys, 1, 2, 3), ret(0)}, number), bytes);
  EXPECT_EQ(in({push(1), call(Subroutine::strlen, 2), ret(2)}, number), string);
  EXPECT_EQ(in({push(1), push(0), set(0, 2), push(2), call(Subroutine::bcopy, 2), ret(2)}, number), bytes);
  EXPECT_EQ(in({push(1), call(Subroutine::inet_ntoa6, 2), ret(2)}, number), (std::vector<MemoryNeed>{{0, false, 0, 16}}));
}

// ((struct s *)arg0)->a + ->b, which lie at 4 and at 16; and what is further away
TEST(Capture, MembersOfOneObjectAreOneNeed) {
  const auto members = [](uint64_t first, uint64_t second) {
    return memory({get(BuiltIn::arg0, 1), set(0, 2), op(Opcode::add, 1, 2, 3), op(Opcode::lduw, 3, 0, 3), set(1, 2),
                   op(Opcode::add, 1, 2, 4), op(Opcode::ldx, 4, 0, 4), op(Opcode::add, 3, 4, 3), ret(3)},
                  {first, second});
  };
  const std::vector<MemoryNeed> together = {{0, false, 0, 24}};
  EXPECT_EQ(members(4, 16), together);
  EXPECT_EQ(members(20, 0), together);
  EXPECT_EQ(members(4, 400), (std::vector<MemoryNeed>{{0, false, 4, 4}, {0, false, 400, 8}}));
  EXPECT_EQ(members(-4, 8), (std::vector<MemoryNeed>{{0, false, -8, 24}}));
}

TEST(Capture, ObjectsThatAreFarOrLargeStayApart) {
  const auto count = [](std::vector<MemoryNeed> added) {
    CaptureNeeds needs;
    for (const MemoryNeed& need : added) needs.add(need);
    return needs.memory.size();
  };
  EXPECT_EQ(count({{0, false, 0, 8}, {0, false, 40, 8}}), 1u);
  EXPECT_EQ(count({{0, false, 0, 8}, {0, false, 41, 7}}), 2u);
  EXPECT_EQ(count({{0, false, 0, 8}, {0, false, 41, 1}, {0, false, 44, 4}}), 1u);  // the last two begin at 40
  EXPECT_EQ(count({{0, false, 0, 4088}, {0, false, 4088, 8}}), 1u);
  EXPECT_EQ(count({{0, false, 0, 4096}, {0, false, 4096, 8}}), 2u);
  EXPECT_EQ(count({{0, false, 0, kMostFixed}}), 1u);
  EXPECT_EQ(count({{0, false, 0, kMostFixed + 1}}), 0u);
}

// A member between two others brings them together.
TEST(Capture, ObjectsGrowTogether) {
  CaptureNeeds needs;
  for (const int64_t offset : {0, 80, 40}) needs.add({0, false, offset, 8});
  EXPECT_EQ(needs.memory, (std::vector<MemoryNeed>{{0, false, 0, 88}}));
  needs.add({0, true, 96, 8});  // a string ends where it ends
  needs.add({1, false, 88, 8});
  EXPECT_EQ(needs.memory.size(), 3u);
  needs.add({0, false, 96, 8, Word(1)});  // it may be shorter
  EXPECT_EQ(needs.memory.size(), 4u);
}

TEST(Capture, UnknownSizesAndAddressesAreLateReads) {
  // arg1 + 1 bytes
  EXPECT_TRUE(memory({get(BuiltIn::arg0, 1), push(1), get(BuiltIn::arg1, 2), set(0, 3), op(Opcode::add, 2, 3, 2), push(2),
                      call(Subroutine::copyin, 1), ret(1)},
                     {256})
                  .empty());
  EXPECT_TRUE(memory({set(0, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)}, {0x10}).empty());
  EXPECT_TRUE(
      memory({get(BuiltIn::arg0, 1), push(1), set(0, 2), push(2), call(Subroutine::copyin, 1), ret(1)}, {1u << 20}).empty());
}

TEST(Capture, OfStringsThatMayBeVeryLongAPartIsCaptured) {
  Difo difo;
  difo.text = {get(BuiltIn::arg2, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)};
  for (const uint32_t strsize : {4095u, 4096u, 1u << 24, UINT32_MAX})
    EXPECT_EQ(needs_of(difo, strsize).memory, (std::vector<MemoryNeed>{{2, true, 0, kMostBytes}})) << strsize;
}

TEST(Capture, LargeCopiesOfAConstantSizeAreCaptured) {
  const auto copy = [](uint64_t size) {
    return memory({get(BuiltIn::arg0, 1), push(1), set(0, 2), push(2), call(Subroutine::copyin, 1), ret(1)}, {size});
  };
  EXPECT_EQ(copy(kMostFixed), (std::vector<MemoryNeed>{{0, false, 0, kMostFixed}}));
  EXPECT_TRUE(copy(kMostFixed + 1).empty());
}

MemoryNeed sized(const Word& base, bool is_string, uint32_t size, const Word& by) { return {base, is_string, 0, size, by}; }

TEST(Capture, ASizeMayBeAnArgument) {
  const auto copy = [](Subroutine subroutine) {
    return memory({get(BuiltIn::arg1, 1), push(1), get(BuiltIn::arg2, 2), push(2), call(subroutine, 1), ret(1)});
  };
  EXPECT_EQ(copy(Subroutine::copyin), std::vector{sized(1, false, kMostBytes, 2)});
  EXPECT_EQ(copy(Subroutine::copyinstr), std::vector{sized(1, true, kStrsize + 1, 2)});
}

// copyin(arg1, arg2 + more)
TEST(Capture, ASizeMayBeAnArgumentAndSomeBytes) {
  const auto copy = [](uint64_t more) {
    return memory({get(BuiltIn::arg1, 1), push(1), get(BuiltIn::arg2, 2), set(0, 3), op(Opcode::add, 2, 3, 2), push(2),
                   call(Subroutine::copyin, 1), ret(1)},
                  {more});
  };
  MemoryNeed wanted = sized(1, false, kMostBytes, 2);
  wanted.more = 255;
  EXPECT_EQ(copy(255), std::vector{wanted});
  EXPECT_FALSE(sized(1, false, kMostBytes, 2).covers(wanted));
  EXPECT_TRUE(copy(256).empty());
  EXPECT_TRUE(copy(~uint64_t{0}).empty());
}

// copyin(arg1, arg2 < limit ? arg2 : limit)
TEST(Capture, ASizeMayHaveALimitOfItsOwn) {
  const auto copy = [](Subroutine subroutine, uint64_t limit) {
    return memory({get(BuiltIn::arg1, 1), push(1), get(BuiltIn::arg2, 2), set(0, 3), op(Opcode::cmp, 2, 3, 0),
                   Instruction::branch(Opcode::blu, 7), op(Opcode::mov, 3, 0, 2), push(2), call(subroutine, 1), ret(1)},
                  {limit});
  };
  EXPECT_EQ(copy(Subroutine::copyin, 1000), std::vector{sized(1, false, 1000, 2)});
  EXPECT_EQ(copy(Subroutine::copyin, 1 << 20), std::vector{sized(1, false, 4096, 2)});
  EXPECT_EQ(copy(Subroutine::copyinstr, 16), std::vector{sized(1, true, 16, 2)});
  EXPECT_EQ(copy(Subroutine::copyinstr, 1 << 20), std::vector{sized(1, true, kStrsize + 1, 2)});
  EXPECT_TRUE(copy(Subroutine::copyin, 0).empty());
  // arg2 + 8, or the limit
  EXPECT_TRUE(memory({get(BuiltIn::arg1, 1), push(1), get(BuiltIn::arg2, 2), set(1, 3), op(Opcode::add, 2, 3, 2), set(0, 3),
                      op(Opcode::cmp, 2, 3, 0), Instruction::branch(Opcode::blu, 9), op(Opcode::mov, 3, 0, 2), push(2),
                      call(Subroutine::copyin, 1), ret(1)},
                     {1000, 8})
                  .empty());
}

// A copy of 24 bytes at arg1, then what the instructions do with its address in %r1.
std::vector<MemoryNeed> of_copy(std::vector<Instruction> rest, uint64_t size = 24) {
  std::vector<Instruction> text = {get(BuiltIn::arg1, 1),   push(1), set(0, 2), push(2), call(Subroutine::copyin, 1), set(1, 2),
                                   op(Opcode::add, 1, 2, 1)};
  text.insert(text.end(), rest.begin(), rest.end());
  return memory(std::move(text), {size, 16});
}

// copyinstr(((char **)copyin(arg1, 24))[2])
TEST(Capture, AnAddressMayBeAWordThatWasCopied) {
  const MemoryNeed array{1, false, 0, 24}, string{Word(1).load(16), true, 0, kStrsize + 1};
  const std::vector<Instruction> deref = {op(Opcode::ldx, 1, 0, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)};
  EXPECT_EQ(of_copy(deref), (std::vector{array, string}));
  EXPECT_EQ(of_copy({op(Opcode::rldx, 1, 0, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)}), (std::vector{array, string}));
  EXPECT_EQ(of_copy({op(Opcode::lduw, 1, 0, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)}), std::vector{array});
  // Too much to be captured, but the word is not.
  EXPECT_EQ(of_copy(deref, 1 << 20), (std::vector{MemoryNeed::of(Word(1).load(16)), string}));
  EXPECT_EQ(of_copy({op(Opcode::ldx, 1, 0, 1), ret(1)}, 1 << 20).size(), 0u);  // the word leads nowhere
}

// `counter, `title[2], p->next->value where p is a variable: what is known of them is their address.
TEST(Capture, VariablesOfTheProgramHaveTheirAddresses) {
  const uint64_t at = 0x555500004010;
  const auto here = static_cast<int64_t>(at);
  EXPECT_EQ(memory({set(0, 1), op(Opcode::uldsw, 1, 0, 1), ret(1)}, {at}),
            (std::vector{MemoryNeed{Word::zero(), false, here, 4}}));
  const Word word = Word::zero().load(here);
  EXPECT_EQ(memory({set(0, 1), op(Opcode::uldx, 1, 0, 1), op(Opcode::uldsb, 1, 0, 1), ret(1)}, {at}),
            (std::vector{MemoryNeed::of(word), MemoryNeed{word, false, 0, 1}}));
  EXPECT_EQ(memory({set(0, 1), push(1), call(Subroutine::copyinstr, 1), ret(1)}, {at}),
            (std::vector{MemoryNeed{Word::zero(), true, here, kStrsize + 1}}));
  EXPECT_EQ(memory({set(0, 1), set(1, 2), op(Opcode::sll, 1, 2, 1), op(Opcode::uldsw, 1, 0, 1), ret(1)}, {0x7f, 40}),
            (std::vector{MemoryNeed{Word::zero(), false, 0x7f0000000000, 4}}));
  EXPECT_EQ(memory({set(0, 1), op(Opcode::uldsw, 1, 0, 1), ret(1)}, {4096}).size(), 1u);
  for (const uint64_t elsewhere : {uint64_t{0}, uint64_t{4095}, uint64_t{1} << 47, UINT64_MAX})
    EXPECT_TRUE(memory({set(0, 1), op(Opcode::uldsw, 1, 0, 1), ret(1)}, {elsewhere}).empty()) << elsewhere;
}

// copyin(p->base, p->length)
TEST(Capture, AddressAndSizeMayBothBeWordsThatWereCopied) {
  EXPECT_EQ(of_copy({op(Opcode::ldx, 1, 0, 3), push(3), op(Opcode::sub, 1, 2, 1), op(Opcode::ldx, 1, 0, 3), push(3),
                     call(Subroutine::copyin, 1), ret(1)}),
            (std::vector{MemoryNeed{1, false, 0, 24}, sized(Word(1).load(16), false, kMostBytes, Word(1).load(0))}));
}

TEST(Capture, LoadsFromTheProcessLeadThroughPointers) {
  const Word first = Word(0).load(0), second = first.load(8);
  const std::vector<MemoryNeed> two = {MemoryNeed::of(first), MemoryNeed::of(second), {second, false, 8, 4}};
  const auto next = [](Opcode opcode) { return std::vector<Instruction>{op(Opcode::add, 1, 2, 1), op(opcode, 1, 0, 1)}; };
  std::vector<Instruction> text = {get(BuiltIn::arg0, 1), set(0, 2), op(Opcode::uldx, 1, 0, 1)};
  for (const Opcode opcode : {Opcode::uldx, Opcode::ulduw})
    for (const Instruction in : next(opcode)) text.push_back(in);
  text.push_back(ret(1));
  EXPECT_EQ(memory(text, {8}), two);
  text = {get(BuiltIn::arg0, 1),     op(Opcode::uldx, 1, 0, 1), op(Opcode::uldx, 1, 0, 1), op(Opcode::ldx, 1, 0, 1),
          op(Opcode::uldx, 1, 0, 1), op(Opcode::uldx, 1, 0, 1), op(Opcode::uldx, 1, 0, 1), ret(1)};
  EXPECT_EQ(memory(text).size(), kMostPointers + 1);  // the sixth is a late read
}

TEST(Capture, AValueThatDependsOnTheWayIsUnknown) {
  const auto merge = [](BuiltIn other) {
    return memory({get(BuiltIn::arg0, 1), Instruction::registers(Opcode::tst, 1, 0, 0), Instruction::branch(Opcode::be, 4),
                   get(other, 1), push(1), call(Subroutine::copyinstr, 2), ret(2)});
  };
  EXPECT_TRUE(merge(BuiltIn::arg1).empty());
  EXPECT_EQ(merge(BuiltIn::arg0).size(), 1u);
}

TEST(Capture, BothWaysOfABranchAreSeenAndDeadCodeIsNot) {
  const auto found = memory({Instruction::registers(Opcode::tst, 0, 0, 0), Instruction::branch(Opcode::be, 6),
                             get(BuiltIn::arg0, 1), push(1), call(Subroutine::copyinstr, 2), Instruction::branch(Opcode::ba, 9),
                             get(BuiltIn::arg1, 1), push(1), call(Subroutine::copyinstr, 2), ret(2)});
  EXPECT_EQ(found, (std::vector<MemoryNeed>{{0, true, 0, kStrsize + 1}, {1, true, 0, kStrsize + 1}}));
  EXPECT_EQ(needs({Instruction::branch(Opcode::ba, 2), get(BuiltIn::arg3, 1), ret(0)}).args, 0);
  EXPECT_EQ(needs({Instruction::branch(Opcode::ba, 1), get(BuiltIn::arg3, 1), ret(0)}).args, 1 << 3);
}

TEST(Capture, OneNeedStandsForThoseItCovers) {
  CaptureNeeds a, b;
  a.memory = {{0, false, 0, 4}, {1, true, 0, 16}};
  b.memory = {{0, false, 0, 16}, {0, false, 8, 8}, {1, true, 0, 256}, {1, true, 4, 16}};
  a |= b;
  EXPECT_EQ(a.memory, (std::vector<MemoryNeed>{{0, false, 0, 16}, {1, true, 0, 256}, {1, true, 4, 16}}));
}

TEST(Capture, TheNumberOfNeedsIsBounded) {
  CaptureNeeds many;
  for (int i = 0; i < 100; i++) many.add({0, false, i * 100, 8});
  EXPECT_EQ(many.memory.size(), 16u);
}

std::vector<MemoryNeed> fitted(std::vector<MemoryNeed> needs) {
  fit_record(needs);
  return needs;
}

TEST(Capture, LargeCopiesThatFindNoRoomAreLeftOut) {
  const MemoryNeed large{0, false, 0, kMostFixed}, word{1, false, 0, 8}, string{2, true, 0, 4096};
  EXPECT_EQ(fitted({large, word}), (std::vector{large, word}));
  EXPECT_EQ(fitted({large, word, string}), (std::vector{word, string}));
  EXPECT_EQ(fitted({{0, false, 0, 6000}, {1, false, 0, 7000}, {2, false, 0, 5000}}).size(), 2u);
}

TEST(Capture, WhatFitsExactlyIsNotLeftOut) {
  const MemoryNeed first{0, false, 0, kMostRecord / 2}, second{1, false, 0, kMostRecord - kMostRecord / 2 - 100},
      string{2, true, 0, 100};
  EXPECT_EQ(fitted({first, second, string}), (std::vector{first, second, string}));
}

// Short ones stay as they are, long ones are cut to the same length.
TEST(Capture, StringsShareTheRoom) {
  std::vector<MemoryNeed> needs = {{3, false, 0, 500}};
  for (uint8_t arg = 0; arg < 8; arg++) needs.push_back({arg, true, 0, arg == 7 ? 16 : 4096u});
  const std::vector<MemoryNeed> all = fitted(needs);
  ASSERT_EQ(all.size(), 9u);
  uint32_t total = 0;
  for (const MemoryNeed& need : all) total += need.size;
  EXPECT_EQ(total, kMostRecord);
  EXPECT_EQ(all[8].size, 16u);
  for (size_t i = 1; i < 8; i++) EXPECT_NEAR(all[i].size, (kMostRecord - 516) / 7, 1);
  EXPECT_EQ(fitted(all), all);
}

// Each string hangs on a pointer of its own: a need goes with the needs of its words, or not at all.
TEST(Capture, WordsAreCapturedWithWhatNeedsThem) {
  CaptureNeeds all;
  for (uint8_t i = 0; i < 9; i++) {
    CaptureNeeds one;
    const Word word = Word(i).load(0);
    one.memory = {{word, true, 0, 16, i == 8 ? std::optional<Word>(Word(0)) : std::nullopt}};
    all |= one;
  }
  EXPECT_EQ(all.memory.size(), 16u);
  EXPECT_TRUE(is_closed(all.memory));
}

TEST(Capture, AWordForWhichThereIsRoomIsNotCapturedInVain) {
  CaptureNeeds needs;
  for (uint8_t i = 0; i < 15; i++) needs.add({i, true, 0, 16});
  needs.add({Word(0).load(0), true, 0, 16});
  EXPECT_EQ(needs.memory.size(), 15u);
}

TEST(Capture, WhatIsSizedStandsForTheSameSizeOnly) {
  const MemoryNeed fixed{0, false, 0, 100}, by_one = sized(0, false, 100, 1), by_two = sized(0, false, 100, 2);
  EXPECT_TRUE(fixed.covers(by_one));
  EXPECT_FALSE(by_one.covers(fixed));
  EXPECT_FALSE(by_one.covers(by_two));
  EXPECT_TRUE(by_one.covers(sized(0, false, 50, 1)));
  EXPECT_FALSE(by_one.covers(sized(0, false, 200, 1)));
}

TEST(Capture, NoDistanceIsTooFarToCompare) {
  const MemoryNeed low{0, false, INT64_MIN, 8}, high{0, false, INT64_MAX, 8};
  EXPECT_FALSE(low.covers(high));
  EXPECT_FALSE(high.covers(low));
  EXPECT_TRUE(high.covers({0, false, INT64_MAX, 4}));
  EXPECT_FALSE(high.covers({0, false, INT64_MIN, 4}));
  EXPECT_FALSE((MemoryNeed{0, false, 0, 8}).covers({0, false, 4, 8}));
}

}  // namespace
}  // namespace dvm::runtime
