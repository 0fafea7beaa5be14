// Random DIF of arithmetic, branches and variables: its code for traced threads has the values and the faults of the interpreter.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <random>
#include <utility>

#include "dvm/dif/variable.h"
#include "dvm/vm/engine.h"
#include "runtime/instrument/agent/value_code.h"
#include "tests/conformance/mock_host.h"
#include "vm/state/state.h"

namespace dvm::runtime {
namespace {

using dif::Instruction, dif::Opcode;

constexpr uint16_t kWide = dif::kFirstUserVariable, kNarrow = kWide + 1, kLocal = kWide + 2;
constexpr uint64_t kConstants[] = {0, 1, 2, 7, 63, 0x80, 0xffffffff, uint64_t{1} << 63, ~uint64_t{0}, 0x123456789abcdef0};
constexpr Opcode kOperations[] = {Opcode::add, Opcode::sub, Opcode::mul,  Opcode::and_, Opcode::or_,  Opcode::xor_, Opcode::sll,
                                  Opcode::srl, Opcode::sra, Opcode::sdiv, Opcode::udiv, Opcode::srem, Opcode::urem};
constexpr Opcode kBranches[] = {Opcode::be,  Opcode::bne, Opcode::bg,  Opcode::bgu,
                                Opcode::bge, Opcode::bl,  Opcode::blu, Opcode::ble};

dif::DataType integer(uint32_t size) { return {dif::TypeKind::integer, true, false, size, ""}; }

class RandomDif {
 public:
  explicit RandomDif(unsigned seed, bool changes_globals = false) : changes_globals_(changes_globals), random_(seed) {}

  unsigned below(size_t n) { return static_cast<unsigned>(random_() % n); }
  uint64_t word() { return below(2) != 0 ? kConstants[below(std::size(kConstants))] : random_() >> below(64); }
  dif::Difo make() {
    dif::Difo made{{}, {std::begin(kConstants), std::end(kConstants)}, "", {}, integer(8)};
    for (const auto& [id, scope, size] : {std::tuple(kWide, dif::Scope::global, 8U), std::tuple(kNarrow, dif::Scope::global, 1U),
                                          std::tuple(kLocal, dif::Scope::clause, 4U)})
      made.variables.push_back({"v", id, scope, dif::VariableKind::scalar, true, true, integer(size)});
    for (unsigned rd = 1; rd <= 5; rd++)  // the compiler reads no register that it has not written
      made.text.push_back(Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(dif::BuiltIn::arg0) + below(4), rd));
    const unsigned size = 11 + below(14);
    while (made.text.size() + 2 < size) add(made.text, size);
    made.text.push_back(Instruction::registers(Opcode::ret, 0, 0, 1 + below(5)));
    for (Instruction& in : made.text)
      if (dif::is_branch(in))
        in = Instruction::branch(in.opcode(), std::min(in.label(), static_cast<unsigned>(made.text.size() - 1)));
    return made;
  }

 private:
  void add(std::vector<Instruction>& text, unsigned size) {
    const unsigned rd = 1 + below(5), what = below(10), pc = static_cast<unsigned>(text.size());
    if (what < 2) {
      text.push_back(Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(dif::BuiltIn::arg0) + below(4), rd));
    } else if (what == 2) {
      text.push_back(Instruction::indexed(Opcode::ldgs, below(2) != 0 ? kWide : kNarrow, rd));
    } else if (changes_globals_ && what == 4) {
      text.push_back(Instruction::indexed(Opcode::stgs, below(2) != 0 ? kWide : kNarrow, rd));
    } else if (what == 3) {
      text.push_back(Instruction::indexed(Opcode::setx, below(std::size(kConstants)), rd));
    } else if (what == 4) {
      text.push_back(Instruction::indexed(below(2) != 0 ? Opcode::stls : Opcode::ldls, kLocal, rd));
    } else if (what == 5) {
      text.push_back(Instruction::registers(Opcode::cmp, below(6), below(6), 0));
      text.push_back(Instruction::branch(kBranches[below(std::size(kBranches))], pc + 2 + below(size - pc)));
    } else {
      text.push_back(Instruction::registers(kOperations[below(std::size(kOperations))], below(6), below(6), rd));
    }
  }

  bool changes_globals_;
  std::mt19937_64 random_;
};

// Arguments and globals of a firing.
struct Given {
  std::array<uint64_t, 4> args{};
  uint64_t wide = 0, narrow = 0;
};
struct Outcome {
  uint64_t value = 0;
  bool is_fault = false;
  uint64_t wide = 0, narrow = 0;  // behind it
};

Outcome interpret(const dif::Difo& difo, const Given& given) {
  auto verified = vm::verify(difo);
  EXPECT_EQ(verified.index(), 0U);
  if (verified.index() != 0) return {};
  auto prepared = vm::prepare_interp(std::get<vm::VerifiedDifo>(std::move(verified)), vm::CostPolicy::none);
  vm::VariableState variables(difo.variables, {});
  variables.impl().globals.find(kWide)->value = given.wide;
  variables.impl().globals.find(kNarrow)->value = given.narrow;
  vm::MachineState state(variables, {});
  vm::Firing firing;
  vm::test::MockHost host;
  std::copy(given.args.begin(), given.args.end(), firing.args.begin());
  state.begin_firing(firing, host);
  const uint64_t value = prepared->run(state);
  return {value, state.fault().id != dif::Fault::none, variables.global(kWide), variables.global(kNarrow)};
}

class Page {
 public:
  Page() : memory_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() { munmap(memory_, kBytes); }
  // changes: how much of the globals threads have added.
  Outcome run(MachineCode code, const Given& given, uint64_t changes = 0) {
    inside::Globals globals;
    globals.values[0] = given.wide - changes, globals.values[1] = given.narrow - changes;
    globals.changes[0] = globals.changes[1] = changes;
    code.place_globals(reinterpret_cast<uint64_t>(&globals));
    EXPECT_LE(code.bytes.size(), kBytes);
    std::memcpy(memory_, code.bytes.data(), std::min(code.bytes.size(), kBytes));
    std::array<uint64_t, inside::kSavedWords> words{};
    words[saved::rdi] = given.args[0], words[saved::rsi] = given.args[1];
    words[saved::rdx] = given.args[2], words[saved::rcx] = given.args[3];
    inside::Workspace workspace{};
    const uint64_t value = reinterpret_cast<uint64_t (*)(const uint64_t*, inside::Workspace*)>(memory_)(words.data(), &workspace);
    const auto narrow = static_cast<int8_t>(globals.values[1] + globals.changes[1]);
    return {value, workspace.failed != 0, globals.values[0] + globals.changes[0], static_cast<uint64_t>(int64_t{narrow})};
  }

 private:
  static constexpr size_t kBytes = 1 << 16;
  void* memory_;
};

TEST(RandomValues, AreThoseOfTheInterpreter) {
  constexpr uint16_t kGlobals[] = {kWide, kNarrow};
  RandomDif random(27);
  Page page;
  unsigned made = 0, faults = 0;
  for (int i = 0; i < 1000; i++) {
    const dif::Difo difo = random.make();
    const MachineCode code = make_value_code(difo, integer(8), {SiteKind::entry, {}, 1, nullptr, false, false, kGlobals}).code;
    if (code.empty()) continue;  // it divides by the constant 0, or a branch leads behind its comparison
    made++;
    for (int k = 0; k < 5; k++) {
      const Given given{{random.word(), random.word(), random.word(), random.word()},
                        random.word(),
                        static_cast<uint64_t>(int64_t{static_cast<int8_t>(random.word())})};
      const Outcome here = page.run(code, given), there = interpret(difo, given);
      faults += there.is_fault;
      ASSERT_EQ(here.is_fault, there.is_fault) << i;
      ASSERT_EQ(there.is_fault ? 0 : here.value, there.is_fault ? 0 : there.value) << i;
    }
  }
  EXPECT_GT(made, 250U);
  EXPECT_GT(faults, 25U);
}

TEST(RandomValues, ChangeGlobalsAsTheInterpreterDoes) {
  constexpr uint16_t kGlobals[] = {kWide, kNarrow};
  RandomDif random(28, true);
  Page page;
  unsigned made = 0, changed = 0;
  for (int i = 0; i < 3000; i++) {
    const dif::Difo difo = random.make();
    const MachineCode code =
        make_value_code(difo, integer(8), {SiteKind::entry, {}, 1, nullptr, false, false, {}, kGlobals}).code;
    if (code.empty()) continue;  // it changes several, too
    made++;
    const Given given{{random.word(), random.word(), random.word(), random.word()},
                      random.word(),
                      static_cast<uint64_t>(int64_t{static_cast<int8_t>(random.word())})};
    const Outcome here = page.run(code, given, random.word()), there = interpret(difo, given);
    if (there.is_fault) continue;
    changed += there.wide != given.wide || there.narrow != given.narrow;
    ASSERT_EQ(here.value, there.value) << i;
    ASSERT_EQ(here.wide, there.wide) << i;
    ASSERT_EQ(here.narrow, there.narrow) << i;
  }
  EXPECT_GT(made, 500U);
  EXPECT_GT(changed, 100U);
}

}  // namespace
}  // namespace dvm::runtime
