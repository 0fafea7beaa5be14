#pragma once
// Machine code of values (value_code.h) that read global variables.
//
// A variable that threads change is the sum of two words of inside::Globals.

#include <cstddef>

#include "dvm/dif/difo.h"
#include "runtime/agent/agent_site.h"
#include "runtime/instrument/agent/clause_place.h"
#include "runtime/instrument/agent/value_writer.h"

namespace dvm::runtime {

// Its functions return false for what cannot run in the thread.
class GlobalCode {
 public:
  GlobalCode(const dif::Difo& difo, const ClausePlace& place, ValueWriter& code, MachineCode& made)
      : difo_(difo), place_(place), code_(code), made_(made) {}

  bool load(dif::Instruction in, unsigned to);

 private:
  static constexpr unsigned kRcx = ValueWriter::kRcx;
  static constexpr unsigned kLoad = ValueWriter::kLoad;
  static constexpr unsigned kAddTo = 0x03;  // a register
  enum class GlobalWord : size_t { of_dvm = offsetof(inside::Globals, values), of_threads = offsetof(inside::Globals, changes) };

  const dif::Variable* kept(dif::Instruction in) const;
  void point_to(GlobalWord word, unsigned number);
  void access(unsigned opcode, unsigned reg, GlobalWord word, unsigned number);
  void load(const dif::Variable& variable, unsigned to);

  const dif::Difo& difo_;
  const ClausePlace& place_;
  ValueWriter& code_;
  MachineCode& made_;
};

}  // namespace dvm::runtime
