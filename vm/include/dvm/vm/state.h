#pragma once
// The state that a DIFO reads and changes.
//   VariableState  per consumer: globals, thread-local variables, associative arrays; lives as long as tracing
//   MachineState   per firing: the fault, scratch, the tuple stack, clause-local variables, and the Host
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
  size_t strsize = 256;         // characters of a string that are kept; a NUL follows them in storage
  size_t scratch = 64 * 1024;   // bytes per clause
  size_t requested = SIZE_MAX;  // of these, bytes that alloca() and copyin() may ask for
  size_t dynvarsize = 1 << 20;  // bytes of dynamic variables
};

class VariableState {
 public:
  // variables: all user variables of the session.
  VariableState(std::span<const dif::Variable> variables, const StateLimits& limits);
  ~VariableState();
  uint64_t dynamic_drops() const;  // dynamic variables dropped for lack of space
  size_t live_dynamic() const;     // dynamic variables that exist
  // Sets the thread-local variables of a thread to 0. Probe context.
  void forget_thread(int32_t tid) noexcept;
  // Lets other objects load from this string table. A variable may keep a pointer to one of its strings. Consumer context, before
  // the first firing.
  void share_strings(std::string_view table);
  // The value of a global integer. Probe context.
  uint64_t global(uint16_t id) const noexcept;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

// What firings and clauses begin anew, where the ECB loop can do it without a call.
struct MachineHead {
  FaultState fault;
  const Firing* firing = nullptr;
  Host* host = nullptr;
  uint32_t epid = 0;
  bool wrote_target = false;   // captured memory may be out of date
  bool is_tokenizing = false;  // strtok() has a string
  bool has_locals = false;     // the session has clause-local variables
  size_t scratch_used = 0, scratch_requested = 0;
  size_t scratch_end = 0;                     // what this clause may use up to
  size_t scratch_size = 0, scratch_room = 0;  // of a firing, of a clause
  // A captured string that DIF was given, which a NUL ends: most are read again at once.
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

  // Starts a firing: forgets the fault, scratch and, with a new firing, clause-local variables.
  void begin_firing(const Firing& firing, Host& host) noexcept {
    head_.firing = &firing;
    head_.host = &host;
    head_.wrote_target = head_.is_tokenizing = false;
    if (head_.has_locals) reset_locals();
    head_.scratch_used = 0;
    begin_clause(firing.epid);
  }
  // Starts the next clause of the same firing: forgets the fault. Clause-local variables stay, as does the scratch that they may
  // point to, unless the clause would have too little left.
  void begin_clause(uint32_t epid) noexcept {
    head_.epid = epid;
    head_.fault = {};
    if (head_.scratch_size - head_.scratch_used < head_.scratch_room) head_.scratch_used = 0;
    head_.scratch_end = head_.scratch_used + head_.scratch_room;
    head_.scratch_requested = 0;
    head_.text = nullptr;
  }

  const FaultState& fault() const noexcept { return head_.fault; }
  // Sets a fault when no DIF runs, because a value could not be used.
  void set_fault(dif::Fault id, uint64_t value = 0) noexcept { head_.set_fault(id, value); }
  // Copies what a by-reference value refers to, checked as a load: a string with its NUL or the first to.size() bytes
  // of it, or exactly to.size() bytes. False: fault badaddr is set.
  bool copy_string(uint64_t value, std::span<std::byte> to) noexcept;
  bool copy_bytes(uint64_t value, std::span<std::byte> to) noexcept;
  // A string of at most so many bytes with its NUL and zeros up to a whole word. Returns the bytes written: a multiple of 8, or 0
  // and the fault. There must be room for most + 1 bytes, rounded up to words.
  size_t copy_string_in_words(uint64_t value, size_t most, std::byte* to) noexcept;

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  void reset_locals() noexcept;

  std::unique_ptr<Impl> impl_;
  MachineHead& head_;  // of impl_
};

}  // namespace dvm::vm
