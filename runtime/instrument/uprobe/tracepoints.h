#pragma once
// Probes at tracepoints of the kernel: their events become programs, attached as raw tracepoints.
//
//   KernelEvent ─ kernel_types.h ─> SiteShape, CaptureGate ─ capture_program.h ─> program ─ raw tracepoint
//
// System calls whose probes need the same share a program, which finds the probe by the number of the call. Every other event
// of a probe has a program of its own. Programs of one tracepoint run in the order of their probes' ids.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "runtime/instrument/uprobe/capture_program.h"
#include "runtime/instrument/uprobe/delivery.h"
#include "runtime/instrument/uprobe/kernel_types.h"

namespace dvm::runtime {

class Tracepoints {
 public:
  // Plans the probe; what this kernel does not have is refused.
  Status plan(const EnabledProbe& enabled, Delivery& delivery, std::vector<Refused>& refused);
  // Attaches what was planned.
  Status attach(const ProgramMaps& maps, const TaskLayout& tasks);
  void detach();

 private:
  struct Planned {
    std::string tracepoint;
    CaptureNeeds needs;
    SiteShape shape = SiteKind::tracepoint;
    CaptureGate gate;
    std::array<uint32_t, kMostCalls> ids{};  // of probes, by the number of a system call
    FileDescriptor table, program, link;

    bool has_room_for(const std::vector<uint16_t>& calls) const;
    bool can_share(const Planned& other) const;
  };

  // Learns the facts that do not differ between probes.
  Status learn();
  std::vector<const KernelEvent*> events_of(const EnabledProbe& enabled) const;
  Result<Planned> make(const KernelEvent& event, const EnabledProbe& enabled) const;
  Status add(Planned planned, const std::vector<uint16_t>& calls, Delivery& delivery);
  static Status attach(Planned& planned, const ProgramMaps& maps, const TaskLayout& tasks);

  std::shared_ptr<const KernelTypes> types_;
  int16_t memory_member_ = 0;
  uint64_t own_memory_ = 0;
  std::vector<Planned> planned_;
};

}  // namespace dvm::runtime
