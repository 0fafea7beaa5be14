// Machine code: what the translator makes refers to nothing outside itself, and what happens where there is none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "dvm/vm/engine.h"
#include "tests/conformance/mock_host.h"
#include "tests/support/engine.h"
#include "tests/unit/vm/assembled.h"
#include "vm/engine/native/code_memory.h"
#include "vm/engine/native/helpers.h"
#include "vm/engine/native/load_translator.h"
#include "vm/engine/native/perf_map.h"
#include "vm/state/variable_access.h"
#include "vm/variable/getter.h"

namespace dvm::vm {

namespace {

using testing::HasSubstr;
using testing::Not;

const Engine& llvm_engine() { return kEngines[1]; }

native::Translation translated(const dif::Difo& difo, bool general_regs_only = true) {
  return native::translator().translator->translate({difo, native::layout(), false, general_regs_only});
}

// Many comparisons with constants, of which LLVM likes to make tables.
std::string chain() {
  std::string text = "ldgs arg0, %r1\n";
  for (int i = 0; i < 40; i++)
    text += "setx " + std::to_string(i) + ", %r2\ncmp %r1, %r2\nbne n" + std::to_string(i) + "\nsetx " +
            std::to_string(i * i + 7) + ", %r3\nret %r3\nn" + std::to_string(i) + ": nop\n";
  return text + "ret %r1\n";
}

TEST(Native, CodeRunsWhereverItLies) {
  DVM_SKIP_WITHOUT(llvm_engine());
  const dif::Difo difo = dif::test::assembled("setx 3, %r1\nsetx 4, %r2\nadd %r1, %r2, %r1\nret %r1\n");
  const native::Translation made = translated(difo);
  ASSERT_EQ(made.error, "");
  VariableState variables({}, {});
  MachineState state(variables, {});
  for (int i = 0; i < 2; i++) {
    native::CodeMemory memory;
    ASSERT_EQ(memory.map(made.code), "");
    const native::CodeContext context{native::helpers(), &difo, 0};  // the layout has it at the beginning
    const auto code = reinterpret_cast<uint64_t (*)(const native::CodeContext&, MachineState&, OpCost*)>(memory.begin());
    EXPECT_EQ(code(context, state, nullptr), 7u);
  }
}

TEST(Native, ComparisonsMakeNoTables) {
  DVM_SKIP_WITHOUT(llvm_engine());
  EXPECT_EQ(translated(dif::test::assembled(chain())).error, "");
  EXPECT_EQ(translated(dif::test::assembled(chain()), false).error, "");
}

// Reads the member at an offset of an object.
template <class T>
T at(const void* object, uint32_t offset) {
  T value;
  std::memcpy(&value, static_cast<const std::byte*>(object) + offset, sizeof(T));
  return value;
}

template <class T>
T at(const void* object, native::PointerAt member) {
  return at<T>(object, member.offset);
}

const std::vector<dif::Variable> kVariables = {{"g",
                                                dif::kFirstUserVariable,
                                                dif::Scope::global,
                                                dif::VariableKind::scalar,
                                                true,
                                                true,
                                                {dif::TypeKind::integer, true, false, 2, "short"}},
                                               {"l",
                                                dif::kFirstUserVariable + 1,
                                                dif::Scope::clause,
                                                dif::VariableKind::scalar,
                                                true,
                                                true,
                                                {dif::TypeKind::string, false, false, 0, "string"}}};

class NativeLayout : public testing::Test {
 protected:
  VariableState variables_{kVariables, {}};
  MachineState machine_{variables_, {}};
  State& state_ = machine_.impl();
  const native::MachineLayout& layout_ = native::layout();
};

TEST_F(NativeLayout, IsThatOfTheMachineState) {
  EXPECT_EQ(at<State*>(&machine_, layout_.impl), &state_);
  const Firing firing;
  const dif::Difo difo;
  state_.fault = {dif::Fault::illop, 1, 7}, state_.units = 8, state_.difo = &difo, state_.firing = &firing;
  EXPECT_EQ(at<dif::Fault>(&state_, layout_.fault), dif::Fault::illop);
  EXPECT_EQ(at<uint32_t>(&state_, layout_.fault_pc), 7u);
  EXPECT_EQ(at<uint64_t>(&state_, layout_.units), 8u);
  EXPECT_EQ(at<const dif::Difo*>(&state_, layout_.difo), &difo);
  EXPECT_EQ(at<const Firing*>(&state_, layout_.firing), &firing);
  EXPECT_EQ(at<VariableState::Impl*>(&state_, layout_.variables), &variables_.impl());
}

TEST_F(NativeLayout, IsThatOfTheTupleStack) {
  const std::byte byte{};
  state_.tuple.push({});
  state_.tuple.push({1, 2, dif::PushType::string, &byte});
  EXPECT_EQ(at<uint32_t>(&state_, layout_.depth), 2u);
  const uint32_t entry = layout_.entries + layout_.entry_size;
  EXPECT_EQ(at<uint64_t>(&state_, entry + layout_.entry_value), 1u);
  EXPECT_EQ(at<uint64_t>(&state_, entry + layout_.entry_of_size), 2u);
  EXPECT_EQ(at<dif::PushType>(&state_, entry + layout_.entry_type), dif::PushType::string);
  EXPECT_EQ(at<const std::byte*>(&state_, entry + layout_.entry_bytes), &byte);
}

TEST_F(NativeLayout, IsThatOfVariables) {
  VariableSlot& global = *variables_.impl().globals.find(dif::kFirstUserVariable);
  global.value = 5;
  EXPECT_EQ(at<size_t>(&variables_.impl(), layout_.globals + layout_.slots_count), 1u);
  const auto* first = at<const VariableSlot*>(&variables_.impl(), layout_.globals + layout_.slots_first);
  EXPECT_EQ(first, &global);
  EXPECT_EQ(at<uint64_t>(first, layout_.slot_value), 5u);
  EXPECT_EQ(at<uint64_t>(first, layout_.slot_mask), 0xffffu);
  EXPECT_EQ(at<uint64_t>(first, layout_.slot_sign), 0x8000u);
  EXPECT_EQ(at<bool>(first, layout_.slot_known), true);
  const auto* locals = at<const std::byte*>(&state_, layout_.locals + layout_.slots_first);
  EXPECT_EQ(at<std::byte*>(locals + layout_.slot_size, layout_.slot_storage), state_.locals.storage().data());
}

TEST(NativeThreadVariables, HaveTheNodeThatWasFoundLast) {
  const dif::DataType type{dif::TypeKind::integer, true, false, 8, "int64_t"};
  const auto id = static_cast<uint16_t>(dif::kFirstUserVariable);
  const dif::Variable declared[] = {{"t", id, dif::Scope::thread, dif::VariableKind::scalar, true, true, type}};
  VariableState variables(declared, {});
  MachineState machine(variables, {});
  const native::MachineLayout& layout = native::layout();
  Firing firing;
  firing.tid = 7;
  test::MockHost host;
  machine.begin_firing(firing, host);
  store_dynamic(machine.impl(), id, true, false, 42);
  EXPECT_EQ(load_dynamic(machine.impl(), id, true, false), 42u);
  const auto* slot = at<const std::byte*>(&variables.impl(), layout.threads + layout.slots_first);
  const auto* node = at<const std::byte*>(slot, layout.slot_recent);
  const uint64_t key = uint64_t{id} << 32 | uint64_t{1} << 48 | 7;
  EXPECT_EQ(at<uint64_t>(node, layout.node_key), key);
  EXPECT_EQ(at<uint64_t>(node, layout.node_value), 42u);
  store_dynamic(machine.impl(), id, true, false, 0);
  EXPECT_NE(at<uint64_t>(node, layout.node_key), key);
}

TEST(NativePlain, IsWhatReadsTheFiringOnlyAndCannotFault) {
  const auto is_plain_text = [](const char* text) { return is_plain(dif::test::assembled(text)); };
  EXPECT_TRUE(is_plain_text("ldgs arg0, %r1\nsetx 7, %r2\nadd %r1, %r2, %r1\nret %r1\n"));
  EXPECT_FALSE(is_plain_text("ldgs id, %r1\nret %r1\n"));
  EXPECT_FALSE(is_plain_text("ldgs probefunc, %r1\nret %r1\n"));
  EXPECT_FALSE(is_plain_text("ldgs arg0, %r1\nudiv %r1, %r1, %r1\nret %r1\n"));
  EXPECT_FALSE(is_plain_text("sets \"a\", %r1\nret %r1\n"));
  EXPECT_FALSE(is_plain_text("ldgs arg0, %r1\nldx [%r1], %r1\nret %r1\n"));
  EXPECT_FALSE(is_plain_text("v 500 scl tls r/w int64\nldts v, %r1\nret %r1\n"));
}

TEST(NativeLight, IsWhatSeldomCallsCpp) {
  const auto is_light_text = [](const char* text) { return is_light(dif::test::assembled(text)); };
  EXPECT_TRUE(is_light_text("ldgs arg0, %r1\nret %r1\n"));
  EXPECT_TRUE(
      is_light_text("g 500 scl glb r/w int64\nt 501 scl tls r/w int64\nldgs g, %r1\nldts t, %r1\nstgs %r1, g\nret %r1\n"));
  EXPECT_FALSE(is_light_text("ldgs probefunc, %r1\nret %r1\n"));
  EXPECT_FALSE(is_light_text("t 500 scl tls r/w int64\nstts %r1, t\nret %r1\n"));
  EXPECT_FALSE(is_light_text("l 500 scl loc r/w int64\nldls l, %r1\nret %r1\n"));
}

TEST_F(NativeLayout, IsThatOfCountsAndOfTheFiring) {
  const OpCost costs[2] = {{}, {1, 2, 3, 4}};
  EXPECT_EQ(at<uint64_t>(costs, layout_.cost_size + layout_.cost_executed), 1u);
  EXPECT_EQ(at<uint64_t>(costs, layout_.cost_size + layout_.cost_units), 2u);
  EXPECT_EQ(at<uint64_t>(costs, layout_.cost_size + layout_.cost_faults), 4u);
  Firing firing;
  firing.timestamp = 6, firing.tid = -1, firing.args[3] = 9;
  const auto field = [&](dif::BuiltIn id) { return layout_.fields.at(built_in_position(static_cast<unsigned>(id))); };
  EXPECT_EQ(at<uint64_t>(&firing, field(dif::BuiltIn::timestamp).offset), 6u);
  EXPECT_EQ(at<uint64_t>(&firing, field(dif::BuiltIn::arg3).offset), 9u);
  const native::IntegerAt tid = field(dif::BuiltIn::tid);
  EXPECT_EQ(at<int32_t>(&firing, tid.offset), -1);
  EXPECT_EQ(tid.size, sizeof(int32_t));
  EXPECT_TRUE(tid.is_signed);
  EXPECT_EQ(field(dif::BuiltIn::probefunc).size, 0u);
}

TEST(Native, SaysWhichPluginIsNotThere) {
  const native::LoadedTranslator loaded = native::load_translator("/nowhere/dvm-llvm.so");
  EXPECT_EQ(loaded.translator, nullptr);
  EXPECT_THAT(loaded.problem, HasSubstr("/nowhere/dvm-llvm.so"));
}

TEST(Native, RefusesALibraryThatIsNoTranslator) {
  const native::LoadedTranslator loaded = native::load_translator("libm.so.6");
  EXPECT_EQ(loaded.translator, nullptr);
  EXPECT_THAT(loaded.problem, HasSubstr("libm.so.6 is not a translator"));
}

// Its helpers have other numbers: code that reads probefunc would get probemod.
TEST(Native, RefusesAPluginWithOtherTables) {
  const native::LoadedTranslator loaded = native::load_translator(OTHER_TRANSLATOR);
  EXPECT_EQ(loaded.translator, nullptr);
  EXPECT_EQ(loaded.problem, OTHER_TRANSLATOR " belongs to another version of dvm");
}

TEST(Native, RefusesAPluginThatOthersCanReplace) {
  std::string folder = testing::TempDir() + "dvm-plugin-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string file = folder + "/dvm-llvm.so";
  std::ofstream(file) << "no library";
  EXPECT_THAT(native::load_translator(file).problem, Not(HasSubstr("another user")));
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_EQ(native::load_translator(file).problem, file + " could have been replaced by another user");
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  EXPECT_EQ(native::load_translator(file).problem, file + " could have been replaced by another user");
  std::filesystem::remove_all(folder);
}

std::string perf_map_path() { return "/tmp/perf-" + std::to_string(::getpid()) + ".map"; }

std::string perf_map() {
  std::ifstream file(perf_map_path());
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Native, NamesCodeForPerfWhereThatIsWanted) {
  const std::byte code[16]{};
  std::filesystem::remove(perf_map_path());  // of an earlier process with this number
  native::name_code(code, sizeof(code), "not asked for");
  EXPECT_EQ(perf_map(), "");
  write_perf_map(true);
  native::name_code(code, sizeof(code), "dt_clause_0");
  write_perf_map(false);
  std::ostringstream line;
  line << std::hex << reinterpret_cast<uintptr_t>(code) << " 10 dt_clause_0\n";
  EXPECT_EQ(perf_map(), line.str());
  std::filesystem::remove(perf_map_path());
}

TEST(Native, SaysThatThereIsNoMemoryForCode) {
  native::CodeMemory memory;
  EXPECT_THAT(memory.map(std::span(static_cast<const std::byte*>(nullptr), size_t{1} << 60)), HasSubstr("no memory for code"));
  EXPECT_EQ(memory.begin(), nullptr);
}

}  // namespace

}  // namespace dvm::vm
