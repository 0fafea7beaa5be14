// Unwind information of the agent's code: the unwinder of libgcc is asked at each instruction of firings.

#include "runtime/agent/frame_rows.h"

#include <gtest/gtest.h>
#include <ucontext.h>
#include <unwind.h>

#include <array>
#include <csignal>
#include <cstring>

#include "placed_stub.h"

extern "C" void __register_frame(void*);
extern "C" void __deregister_frame(void*);

namespace dvm::runtime {
namespace {

// Of the registers that a function keeps for its caller: words of struct pt_regs, numbers of DWARF.
constexpr std::array<std::pair<unsigned, int>, 6> kKept = {{{0, 15}, {1, 14}, {2, 13}, {3, 12}, {4, 6}, {5, 3}}};

struct Stepping {
  const Agent* agent = nullptr;
  Registers given;
  uint64_t pointer = 0;  // of the stack, where the stub begins
  uint64_t steps = 0, lost = 0;
  bool is_found = false;
} stepping;
uint64_t steps_inside = 0;  // of code that stubs call

_Unwind_Reason_Code look(_Unwind_Context* context, void*) {
  int is_before = 0;
  const uint64_t counter = _Unwind_GetIPInfo(context, &is_before);
  if (counter - Agent::kAddress > Agent::kWindow) return _URC_NO_REASON;
  bool is_same = is_before != 0 && _Unwind_GetGR(context, 7) == stepping.pointer;
  for (const auto& [word, reg] : kKept) is_same &= _Unwind_GetGR(context, reg) == stepping.given.words[word];
  stepping.is_found = is_same;
  return _URC_END_OF_STACK;
}

void step(int, siginfo_t*, void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto counter = static_cast<uint64_t>(registers[REG_RIP]);
  if (!stepping.agent->has(counter)) return;
  if (counter == stepping.agent->stub()) stepping.pointer = static_cast<uint64_t>(registers[REG_RSP]);
  stepping.is_found = false;
  _Unwind_Backtrace(look, nullptr);
  stepping.steps++;
  steps_inside += counter - stepping.agent->stub() >= stepping.agent->stub_bytes() ? 1 : 0;
  stepping.lost += stepping.is_found ? 0 : 1;
}

// Of the stub and of the code in fire.cpp, as the unwinder of this process takes it.
class KnownFrames {
 public:
  explicit KnownFrames(const Agent& agent) {
    inside::CodeEntries entries;
    std::memcpy(&entries, inside_code().data(), sizeof entries);
    inside_ = reinterpret_cast<void*>(agent.code_at() + entries.frames_begin);
    const std::vector<unsigned char> cie = frame_cie();
    frames_.reserve(1 << 16);  // they stay where they are
    frames_ = cie;
    const auto at = reinterpret_cast<uint64_t>(frames_.data());
    add(frame_fde(at + cie.size(), at, agent.stub(), agent.stub_bytes(), agent.frames()));
    const uint64_t plain_at = at + frames_.size(), functions = agent.code_at() + inside_code().size();
    const std::vector<unsigned char> plain = plain_cie();
    add(plain);
    add(frame_fde(plain_at + plain.size(), plain_at, functions, agent.stub() - functions, {}));
    add({0, 0, 0, 0});
    __register_frame(frames_.data());
    __register_frame(inside_);
  }
  KnownFrames(const KnownFrames&) = delete;
  KnownFrames& operator=(const KnownFrames&) = delete;
  ~KnownFrames() {
    __deregister_frame(inside_);
    __deregister_frame(frames_.data());
  }

 private:
  void add(const std::vector<unsigned char>& bytes) { frames_.insert(frames_.end(), bytes.begin(), bytes.end()); }

  std::vector<unsigned char> frames_;
  void* inside_ = nullptr;
};

void step_through(AgentFirer firer) {
  constexpr uint64_t kTrap = 0x100;
  Agent agent(inside::kAlone);
  std::vector<AgentFirer> firers;
  firers.push_back(std::move(firer));
  agent.place(std::move(firers));
  const KnownFrames known(agent);
  struct sigaction action {
  }, before{};
  action.sa_sigaction = step;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  std::mt19937_64 random(7);
  for (int i = 0; i < 8; i++) {  // the first firing finds a lane, by agent_enter
    stepping = {&agent, some_registers(random)};
    stepping.given.flags = 0x202 | kTrap;
    Registers registers = stepping.given;
    load_and_call(reinterpret_cast<void*>(agent.stub()), registers.words.data());
    EXPECT_GT(stepping.steps, 20);
    EXPECT_EQ(stepping.lost, 0);
  }
  sigaction(SIGTRAP, &before, nullptr);
}

// The unwinder reads code of which it finds nothing.
TEST(FrameRows, LeadToTheProbedInstruction) {
  constexpr uint64_t kPage = 4096;
  auto* wanted = reinterpret_cast<void*>(Agent::kAddress & ~(kPage - 1));
  ASSERT_EQ(mmap(wanted, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), wanted);
  step_through(firer({aggregation(1, SiteFunction::count, {})}));
  step_through(firer({step(Kind::predicate, masked(BuiltIn::arg0, 1), 1), aggregation(1, SiteFunction::count, {})}));
  step_through(firer({aggregation(1, SiteFunction::quantize, value_of(BuiltIn::arg0), {integer(value_of(BuiltIn::arg1))})}));
  step_through(firer({aggregation(1, SiteFunction::count, {}, {stack(5, 0)})}));
  step_through(firer({}));
  EXPECT_GT(steps_inside, 500);
  munmap(wanted, kPage);
}

// As the stub before _Unwind_Find_FDE() asks for them.
TEST(FrameRows, AreFoundByAddress) {
  struct {
    inside::CodeHeader header;
    inside::FrameTable table{2};
    inside::FrameEntry entries[2] = {{1000, 1100, 7}, {1100, 1200, 8}};
  } code;
  const auto at = reinterpret_cast<uint64_t>(&code);
  code.header.frames = reinterpret_cast<uint64_t>(&code.table);
  inside::OwnMemory own;
  own.count = 2, own.ranges[0] = {1, 2}, own.ranges[1] = {at, at + 4096};
  const Agent agent(inside::kAlone);
  inside::CodeEntries entries;
  std::memcpy(&entries, inside_code().data(), sizeof entries);
  uint64_t bases[3] = {1, 2, 3};
  const auto find = [&](uint64_t counter) {
    using Find = uint64_t (*)(uint64_t counter, void* bases, const inside::OwnMemory* own);
    return reinterpret_cast<Find>(agent.code_at() + entries.frame)(counter, bases, &own);
  };
  for (const uint64_t counter : {at - 1, at, at + 999, at + 1200, at + 4096}) EXPECT_EQ(find(counter), 0);
  EXPECT_EQ(bases[2], 3);
  EXPECT_EQ(find(at + 1000), at + 7);
  EXPECT_EQ(find(at + 1100), at + 8);
  EXPECT_EQ(find(at + 1199), at + 8);
  EXPECT_EQ((std::array{bases[0], bases[1], bases[2]}), (std::array<uint64_t, 3>{0, 0, at + 1100}));
  code.header.magic++;
  EXPECT_EQ(find(at + 1000), 0);
}

}  // namespace
}  // namespace dvm::runtime
