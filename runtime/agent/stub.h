#pragma once
// The code behind one site: what is displaced by the jump, and the call of agent_enter (inside/fire.cpp) at its place.
//
//   f:  jmp stub       stub:  (displaced instructions before the one that is probed)
//                             (a branch behind the call, if that one is a branch which is not taken)
//                             code for the firings that need little (site_code.h)
//                             (displaced instructions from there on)
//                             jmp behind the window
//                             code for rare cases, then
//                             the call, with the red zone and all registers kept
//                             jmp to the displaced instructions

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/agent/site_code.h"
#include "runtime/code/displaced.h"

namespace dvm::runtime {

struct StubRequest {
  CodeBytes window;      // as it lies in the memory of the process
  uint64_t address = 0;  // of the window
  uint32_t probed = 0;   // offset in the window of the instruction that is probed

  uint64_t stub = 0;            // where the stub will lie
  uint64_t site = 0;            // the address of its inside::Site
  uint64_t enter = 0;           // of agent_enter
  bool is_conditional = false;  // it fires only if the probed instruction, a branch, is taken
  std::span<const AgentFirer> firers{};
  const SitePlace& place;
  bool finds_frames = false;  // the function is _Unwind_Find_FDE() of libgcc: of code of dvm's, the stub answers for it
  bool fires = true;          // a probe lies there, or agent_enter watches the function
};

struct Stub {
  std::vector<unsigned char> bytes;
  std::vector<MovedInstruction> moved;  // `to` from the beginning of the stub
  std::vector<FrameRow> frames;
  std::string_view refusal{};
};

inline constexpr uint32_t kMostStubBytes = 155;  // but for the code of its firers
inline constexpr uint32_t kMostStubRows = 24;    // the same

Stub make_stub(const StubRequest& request);

}  // namespace dvm::runtime
