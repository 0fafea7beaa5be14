// Keys for the traced thread: which strings it can find out, and what is known beforehand.

#include "runtime/instrument/agent/text_key.h"

#include <gtest/gtest.h>

#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn, dif::Instruction, dif::Opcode;

const dif::DataType kText{dif::TypeKind::string, false, false, 0, "string"};

Instruction load(BuiltIn variable, unsigned rd) {
  return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(variable), rd);
}
Instruction push(unsigned r) { return Instruction::registers(Opcode::pushtv, 0, 0, r); }
Instruction call(dif::Subroutine subroutine, unsigned rd) {
  return Instruction::indexed(Opcode::call, static_cast<unsigned>(subroutine), rd);
}
Instruction ret(unsigned rd) { return Instruction::registers(Opcode::ret, 0, 0, rd); }

std::optional<TextKey> key_of(std::vector<Instruction> text, std::vector<uint64_t> integers = {}, uint32_t strsize = 256) {
  Probe probe;
  probe.provider = "pid7", probe.module = "library", probe.function = "function", probe.name = "entry";
  const dif::Difo difo{std::move(text), std::move(integers), std::string("\0word\0", 6), {}, kText};
  return text_key_of(difo, &probe, strsize);
}

TEST(TextKey, KnowsConstants) {
  const auto word = key_of({Instruction::indexed(Opcode::sets, 1, 2), ret(2)});
  ASSERT_TRUE(word);
  EXPECT_EQ(word->kind, TextKey::Kind::constant);
  EXPECT_EQ(word->words, key_words_of("word", 256));
  EXPECT_EQ(key_of({load(BuiltIn::probefunc, 1), ret(1)})->words, (std::vector<uint64_t>{0x6e6f6974636e7566, 0}));
  EXPECT_EQ(key_of({load(BuiltIn::probefunc, 1), ret(1)}, {}, 3)->words, key_words_of("fun", 3));
  EXPECT_EQ(key_of({load(BuiltIn::probemod, 1), ret(1)})->words, key_words_of("library", 256));
}

TEST(TextKey, CutsWhatItCopies) {
  const auto whole = key_of({load(BuiltIn::arg0, 1), push(1), call(dif::Subroutine::copyinstr, 1), ret(1)});
  ASSERT_TRUE(whole && whole->kind == TextKey::Kind::copied);
  EXPECT_EQ(whole->address.text.size(), 2);
  EXPECT_EQ(whole->most, 255);
  const auto part = [&](uint64_t length) {
    return key_of({load(BuiltIn::arg0, 1), push(1), Instruction::indexed(Opcode::setx, 0, 2), push(2),
                   call(dif::Subroutine::copyinstr, 1), ret(1)},
                  {length}, 16);
  };
  EXPECT_EQ(part(10)->most, 9);
  EXPECT_EQ(part(1000)->most, 15);
  EXPECT_FALSE(part(1));
  EXPECT_EQ(key_of({load(BuiltIn::execname, 1), ret(1)})->most, 15);
}

Instruction store(unsigned rd) { return Instruction::indexed(Opcode::stts, dif::kFirstUserVariable, rd); }

std::optional<AssignedText> assigned(std::vector<Instruction> text, uint32_t strsize = 256) {
  const dif::Variable variable{"s", dif::kFirstUserVariable, dif::Scope::thread, dif::VariableKind::scalar, true, true, kText};
  const dif::Difo difo{std::move(text), {}, std::string("\0word\0", 6), {variable}, {}};
  return assigned_text(difo, nullptr, strsize);
}

TEST(TextKey, KnowsWhatIsAssignedToThreads) {
  const std::vector<Instruction> copy{load(BuiltIn::arg0, 1), push(1), call(dif::Subroutine::copyinstr, 1), store(1), ret(0)};
  const auto copied = assigned(copy);
  ASSERT_TRUE(copied && copied->value.kind == TextKey::Kind::copied);
  EXPECT_EQ(copied->value.most, 255);
  EXPECT_EQ(copied->value.address.text.size(), 2);
  EXPECT_EQ(assigned({Instruction::indexed(Opcode::sets, 1, 2), store(2), ret(0)})->value.words, key_words_of("word", 256));
  EXPECT_EQ(assigned({Instruction::indexed(Opcode::ldts, dif::kFirstUserVariable, 1), store(1), ret(0)})->value.kind,
            TextKey::Kind::variable);
  EXPECT_FALSE(assigned({store(0), ret(0)}));  // NULL
  EXPECT_FALSE(assigned(copy, 257));           // has no room in the thread
}

TEST(TextKey, IsNotMadeOfWhatNeedsDvm) {
  EXPECT_FALSE(key_of({load(BuiltIn::arg0, 1), push(1), call(dif::Subroutine::basename, 1), ret(1)}));
  EXPECT_FALSE(key_of({load(BuiltIn::execargs, 1), ret(1)}));
  EXPECT_FALSE(
      key_of({load(BuiltIn::arg0, 1), push(1), load(BuiltIn::arg1, 1), push(1), call(dif::Subroutine::copyinstr, 1), ret(1)}));
  EXPECT_FALSE(key_of({load(BuiltIn::arg0, 1), push(1), call(dif::Subroutine::copyinstr, 1), push(1),
                       call(dif::Subroutine::copyinstr, 1), ret(1)}));
  EXPECT_FALSE(key_of({ret(1)}));
  EXPECT_FALSE(key_of({load(BuiltIn::probefunc, 1), ret(2)}));
}

TEST(KeyWords, HoldANulAndZeros) {
  EXPECT_EQ(key_words_of("", 256), (std::vector<uint64_t>{0}));
  EXPECT_EQ(key_words_of("abcdefgh", 256), (std::vector<uint64_t>{0x6867666564636261, 0}));
  EXPECT_EQ(key_words_of("abcdefgh", 2), (std::vector<uint64_t>{0x6261}));
}

}  // namespace
}  // namespace dvm::runtime
