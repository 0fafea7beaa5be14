#pragma once
// Machine code of values (value_code.h) that read and change global variables.
//
// A variable that threads change is the sum of two words of inside::Globals. A DIFO changes at most one, by a locked
// instruction: from the value that it has read. If another thread has changed it meanwhile, all code of the DIFO runs again.
//
// If several steps of a firing use a variable, a step `see` reads it, all code uses that value, and at most one DIFO changes it.
// If another thread has changed it meanwhile, a step `retry` leads back to `see`.

#include <cstddef>
#include <optional>

#include "dvm/dif/difo.h"
#include "runtime/agent/agent_site.h"
#include "runtime/instrument/agent/clause_place.h"
#include "runtime/instrument/agent/value_writer.h"

namespace dvm::runtime {

// What the step `see` is to do for the time.
struct SeeTimes {
  bool is_read = false;      // steps up to `retry` read the time of the firing: again, each time
  bool is_recorded = false;  // records have the time of the step
};

// Its functions return false for what cannot run in the thread.
class GlobalCode {
 public:
  GlobalCode(const dif::Difo& difo, const ClausePlace& place, ValueWriter& code, MachineCode& made)
      : difo_(difo), place_(place), code_(code), made_(made) {}

  // Before all code of the DIFO.
  bool begin();
  bool load(dif::Instruction in, unsigned to);
  // To the value in a register.
  bool change(dif::Instruction in, unsigned value);
  void see(const dif::Variable& variable, SeeTimes times);

 private:
  static constexpr unsigned kRax = ValueWriter::kRax, kRcx = ValueWriter::kRcx, kRdx = ValueWriter::kRdx, kRsi = 6;
  static constexpr unsigned kLoad = ValueWriter::kLoad, kStore = ValueWriter::kStore;
  static constexpr unsigned kAddTo = 0x03, kSubtractFrom = 0x2b;  // a register
  enum class GlobalWord : size_t { of_dvm = offsetof(inside::Globals, values), of_threads = offsetof(inside::Globals, changes) };

  const dif::Variable* kept(dif::Instruction in) const;
  bool is_read_before(const dif::Instruction& change) const;
  void point_to(GlobalWord word, unsigned number);
  void access(unsigned opcode, unsigned reg, GlobalWord word, unsigned number);
  void access_workspace(unsigned opcode, unsigned reg, size_t offset);
  void load(const dif::Variable& variable, unsigned to);
  void add_exchange(unsigned number);
  void exchange(unsigned number);
  void change_seen(unsigned number);

  const dif::Difo& difo_;
  const ClausePlace& place_;
  ValueWriter& code_;
  MachineCode& made_;
  std::optional<unsigned> changed_;  // the variable that the code changes from its value, until it has
  size_t begin_ = 0;                 // from where it does this again
};

// The threads have room for the variable.
bool has_room(const dif::Variable& variable);
// The code of the step `see` of a variable.
MachineCode make_see_code(const dif::Variable& variable, const ClausePlace& place, SeeTimes times);
// Code that changes ClausePlace::seen, with code before it that tells whether it runs; empty: it always does. The value is not 0
// if the change has to be tried again.
MachineCode make_change_code(const MachineCode& condition, const MachineCode& change);

}  // namespace dvm::runtime
