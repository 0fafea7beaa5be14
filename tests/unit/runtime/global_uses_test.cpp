// Code that adds to a global variable, and code that uses it otherwise.

#include "runtime/backend/local/global_uses.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

using dif::BuiltIn, dif::Instruction, dif::Opcode;
using Text = std::vector<Instruction>;

constexpr uint16_t kId = dif::kFirstUserVariable;

Instruction load(unsigned rd) { return Instruction::indexed(Opcode::ldgs, kId, rd); }
Instruction store(unsigned rd) { return Instruction::indexed(Opcode::stgs, kId, rd); }
Instruction argument(unsigned rd) { return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(BuiltIn::arg0), rd); }
Instruction op(Opcode opcode, unsigned r1, unsigned r2, unsigned rd) { return Instruction::registers(opcode, r1, r2, rd); }
Instruction ret(unsigned rd) { return op(Opcode::ret, 0, 0, rd); }
dif::Difo difo_of(Text text) { return {std::move(text), {}, "", {}, {}}; }

bool adds(Text text, unsigned stored) {
  text.push_back(store(stored));
  text.push_back(ret(0));
  return only_adds(difo_of(std::move(text)), kId);
}
unsigned accesses(Text text) { return global_accesses(difo_of(std::move(text)), kId); }

TEST(GlobalUses, Additions) {
  EXPECT_TRUE(adds({load(1), argument(2), op(Opcode::add, 1, 2, 1)}, 1));
  EXPECT_TRUE(adds({argument(1), load(2), op(Opcode::add, 1, 2, 3)}, 3));
  EXPECT_TRUE(adds({argument(1), load(2), op(Opcode::sub, 2, 1, 1)}, 1));
}

TEST(GlobalUses, OtherChanges) {
  EXPECT_FALSE(adds({argument(1)}, 1));
  EXPECT_FALSE(adds({load(1)}, 1));
  EXPECT_FALSE(adds({argument(1), load(2), op(Opcode::sub, 1, 2, 1)}, 1));
  EXPECT_FALSE(adds({load(1), op(Opcode::add, 1, 1, 1)}, 1));
  EXPECT_FALSE(adds({load(1), argument(2), op(Opcode::mul, 1, 2, 1)}, 1));
  EXPECT_FALSE(adds({load(1), op(Opcode::mov, 1, 0, 2), op(Opcode::add, 1, 2, 1)}, 1));
  EXPECT_FALSE(adds({load(1), load(2), op(Opcode::add, 1, 2, 1)}, 1));
  EXPECT_FALSE(adds({load(1), argument(1), op(Opcode::add, 1, 2, 1)}, 1));
  EXPECT_FALSE(adds({load(1), argument(2), op(Opcode::add, 1, 2, 1)}, 3));
  EXPECT_FALSE(adds({load(1), Instruction::branch(Opcode::ba, 2), op(Opcode::add, 1, 2, 1)}, 1));
}

TEST(GlobalUses, AdditionsWhoseValueIsUsed) {
  const Text sum = {load(1), argument(2), op(Opcode::add, 1, 2, 2), store(2)};
  const auto with = [&](const Text& rest) {
    Text all = sum;
    all.insert(all.end(), rest.begin(), rest.end());
    return difo_of(std::move(all));
  };
  EXPECT_TRUE(only_adds(with({ret(0)}), kId));
  EXPECT_FALSE(only_adds(with({ret(1)}), kId));
  EXPECT_FALSE(only_adds(with({Instruction::indexed(Opcode::stts, kId, 1), ret(0)}), kId));
  EXPECT_FALSE(only_adds(difo_of({load(1), ret(1)}), kId));
}

TEST(GlobalUses, Accesses) {
  EXPECT_EQ(accesses({argument(1), ret(1)}), 0U);
  EXPECT_EQ(accesses({load(1), load(2), op(Opcode::add, 1, 2, 1), ret(1)}), 2U);
  EXPECT_EQ(accesses({load(1), load(2), op(Opcode::add, 1, 2, 1), store(1), ret(1)}), 1U);  // a change from one value
  EXPECT_EQ(accesses({argument(1), store(1), load(1), ret(1)}), 2U);
  EXPECT_EQ(accesses({load(1), store(1), store(1), ret(1)}), 2U);
  const Instruction other = Instruction::indexed(Opcode::ldgs, kId + 1, 1);
  EXPECT_EQ(accesses({other, ret(1)}), 0U);
  EXPECT_FALSE(loads_global(difo_of({other, ret(1)}), kId));
  const Instruction of_thread = Instruction::indexed(Opcode::ldts, kId, 1);
  EXPECT_FALSE(loads_global(difo_of({of_thread, ret(1)}), kId));
}

}  // namespace
}  // namespace dvm::runtime
