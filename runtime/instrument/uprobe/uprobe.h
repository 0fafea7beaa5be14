#pragma once
// Kernel uprobes through BPF: firings of live processes, as records in one ring buffer.
//
//   CaptureNeeds ─ record.h ─> RecordLayout ─ capture_program ─> BPF instructions ─ kernel ─> program
//   sites ──────── grouped by file, process and program ──────── attach ────────────────────> links (uprobe_multi)
//   ring ───────── Ring::consume ─ Delivery ─> vm::Firing ─> EventSink
//
// There is one program for each distinct CaptureNeeds and kind of site, so that a record holds what the clauses read and nothing
// more. A link covers all probes of one file in one process that share a program; its cookies say which of them fired. The probe
// profile-N uses perf events of the CPU clock, one a CPU. System calls, sched, proc and rawtp use raw tracepoints
// (tracepoints.h). Their programs write into the same ring, so firings keep their order. Where code has no frame pointers, a
// record holds registers and a piece of the stack, and Delivery has it unwound.
//
// Invariants
//   - The kernel's objects belong to file descriptors of dvm. When dvm dies, in any way, the kernel removes every probe.
//   - A program sleeps (to fault a page in) only while it holds no record, so a slow page never holds up the ring.
//   - A firing that finds no room is counted in drops(): firings == records + drops.
//   - The ring is never signalled; polls go by the clock. A process that maps a file rings a bell of its own (load_watch.h).
//
// Known limits, both of the kernel
//   - It follows 64 nested uretprobes of a thread. A deeper call fires its entry but not its return. Functions that call
//     themselves get no uretprobe unless the script wants it (return_plan.h). For all others, such returns are counted in
//     missed_returns() (return_losses.h).
//   - A process forked by the traced one keeps the breakpoints that it was forked with. Unless it is followed (followed.h),
//     it pays for the traps, uncounted.

#include <cstddef>
#include <memory>

#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

struct UprobeOptions {
  size_t ring_bytes = 8u << 20;  // rounded up to a power of two, at least one page
};

// An instrument that counts firings and delivers none: the lower limit of what a firing can cost.
class CountingInstrument : public Instrument {
 public:
  virtual uint64_t count_of(const Probe& probe) const = 0;
};
std::unique_ptr<CountingInstrument> make_counting_instrument();

// True if this process has the kernel features and privileges that the instrument needs.
bool may_use_bpf();
constexpr const char* kNoRights = "BPF needs CAP_BPF and CAP_PERFMON";

// Why the instrument refuses a probe; empty: it takes it. It takes uprobe sites, tracepoints and timers on every CPU.
inline std::string_view uprobe_refusal(const Probe& probe) {
  if (std::holds_alternative<UprobeSite>(probe.site) || std::holds_alternative<TracepointSite>(probe.site)) return "";
  const auto* timer = std::get_if<TimerSite>(&probe.site);
  return timer && timer->every_cpu ? "" : "dvm's own clock fires it";
}

// If BPF is not available, enable() says what is missing and what to do.
std::unique_ptr<Instrument> make_uprobe_instrument(UprobeOptions options = {});

}  // namespace dvm::runtime
