#pragma once
// The state that a DIFO reads and changes.
//   VariableState  One for each consumer: globals, thread-local variables, associative arrays. It lives as long as tracing.
//   MachineState   The state of the current firing: the fault, scratch, the tuple stack, clause-local variables, and the Host.
// By-reference values (strings, bytes) are addresses of D memory: the string table, scratch, variable storage, captured memory,
// and the names of the firing. They look like addresses of a kernel (vm/state/address.h). Loads and stores are checked against
// these regions. A load from any other address reads the traced process; if it is not mapped there, the load is a fault badaddr.
// Memory is allocated when these objects are made, never while DIF runs.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "dvm/dif/difo.h"
#include "dvm/dif/fault.h"
#include "dvm/vm/host.h"

namespace dvm::vm {

struct FaultState {
  dif::Fault id = dif::Fault::none;
  uint64_t value = 0;  // the address, for badaddr; otherwise 0
  uint32_t pc = 0;     // instruction index in the DIFO
};

struct StateLimits {
  size_t strsize = 256;         // the most characters of a string; storage has one byte more for the NUL
  size_t scratch = 64 * 1024;   // bytes per clause
  size_t requested = SIZE_MAX;  // the most of these that alloca() and copyin() may use
  size_t dynvarsize = 1 << 20;  // bytes of dynamic variables
};

class VariableState {
 public:
  // variables: all user variables of the session.
  VariableState(std::span<const dif::Variable> variables, const StateLimits& limits);
  ~VariableState();
  uint64_t dynamic_drops() const;  // dynamic variables dropped for lack of space
  size_t live_dynamic() const;     // number of dynamic variables that exist
  // Sets the thread-local variables of a thread to 0. Probe context.
  void forget_thread(int32_t tid) noexcept;
  // Makes a string table readable for all DIFOs, because a variable may keep a pointer to one of its strings. Consumer context,
  // before the first firing.
  void share_strings(std::string_view table);
  // The value of a global integer. Probe context.
  uint64_t global(uint16_t id) const noexcept;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// The part of the machine state that is reset for each firing and clause. It is separate so that this is inlined in the ECB loop.
struct MachineHead {
  FaultState fault;
  const Firing* firing = nullptr;
  Host* host = nullptr;
  uint32_t epid = 0;
  bool wrote_target = false;   // captured memory may be out of date
  bool is_tokenizing = false;  // strtok() has a string
  bool has_locals = false;     // the session has clause-local variables

  size_t scratch_used = 0, scratch_requested = 0;
  size_t scratch_end = 0;   // end of the scratch that this clause may use
  size_t scratch_size = 0;  // bytes of scratch for a firing
  size_t scratch_room = 0;  // bytes of scratch for a clause
  // The captured string that DIF loaded last, if it ends with a NUL. Most are read again at once.
  const char* text = nullptr;
  size_t text_size = 0;

  void set_fault(dif::Fault id, uint64_t value = 0) noexcept {
    if (fault.id == dif::Fault::none) fault = {id, value, 0};
  }
};

class MachineState {
 public:
  MachineState(VariableState& variables, const StateLimits& limits);
  ~MachineState();

  // Starts a firing: resets the fault, scratch and clause-local variables.
  void begin_firing(const Firing& firing, Host& host) noexcept {
    head_.firing = &firing;
    head_.host = &host;
    head_.wrote_target = head_.is_tokenizing = false;
    if (head_.has_locals) reset_locals();
    head_.scratch_used = 0;
    begin_clause(firing.epid);
  }
  // Starts the next clause of the same firing: resets the fault. Clause-local variables stay, and so does the scratch to which
  // they may point, unless too little would be left for this clause.
  void begin_clause(uint32_t epid) noexcept {
    head_.epid = epid;
    head_.fault = {};
    if (head_.scratch_size - head_.scratch_used < head_.scratch_room) head_.scratch_used = 0;
    head_.scratch_end = head_.scratch_used + head_.scratch_room;
    head_.scratch_requested = 0;
    head_.text = nullptr;
  }

  const FaultState& fault() const noexcept { return head_.fault; }
  // Sets a fault outside of DIF, if a value cannot be used.
  void set_fault(dif::Fault id, uint64_t value = 0) noexcept { head_.set_fault(id, value); }
  // Copy the memory of a by-reference value, with the checks of a load: a string with its NUL or its first to.size() bytes, or
  // exactly to.size() bytes. False: the fault badaddr is set.
  bool copy_string(uint64_t value, std::span<std::byte> to) noexcept;
  bool copy_bytes(uint64_t value, std::span<std::byte> to) noexcept;
  // Copies a string of at most `most` bytes, its NUL, and zeros up to a whole word. Returns the number of bytes written, a
  // multiple of 8; 0: a fault is set. There must be room for most + 1 bytes, rounded up to words.
  size_t copy_string_in_words(uint64_t value, size_t most, std::byte* to) noexcept;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  void reset_locals() noexcept;

  std::unique_ptr<Impl> impl_;
  MachineHead& head_;  // of impl_
};

}  // namespace dvm::vm
