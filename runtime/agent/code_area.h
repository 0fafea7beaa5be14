#pragma once
// A code mapping, and the sites that it serves. It is filled from the beginning:
//
//   CodeHeader (a page) | agent_enter ... | programs | sites, stubs and their FDEs | patches | FrameTable

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"
#include "runtime/agent/patches.h"
#include "runtime/agent/stub.h"

namespace dvm::runtime {

constexpr uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) & ~(to - 1); }

struct CodeArea {
  static constexpr uint64_t kPageBytes = 4096;

  std::vector<AgentSite*> sites{};
  AddressRange near{}, range{};
  uint64_t wanted = 0;
  std::vector<std::byte> content{};  // after the header
  uint64_t table = 0, table_size = 0;
  std::vector<SitePatch> patches{};
  std::vector<Stub> stubs{};          // of the patches
  std::vector<AgentSite*> patched{};  // their sites
  struct Placed {
    uint64_t site, stub;
  };
  std::vector<Placed> placed{};  // addresses of their inside::Site and stub
  uint64_t frame_table = 0;

  uint64_t begin() const { return range.begin + kPageBytes; }
  uint64_t here() const { return begin() + content.size(); }
  uint64_t add(std::span<const std::byte> bytes);
  // Adds steps and their code. Returns the address; 0: there are none.
  uint64_t add_steps(std::vector<AgentStep>& steps);

  // Adds the descriptor of the sequence that reads steady memory. Returns its address.
  uint64_t add_restart(uint64_t code_at, const inside::CodeEntries& entries);
  static constexpr uint64_t kRestartRoom = 64;

  // Bytes of the unwind information that does not belong to stubs.
  static uint64_t fixed_frame_bytes();
  void begin_frames(uint64_t code_at, const inside::CodeEntries& entries);
  void add_frame(uint64_t stub_at, const Stub& stub);
  void finish_frames();

 private:
  uint64_t add_aggregation(const AgentClause& one);
  uint64_t add_code(const MachineCode& code);
  uint64_t add_record(const AgentClauseRecord& one);
  uint64_t add_text(const AgentStep& one);
  uint64_t add_parts(const AgentStep& one);
  uint64_t add_frame(uint64_t cie, const AddressRange& code, std::span<const FrameRow> rows);
  void note_frame(const AddressRange& code, uint64_t fde);

  std::vector<inside::FrameEntry> frames_{};
  uint64_t cie_ = 0, plain_ = 0;  // the FDE of functions that are called
};

}  // namespace dvm::runtime
