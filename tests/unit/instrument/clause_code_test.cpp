// Machine code of DIF for the traced thread: the values that DIF means, and no code for what it cannot do there.

#include "runtime/instrument/agent/clause_code.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "clause_code_run.h"
#include "dvm/dif/arithmetic.h"
#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kValues[] = {0,
                                1,
                                2,
                                63,
                                64,
                                65,
                                0x7fffffff,
                                0x80000000,
                                0xffffffff,
                                uint64_t{1} << 63,
                                ~uint64_t{0},
                                ~uint64_t{0} - 1,
                                0x1234567890abcdef};

dif::Difo binary(Opcode opcode, unsigned rd = 3) {
  return {{load(BuiltIn::arg0, 1), load(BuiltIn::arg1, 2), op(opcode, 1, 2, rd), op(Opcode::ret, 0, 0, rd)}, {}, "", {}, kWord};
}

const std::pair<Opcode, std::function<uint64_t(uint64_t, uint64_t)>> kArithmetic[] = {
    {Opcode::or_, [](uint64_t a, uint64_t b) { return a | b; }},
    {Opcode::xor_, [](uint64_t a, uint64_t b) { return a ^ b; }},
    {Opcode::and_, [](uint64_t a, uint64_t b) { return a & b; }},
    {Opcode::sub, [](uint64_t a, uint64_t b) { return a - b; }},
    {Opcode::add, [](uint64_t a, uint64_t b) { return a + b; }},
    {Opcode::mul, [](uint64_t a, uint64_t b) { return a * b; }},
    {Opcode::sll, [](uint64_t a, uint64_t b) { return a << (b & 63); }},
    {Opcode::srl, [](uint64_t a, uint64_t b) { return a >> (b & 63); }},
    {Opcode::sra, [](uint64_t a, uint64_t b) { return static_cast<uint64_t>(static_cast<int64_t>(a) >> (b & 63)); }},
    {Opcode::not_, [](uint64_t a, uint64_t) { return ~a; }},
    {Opcode::mov, [](uint64_t a, uint64_t) { return a; }},
};

TEST(ClauseCode, ComputesAsDifDoes) {
  for (const auto& [opcode, expected] : kArithmetic)
    for (const unsigned rd : {1U, 2U, 5U})
      for (const uint64_t a : kValues)
        for (const uint64_t b : kValues) EXPECT_EQ(run(binary(opcode, rd), a, b), expected(a, b)) << static_cast<int>(opcode);
}

TEST(ClauseCode, KnowsAChildOfTheProcessByItsOwnNumber) {
  const dif::Difo difo{{load(BuiltIn::pid, 3), op(Opcode::ret, 0, 0, 3)}, {}, "", {}, kWord};
  for (const bool follows : {false, true}) {
    const MachineCode code = make_value_code(difo, kWord, {SiteKind::entry, {}, kPid, nullptr, follows}).code;
    EXPECT_EQ(code.has_workspace, follows);
    EXPECT_EQ(Code(code.bytes).run({}), static_cast<uint64_t>(follows ? kPid + 1 : kPid));
  }
}

const auto kLess = [](uint64_t a, uint64_t b) { return static_cast<int64_t>(a) < static_cast<int64_t>(b); };
const std::pair<Opcode, std::function<bool(uint64_t, uint64_t)>> kBranches[] = {
    {Opcode::be, [](uint64_t a, uint64_t b) { return a == b; }},
    {Opcode::bne, [](uint64_t a, uint64_t b) { return a != b; }},
    {Opcode::bgu, [](uint64_t a, uint64_t b) { return a > b; }},
    {Opcode::bgeu, [](uint64_t a, uint64_t b) { return a >= b; }},
    {Opcode::blu, [](uint64_t a, uint64_t b) { return a < b; }},
    {Opcode::bleu, [](uint64_t a, uint64_t b) { return a <= b; }},
    {Opcode::bg, [](uint64_t a, uint64_t b) { return kLess(b, a); }},
    {Opcode::bge, [](uint64_t a, uint64_t b) { return !kLess(a, b); }},
    {Opcode::bl, [](uint64_t a, uint64_t b) { return kLess(a, b); }},
    {Opcode::ble, [](uint64_t a, uint64_t b) { return !kLess(b, a); }},
};

TEST(ClauseCode, BranchesAsDifDoes) {
  for (const auto& [opcode, expected] : kBranches) {
    const dif::Difo difo{
        {load(BuiltIn::arg0, 1), load(BuiltIn::arg1, 2), op(Opcode::cmp, 1, 2, 0), Instruction::indexed(Opcode::setx, 0, 3),
         Instruction::branch(opcode, 6), op(Opcode::mov, 0, 0, 3), op(Opcode::ret, 0, 0, 3)},
        {1},
        "",
        {},
        kWord};
    for (const uint64_t a : kValues)
      for (const uint64_t b : kValues) EXPECT_EQ(run(difo, a, b), expected(a, b) ? 1 : 0) << static_cast<int>(opcode);
  }
}

constexpr uint64_t kConstants[] = {0, 1, 7, 0x7fffffff, 0x80000000, 0xffffffff, ~uint64_t{0}, 0xffffffff80000000, 0x1234567890};

// arg0 operated with a constant in %r4, into rd. Then that xor the constant, or nothing.
dif::Difo with_constant(Opcode opcode, unsigned rd, uint64_t constant, bool is_used_again) {
  dif::Difo difo{
      {load(BuiltIn::arg0, 1), Instruction::indexed(Opcode::setx, 0, 4), op(opcode, 1, 4, rd), op(Opcode::ret, 0, 0, rd)},
      {constant},
      "",
      {},
      kWord};
  if (is_used_again) difo.text.insert(difo.text.begin() + 3, op(Opcode::xor_, rd, 4, rd));
  return difo;
}

TEST(ClauseCode, OperatesWithConstants) {
  for (const uint64_t constant : kConstants)
    for (const uint64_t a : kValues)
      for (const auto& [opcode, expected] : kArithmetic)
        for (const unsigned rd : {1U, 3U, 4U}) {
          const uint64_t wanted = expected(a, constant);
          EXPECT_EQ(run(with_constant(opcode, rd, constant, false), a, 0), wanted) << static_cast<int>(opcode);
          if (rd == 4) continue;
          EXPECT_EQ(run(with_constant(opcode, rd, constant, true), a, 0), wanted ^ constant) << static_cast<int>(opcode);
        }
}

constexpr Opcode kDivisions[] = {Opcode::sdiv, Opcode::udiv, Opcode::srem, Opcode::urem};
constexpr uint64_t kDivisors[] = {
    1, 2, 3, 5, 7, 10, 641, 1000, 4096, 1000000007, (uint64_t{1} << 63) + 1, (uint64_t{1} << 62) - 1};

void compare_quotients(Opcode opcode, uint64_t a, uint64_t b) {
  const uint64_t expected = dif::arithmetic(opcode, a, b).value_or(0);
  for (const unsigned rd : {1U, 4U, 5U}) EXPECT_EQ(run(with_constant(opcode, rd, b, false), a, 0), expected) << a << " " << b;
  EXPECT_EQ(run(with_constant(opcode, 3, b, true), a, 0), expected ^ b) << a << " " << b;
}

TEST(ClauseCode, DividesByConstants) {
  for (const Opcode opcode : kDivisions)
    for (const uint64_t a : kValues) {
      for (const uint64_t b : kDivisors)
        for (const uint64_t divisor : {b, 0 - b})
          compare_quotients(opcode, a, divisor), compare_quotients(opcode, a * b - 1, divisor);
      for (const uint64_t b : kValues)
        if (b != 0) compare_quotients(opcode, a, b);
    }
}

TEST(ClauseCode, DividesByAConstantFromBefore) {
  for (const Opcode opcode : kDivisions) {
    dif::Difo difo = with_constant(opcode, 3, 7, false);
    difo.text.insert(difo.text.end() - 1, {load(BuiltIn::arg1, 5), op(opcode, 5, 4, 5), op(opcode, 4, 4, 4),
                                           op(Opcode::add, 3, 5, 3), op(Opcode::add, 3, 4, 3)});
    const auto one = [&](uint64_t a) { return dif::arithmetic(opcode, a, 7).value_or(0); };
    EXPECT_EQ(run(difo, 1000, 94), one(1000) + one(94) + one(7));
  }
}

void compare_with_values(const dif::Difo& difo, Opcode opcode, uint64_t a, uint64_t b) {
  std::array<uint64_t, inside::kSavedWords> saved{};
  saved[saved::rdi] = a, saved[saved::rsi] = b;
  inside::Workspace workspace = workspace_with(nullptr);
  const uint64_t value = Code(code_of(difo)).run(saved, workspace);
  EXPECT_EQ(workspace.failed, b == 0 ? 1U : 0U);
  EXPECT_EQ(value, b == 0 ? value : dif::arithmetic(opcode, a, b)) << a << " " << b;
}

TEST(ClauseCode, DividesByValuesAndSaysWhichCannotBe) {
  for (const Opcode opcode : kDivisions) {
    dif::Difo overwritten = with_constant(opcode, 3, 5, false);
    overwritten.text.insert(overwritten.text.begin() + 2, load(BuiltIn::arg1, 4));
    dif::Difo entered = with_constant(opcode, 3, 5, false);  // a branch leads behind the constant, if that is 0
    entered.text.insert(entered.text.begin() + 1,
                        {load(BuiltIn::arg1, 4), op(Opcode::tst, 4, 0, 0), Instruction::branch(Opcode::be, 5)});
    EXPECT_TRUE(make_value_code(entered, kWord, {SiteKind::entry, {}, kPid}).code.may_fail);
    for (const uint64_t a : kValues) {
      for (const uint64_t b : kValues)
        for (const dif::Difo& difo : {binary(opcode, 1), binary(opcode, 2), binary(opcode, 5), overwritten})
          compare_with_values(difo, opcode, a, b);
      compare_with_values(entered, opcode, a, 0);
    }
    EXPECT_TRUE(code_of(with_constant(opcode, 3, 0, false)).empty());
  }
}

TEST(ClauseCode, OperatesWithAConstantAndItself) {
  dif::Difo difo = with_constant(Opcode::add, 3, 7, false);
  difo.text[2] = op(Opcode::add, 4, 4, 3);
  EXPECT_EQ(run(difo, 100, 0), 14U);
}

TEST(ClauseCode, ComparesWithConstants) {
  for (const uint64_t constant : kConstants)
    for (const uint64_t a : kValues)
      for (const auto& [opcode, expected] : kBranches) {
        const dif::Difo difo{{load(BuiltIn::arg0, 1), Instruction::indexed(Opcode::setx, 1, 2), op(Opcode::cmp, 1, 2, 0),
                              Instruction::indexed(Opcode::setx, 0, 1), Instruction::branch(opcode, 6), op(Opcode::mov, 0, 0, 1),
                              op(Opcode::ret, 0, 0, 1)},
                             {1, constant},
                             "",
                             {},
                             kWord};
        EXPECT_EQ(run(difo, a, 0), expected(a, constant) ? 1 : 0) << static_cast<int>(opcode);
      }
}

// 1 if the branch is taken, else 0, in place of either operand or beside them.
dif::Difo truth_of(Opcode branch, unsigned rd, bool is_reversed) {
  return {{load(BuiltIn::arg0, 1), load(BuiltIn::arg1, 2), op(Opcode::cmp, 1, 2, 0),
           Instruction::indexed(Opcode::setx, is_reversed, rd), Instruction::branch(branch, 6),
           Instruction::indexed(Opcode::setx, !is_reversed, rd), op(Opcode::ret, 0, 0, rd)},
          {1, 0},
          "",
          {},
          kWord};
}

TEST(ClauseCode, TellsWhetherAConditionHolds) {
  for (const auto& [opcode, expected] : kBranches)
    for (const unsigned rd : {1U, 2U, 5U})
      for (const uint64_t a : kValues)
        for (const uint64_t b : kValues)
          for (const bool is_reversed : {false, true})
            EXPECT_EQ(run(truth_of(opcode, rd, is_reversed), a, b), expected(a, b) != is_reversed ? 1 : 0)
                << static_cast<int>(opcode);
}

TEST(ClauseCode, BranchesIntoTheMidstOfATruth) {
  // 0: a branch leads to the last setx if arg0 is not less; otherwise it is reached as well.
  const dif::Difo difo{{load(BuiltIn::arg0, 1), load(BuiltIn::arg1, 2), op(Opcode::cmp, 1, 2, 0),
                        Instruction::branch(Opcode::bge, 6), Instruction::indexed(Opcode::setx, 0, 3),
                        Instruction::branch(Opcode::bg, 7), Instruction::indexed(Opcode::setx, 1, 3), op(Opcode::ret, 0, 0, 3)},
                       {1, 0},
                       "",
                       {},
                       kWord};
  for (const uint64_t a : {4, 5, 6}) EXPECT_EQ(run(difo, a, 5), 0U);
}

TEST(ClauseCode, WidensByTheType) {
  for (const uint64_t value : kValues) {
    const auto as = [&](uint32_t size, bool is_signed) {
      return run(binary(Opcode::mov), value, 0, {dif::TypeKind::integer, is_signed, false, size, ""});
    };
    EXPECT_EQ(as(1, true), static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(value))));
    EXPECT_EQ(as(2, true), static_cast<uint64_t>(static_cast<int64_t>(static_cast<int16_t>(value))));
    EXPECT_EQ(as(4, true), static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value))));
    EXPECT_EQ(as(1, false), static_cast<uint8_t>(value));
    EXPECT_EQ(as(2, false), static_cast<uint16_t>(value));
    EXPECT_EQ(as(4, false), static_cast<uint32_t>(value));
  }
}

TEST(ClauseCode, KnowsTheThreadAndThePlace) {
  EXPECT_EQ(run(of_variable(BuiltIn::pid), 0, 0), kPid);
  EXPECT_EQ(run(of_variable(BuiltIn::tid), 0, 0), kTid);
  EXPECT_EQ(run(of_variable(BuiltIn::timestamp), 0, 0), kTime);
  const std::array<uint64_t, inside::kSavedWords> saved{};
  EXPECT_EQ(Code(code_of(of_variable(BuiltIn::arg0), kWord, SiteKind::entry, 0x29)).run(saved), 0x29);
}

TEST(ClauseCode, KnowsTheCpu) {
  const std::vector<unsigned char> bytes = code_of(of_variable(BuiltIn::cpu));
  if (bytes.empty()) GTEST_SKIP() << "this processor lacks rdpid";
  const Code code(bytes);
  cpu_set_t all, one;
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    EXPECT_EQ(code.run({}), static_cast<uint64_t>(cpu));
  }
  sched_setaffinity(0, sizeof all, &all);
}

// Stores arg0 in a variable, and returns what that is then.
dif::Difo through(dif::Scope scope, unsigned id, const dif::DataType& type, dif::VariableKind kind = dif::VariableKind::scalar) {
  const bool is_local = scope == dif::Scope::clause;
  dif::Difo difo{{load(BuiltIn::arg0, 1), Instruction::indexed(is_local ? Opcode::stls : Opcode::stts, id, 1),
                  Instruction::indexed(is_local ? Opcode::ldls : Opcode::ldts, id, 2), op(Opcode::ret, 0, 0, 2)},
                 {},
                 "",
                 {},
                 kWord};
  difo.variables.push_back({"x", static_cast<uint16_t>(id), scope, kind, true, true, type});
  return difo;
}

TEST(ClauseCode, KeepsVariablesOfTheThreadAndOfTheClause) {
  std::array<uint64_t, inside::kSavedWords> saved{};
  for (const dif::Scope scope : {dif::Scope::thread, dif::Scope::clause})
    for (const unsigned number : {0U, 1U, 15U}) {
      inside::ThreadVariables variables;
      inside::Workspace workspace = workspace_with(variables.values);
      saved[saved::rdi] = 0x1234567890abcdef;
      const Code code(code_of(through(scope, dif::kFirstUserVariable + number, kWord)));
      EXPECT_EQ(code.run(saved, workspace), saved[saved::rdi]);
      EXPECT_EQ(scope == dif::Scope::clause ? workspace.locals[number] : variables.values[number], saved[saved::rdi]);
    }
}

TEST(ClauseCode, ConvertsWhatItStores) {
  for (const dif::Scope scope : {dif::Scope::thread, dif::Scope::clause})
    for (const uint64_t value : kValues) {
      std::array<uint64_t, inside::kSavedWords> saved{};
      saved[saved::rdi] = value;
      inside::ThreadVariables variables;
      inside::Workspace workspace = workspace_with(variables.values);
      const auto as = [&](uint32_t size, bool is_signed) {
        const dif::DataType type{dif::TypeKind::integer, is_signed, false, size, ""};
        return Code(code_of(through(scope, dif::kFirstUserVariable, type))).run(saved, workspace);
      };
      EXPECT_EQ(as(4, true), static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value))));
      EXPECT_EQ(as(2, false), static_cast<uint16_t>(value));
      EXPECT_EQ(as(1, true), static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(value))));
    }
}

TEST(ClauseCode, HasNoRoomForOtherVariables) {
  const auto is_made = [](dif::Scope scope, unsigned number, const dif::DataType& type = kWord) {
    return !code_of(through(scope, dif::kFirstUserVariable + number, type)).empty();
  };
  EXPECT_TRUE(is_made(dif::Scope::thread, inside::kMostVariables - 1));
  EXPECT_FALSE(is_made(dif::Scope::thread, inside::kMostVariables));
  EXPECT_TRUE(is_made(dif::Scope::clause, inside::kMostLocals - 1));
  EXPECT_FALSE(is_made(dif::Scope::clause, inside::kMostLocals));
  EXPECT_FALSE(is_made(dif::Scope::thread, 0, {dif::TypeKind::string, false, false, 0, "string"}));
  EXPECT_TRUE(code_of(through(dif::Scope::thread, dif::kFirstUserVariable, kWord, dif::VariableKind::array)).empty());
  EXPECT_TRUE(code_of(through(dif::Scope::thread, dif::kFirstUserVariable - 1, kWord)).empty());
}

TEST(ClauseCode, ReadsGlobalsThatDvmKeeps) {
  constexpr auto kFirst = static_cast<uint16_t>(dif::kFirstUserVariable);
  const std::array<uint16_t, 4> known = {kFirst, kFirst + 3, kFirst + inside::kMostGlobals - 1, kFirst + inside::kMostGlobals};
  const auto code_for = [&](unsigned id) {
    return make_value_code(of_variable(static_cast<BuiltIn>(id)), kWord,
                           {SiteKind::entry, {}, kPid, nullptr, false, false, known});
  };
  inside::Globals globals;
  for (size_t i = 0; i < 3; i++) {
    globals.values[known[i] - kFirst] = kValues[i] + 5;
    MachineCode code = code_for(known[i]).code;
    code.place_globals(reinterpret_cast<uint64_t>(&globals));
    EXPECT_EQ(Code(code.bytes).run({}), kValues[i] + 5);
    EXPECT_FALSE(code.has_workspace);
  }
  EXPECT_EQ(code_for(kFirst + 1).in_dvm, InDvm::global);
  EXPECT_EQ(code_for(kFirst + inside::kMostGlobals).in_dvm, InDvm::global);
}

TEST(ClauseCode, ReadsPartsOfRegisters) {
  SiteShape shape = SiteKind::inside;
  shape.args[0] = {.kind = Operand::Kind::saved, .base = saved::rbx, .size = 1, .shift = 8, .is_signed = true};
  std::array<uint64_t, inside::kSavedWords> saved{};
  saved[saved::rbx] = 0x1280ff;
  EXPECT_EQ(Code(code_of(of_variable(BuiltIn::arg0), kWord, shape)).run(saved), ~uint64_t{0} - 127);
}

TEST(ClauseCode, SaysWhatNeedsDvm) {
  const auto reason = [](const dif::Difo& difo) { return make_value_code(difo, kWord, {SiteKind::entry, {}, kPid}).in_dvm; };
  EXPECT_EQ(reason(of_variable(BuiltIn::arg1)), InDvm::nothing);
  EXPECT_EQ(reason(of_variable(BuiltIn::vtimestamp)), InDvm::built_in);
  EXPECT_EQ(reason(of_variable(static_cast<BuiltIn>(dif::kFirstUserVariable))), InDvm::global);
  EXPECT_EQ(reason(of_variable(BuiltIn::arg7)), InDvm::argument);
  EXPECT_EQ(reason(with_constant(Opcode::sdiv, 3, 0, false)), InDvm::code);
  EXPECT_EQ(reason(through(dif::Scope::thread, dif::kFirstUserVariable + inside::kMostVariables, kWord)), InDvm::variable);
}

TEST(ClauseCode, IsNotMadeOfWhatNeedsDvm) {
  EXPECT_TRUE(code_of(of_variable(BuiltIn::vtimestamp)).empty());
  EXPECT_TRUE(code_of(of_variable(BuiltIn::walltimestamp)).empty());
  EXPECT_TRUE(code_of(of_variable(BuiltIn::arg7)).empty());  // on the stack
  EXPECT_TRUE(code_of(binary(Opcode::add, 6)).empty());
  const dif::Difo behind_no_comparison{
      {op(Opcode::cmp, 1, 2, 0), op(Opcode::add, 0, 0, 3), Instruction::branch(Opcode::be, 3), op(Opcode::ret, 0, 0, 3)},
      {},
      "",
      {},
      kWord};
  EXPECT_TRUE(code_of(behind_no_comparison).empty());
}

}  // namespace
}  // namespace dvm::runtime
