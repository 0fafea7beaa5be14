// A firing in steady state allocates nothing and writes nothing, on every engine, whatever its clauses do: each action,
// aggregating function, subroutine and built-in variable of the tables.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <regex>
#include <set>

#include "dvm/compiler/compile.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/runtime/handle.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/instrument.h"
#include "runtime/instrument/own_firing.h"
#include "runtime/provider/providers.h"
#include "tests/support/allocations.h"
#include "tests/support/engine.h"

namespace dvm::runtime::test {
namespace {

constexpr uint64_t kFirings = 1500, kUnsteady = 500;

// Calls that write to a file, by this thread so far.
uint64_t writes() {
  std::ifstream io("/proc/thread-self/io");
  for (std::string name, value; io >> name >> value;)
    if (name == "syscw:") return std::stoull(value);
  return 0;
}

// A process that fires, and that stop() and raise() may act on.
class FiringChild {
 public:
  FiringChild() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) ::pause();
  }
  ~FiringChild() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  int32_t pid() const { return pid_; }

 private:
  int32_t pid_;
};

// Fires a probe, and counts what the later firings allocate and write.
class CountingInstrument final : public Instrument, public Replays {
 public:
  CountingInstrument(uint32_t probe, int32_t pid) : probe_(probe), pid_(pid) {}
  std::string_view name() const override { return "counting"; }
  std::string_view refusal(const Probe&) const override { return ""; }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink& sink) override {
    for (uint64_t i = 0; fired < kFirings; i++)
      if (!fire(sink)) return i + 1;
    return uint64_t{0};
  }
  bool finished() const override { return fired == kFirings; }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  Abilities abilities() override { return {.replays = this}; }

  uint64_t fired = 0, allocated = 0, written = 0;

 private:
  bool fire(EventSink& sink) {
    vm::Firing firing = own_firing();
    firing.probe_id = probe_, firing.pid = firing.tid = pid_;
    firing.args[0] = fired++ % 100, firing.args[1] = reinterpret_cast<uint64_t>("1 string/of/text");
    firing.args[2] = fired == kFirings;
    firing.stack = firing.kernel_stack = stack_;
    firing.registers = {(1U << registers_.size()) - 1, registers_};
    const uint64_t writes_before = writes(), before = dvm::test::allocations();
    const bool goes_on = sink.fire(firing);
    const uint64_t after = dvm::test::allocations();
    if (fired > kUnsteady) allocated += after - before, written += writes() - writes_before;
    return goes_on;
  }

  uint32_t probe_;
  int32_t pid_;
  std::array<uint64_t, 21> registers_{};
  std::array<uint64_t, 4> stack_{0x1000, 0x2000, 0x3000, 0x4000};
};

std::string built_in_variables() {
  std::string text;
  for (const dif::BuiltInInfo& one : dif::kBuiltIns)  // goid is known on probes of Go functions only
    if (one.kind == dif::BuiltInKind::scalar && one.family != dif::VariableFamily::none && one.id != dif::BuiltIn::goid)
      text += fmt::format("entry {{ trace({}); }}\n", one.name);
  return text + "entry { trace(arg0 + uregs[20]); }";
}

// The last firing has arg2. Programs with a fault say which: `fails`.
struct Script {
  const char* name;
  std::string text;
  bool fails = false;
};
const std::vector<Script>& written_scripts() {
  static const std::vector<Script> all = {
      {"values", R"(entry { trace(arg0); printf("%d %s %c\n", arg0, copyinstr(arg1), 'x'); print(arg0); }
                    entry { tracemem(copyin(arg1, 8), 8); tracemem(copyin(arg1, 8), 8, arg0 % 8); })"},
      {"variables", R"(entry { self->t = timestamp; a[arg0] = arg0; this->x = arg0; s = copyinstr(arg1); b[s] = s; }
                       entry { self->t = 0; a[arg0] = 0; })"},
      {"stacks", "entry { stack(); ustack(); ustack(2); jstack(); usym(arg1); }"},
      {"aggregations", R"(entry { @a = count(); @b = quantize(arg0); @c = lquantize(arg0, 0, 100, 10);
                                  @d = llquantize(arg0, 10, 0, 3, 10); })"},
      {"keys",
       R"(entry { @a[arg0] = count(); @b[copyinstr(arg1), arg0] = sum(arg0); @c[ustack()] = quantize(arg0); @d[usym(arg0)] = avg(arg0);
                          @e[stack()] = lquantize(arg0, 0, 100, 10); @f[probefunc, execname] = quantize(arg0, 2); })"},
      {"consumer", R"(entry { @a[arg0] = count(); printa(@a); normalize(@a, 2); denormalize(@a); clear(@a); trunc(@a, 5); }
                      entry /arg0 == 0/ { system("true"); freopen("/dev/null"); ftruncate(); setopt("quiet"); freopen(""); })"},
      {"destructive", "entry { raise(23); stop(); chill(10); }"},
      {"commit", "entry { self->s = speculation(); } entry { speculate(self->s); trace(arg0); } entry { commit(self->s); }"},
      {"discard", "entry { self->s = speculation(); } entry { speculate(self->s); trace(arg0); } entry { discard(self->s); }"},
      {"exit", "entry /arg2/ { exit(0); }"},
      {"fault", "entry { trace(1 / (arg0 - arg0)); } ERROR { @ = count(); }", true},
      {"strings", R"(entry { this->s = copyinstr(arg1); trace(strjoin(this->s, lltostr(arg0))); trace(strchr(this->s, 's'));
                             trace(strrchr(this->s, 's')); trace(strstr(this->s, "s")); trace(strtok(this->s, " "));
                             trace(substr(this->s, 1, 2)); trace(index(this->s, "s")); trace(rindex(this->s, "s"));
                             trace(json("{ \"a\": 1 }", "a")); })"},
      {"memory", R"(entry { this->a = alloca(16); bcopy(copyin(arg1, 8), this->a, 8); copyinto(arg1, 8, this->a);
                            trace(inet_ntop(2, this->a)); trace(inet_ntoa(this->a)); trace(inet_ntoa6(this->a));
                            trace(link_ntop(1, this->a)); self->u = ustack(2); trace(self->u); })"},
      {"built_in_variables", built_in_variables()},
  };
  return all;
}

bool is_written(std::string_view name) {
  const std::regex call(fmt::format("\\b{}\\(", name));
  return std::ranges::any_of(written_scripts(), [&](const Script& one) { return std::regex_search(one.text, call); });
}

std::string argument_of(dif::ArgumentType type) {
  if (type == dif::ArgumentType::string) return "copyinstr(arg1)";
  if (type == dif::ArgumentType::bytes) return "alloca(16)";
  if (type == dif::ArgumentType::constant) return "16";
  return type == dif::ArgumentType::ptr ? "arg1" : "arg0";
}

template <class Row>
std::string call_of(const Row& row) {
  std::vector<std::string> arguments;
  for (const dif::Argument& one : row.arguments)
    if (!one.is_optional) arguments.push_back(argument_of(one.type));
  return fmt::format("{}({})", row.name, fmt::join(arguments, ", "));
}

// Calls what no script calls, with some arguments of its types.
std::string other_calls() {
  std::string text;
  for (const dif::SubroutineInfo& row : dif::kSubroutines)  // ustack() calls dvm_ustack
    if (row.unsupported.empty() && !row.destructive && row.id != dif::Subroutine::dvm_ustack && !is_written(row.name))
      text += fmt::format("entry {{ {}; }}\n", row.result == "void" ? call_of(row) : "trace(" + call_of(row) + ")");
  for (const dif::ActionInfo& row : dif::kActions)
    if (row.unsupported.empty() && !row.destructive && row.id != dif::Action::expression && !is_written(row.name))
      text += fmt::format("entry {{ {}; }}\n", call_of(row));
  for (const dif::AggregationInfo& row : dif::kAggregations)
    if (!is_written(row.name)) text += fmt::format("entry {{ @other_{0} = {1}; }}\n", row.name, call_of(row));
  return text;
}

const std::vector<Script>& scripts() {
  static const std::vector<Script> all = [] {
    std::vector<Script> made = written_scripts();
    made.push_back({"other_calls", other_calls()});
    return made;
  }();
  return all;
}

dif::Program compiled(const std::string& text) {
  const compiler::Source source{"-n", text, true};
  const compiler::CompileResult result = compiler::compile({&source, 1}, {});
  for (const compiler::Diagnostic& one : result.diagnostics) ADD_FAILURE() << compiler::render(one, source, false);
  return result.programs.empty() ? dif::Program() : result.programs.front().program;
}

struct Way {
  vm::Engine engine;
  vm::CostPolicy cost;
};

class Firings : public testing::TestWithParam<std::tuple<Way, Script>> {
 protected:
  Firings() {
    config.out = std::fopen("/dev/null", "w");
    config.err = open_memstream(&err_, &err_size_);
    std::setvbuf(config.out, nullptr, _IONBF, 0);  // each output is a call that writes
    config.cost = std::get<Way>(GetParam()).cost;
    EXPECT_TRUE(config.options.set("engine", std::get<Way>(GetParam()).engine.name));
    for (const auto& [name, value] : {std::pair("quiet", ""), {"destructive", ""}, {"nspec", "2"}, {"ustackframes", "4"}})
      EXPECT_TRUE(config.options.set(name, value));
  }
  ~Firings() override {
    std::fclose(config.out);
    std::fclose(config.err);
    std::free(err_);
  }
  CountingInstrument& add_instrument(Handle& handle) {
    for (auto& provider : make_providers()) handle.add_provider(std::move(provider));
    handle.discover({"dtrace", "", "", ""});
    const Probe& probe = handle.catalog().add({0, "pid1", "a.out", "f", "entry", UprobeSite{"a.out", 1, false, 1}});
    auto made = std::make_unique<CountingInstrument>(probe.id, child_.pid());
    CountingInstrument& instrument = *made;
    handle.add_instrument(std::move(made));
    return instrument;
  }
  static void run(Handle& handle, const dif::Program& program) {
    const Status enabled = handle.enable(program);
    ASSERT_TRUE(enabled) << enabled.error().message;
    std::vector<Refused> refused;
    const Status went = handle.go(refused);
    ASSERT_TRUE(went) << went.error().message;
    ASSERT_TRUE(refused.empty()) << refused[0].reason;
    while (handle.work()) continue;
    EXPECT_TRUE(handle.stop());
  }
  std::string err() { return std::fflush(config.err), std::string(err_, err_size_); }

  HandleConfig config;

 private:
  FiringChild child_;
  char* err_ = nullptr;
  size_t err_size_ = 0;
};

TEST_P(Firings, NeitherAllocateNorWriteInSteadyState) {
  const auto& [way, script] = GetParam();
  DVM_SKIP_WITHOUT(way.engine);
  Handle handle(config);
  const CountingInstrument& instrument = add_instrument(handle);
  const dif::Program program = compiled(script.text);
  ASSERT_FALSE(program.clauses.empty());
  run(handle, program);
  EXPECT_EQ(instrument.fired, kFirings);
  EXPECT_EQ(instrument.allocated, 0U);
  EXPECT_EQ(instrument.written, 0U);
  EXPECT_TRUE(script.fails || err().find("error") == std::string::npos) << err();
}

constexpr Way kWays[] = {{vm::kEngines[0], vm::CostPolicy::none},
                         {vm::kEngines[0], vm::CostPolicy::blocks},
                         {vm::kEngines[0], vm::CostPolicy::time},
                         {vm::kEngines[1], vm::CostPolicy::none},
                         {vm::kEngines[1], vm::CostPolicy::blocks}};

INSTANTIATE_TEST_SUITE_P(All, Firings, testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(scripts())),
                         [](const auto& row) {
                           const Way& way = std::get<0>(row.param);
                           return fmt::format("{}_{}_{}", way.engine.name, static_cast<int>(way.cost),
                                              std::get<1>(row.param).name);
                         });

TEST(ProbeContext, ScriptsHaveEveryAction) {
  std::set<dif::Action> used;
  for (const Script& script : scripts())
    for (const dif::EcbDesc& clause : compiled(script.text).clauses)
      for (const dif::ActDesc& action : clause.actions) used.insert(action.kind);
  for (const dif::ActionInfo& row : dif::kActions) EXPECT_TRUE(!row.unsupported.empty() || used.count(row.id) != 0) << row.name;
  for (const dif::AggregationInfo& row : dif::kAggregations) EXPECT_TRUE(used.count(row.id)) << row.name;
}

void note_calls(const dif::Difo& difo, std::set<dif::Subroutine>& called) {
  for (const dif::Instruction in : difo.text)
    if (has_format(in, dif::Format::call)) called.insert(static_cast<dif::Subroutine>(in.index()));
}

// copyout() and copyoutstr() write to the process, as they should.
TEST(ProbeContext, ScriptsCallEverySubroutine) {
  std::set<dif::Subroutine> called{dif::Subroutine::copyout, dif::Subroutine::copyoutstr};
  for (const Script& script : scripts())
    for (const dif::EcbDesc& clause : compiled(script.text).clauses)
      for (const dif::ActDesc& action : clause.actions)
        for (const dif::RecDesc& value : action.args) note_calls(value.difo, called);
  for (const dif::SubroutineInfo& row : dif::kSubroutines)
    EXPECT_TRUE(!row.unsupported.empty() || called.count(row.id) != 0) << row.name;
}

TEST(ProbeContext, AllocationsAndWritesAreCounted) {
  const uint64_t before = dvm::test::allocations();
  const auto one = std::make_unique<int>(1);
  EXPECT_EQ(dvm::test::allocations(), before + 1 + (one == nullptr));
  const uint64_t writes_before = writes();
  std::FILE* file = std::fopen("/dev/null", "w");
  std::fputs("a line\n", file);
  std::fclose(file);
  EXPECT_GE(writes(), writes_before + 1);  // sanitizers write as well
}

}  // namespace
}  // namespace dvm::runtime::test
