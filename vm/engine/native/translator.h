#pragma once
// The interface between dvm and the plugin that translates DIF to machine code (vm/engine/llvm). The plugin is a separate
// library, which is loaded when it is needed (load_translator.h). It depends on nothing in dvm but this header.
//
// The code of a DIFO is a function of type PreparedDifo::Run (dvm/vm/engine.h). The code of the body of a clause is a function of
// type PreparedBody::Run (dvm/vm/body.h), followed by its gate. Code is position-independent, without constant tables, symbols
// and relocations, and uses only its arguments. So it can be mapped anywhere. It calls C++ only through the tables of helpers in
// its context.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/difo.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"
#include "dvm/vm/body.h"

namespace dvm::vm::native {

// The number of a helper: an opcode's body by its number, then subroutines by theirs, then getters by their position in
// kBuiltIns.
inline constexpr unsigned kFirstSubroutine = dif::kOpcodeCount + 1;
inline constexpr unsigned kFirstGetter = kFirstSubroutine + dif::kSubroutineCount;
inline constexpr unsigned kHelpers = kFirstGetter + dif::kBuiltIns.size();

// The constants of one DIFO that depend on where it and dvm lie in memory.
struct CodeContext {
  const void* const* helpers = nullptr;
  const dif::Difo* difo = nullptr;
  uint64_t strings = 0;  // the address of its string table, as a D address (vm/state/address.h)
};

// The constants of a body.
struct BodyContext {
  const BodyHelpers* helpers = nullptr;
  const void* const* objects = nullptr;  // of its steps
  const CodeContext* difos = nullptr;    // by number
};

// A member, by its offset in bytes.
struct IntegerAt {
  uint32_t offset = 0;
  uint32_t size = 0;  // bytes of an integer
  bool is_signed = false;
};

// A member that is a pointer. Code never stores a value of DIF there, and loads pointers only from such members.
struct PointerAt {
  uint32_t offset = 0;
};
constexpr PointerAt operator+(uint32_t before, PointerAt member) { return {before + member.offset}; }

// The offsets of what code reads and writes: members of the machine state, unless another structure is named.
struct MachineLayout {
  uint32_t context = 0;  // the CodeContext or BodyContext, in the object that is run
  PointerAt impl;        // of the state, in MachineState
  uint32_t fault = 0, fault_pc = 0, units = 0;
  PointerAt difo, firing, variables;
  uint32_t depth = 0, entries = 0;                              // of the tuple stack
  uint32_t entry_size = 0, entry_value = 0, entry_of_size = 0;  // of an entry
  uint32_t entry_type = 0;
  PointerAt entry_bytes;
  uint32_t locals = 0, globals = 0, threads = 0;  // tables of slots; globals and threads: in `variables`
  PointerAt slots_first;                          // of a table
  uint32_t slots_count = 0;
  uint32_t slot_size = 0, slot_value = 0, slot_known = 0, slot_mask = 0, slot_sign = 0;  // of a slot
  PointerAt slot_storage, slot_recent;
  uint32_t node_key = 0, node_value = 0;  // of a dynamic variable; the key: tid, id, thread, has_tuple
  std::vector<IntegerAt> fields;          // of the firing, by position in kBuiltIns; size 0: a getter makes the value
  uint32_t cost_size = 0, cost_executed = 0, cost_units = 0, cost_faults = 0;
};

struct Request {
  const dif::Difo& difo;  // of a VerifiedDifo
  const MachineLayout& layout;
  bool counts = false;             // CostPolicy::blocks
  bool general_regs_only = false;  // no vector and no floating-point registers
};

struct BodyCode {
  const BodyRequest& body;
  const MachineLayout& layout;
  bool general_regs_only = false;
};

struct Translation {
  std::vector<std::byte> code;  // begins with the function
  std::string error;            // why there is no code
  size_t gate = 0;              // where the gate begins; 0: there is none
};

// The interface that the plugin exports. The functions throw if memory runs out or LLVM fails.
struct TranslatorPlugin {
  uint64_t interface = 0;      // kInterface: the headers and tables that it was compiled with (interface.cmake)
  const char* llvm = nullptr;  // the version of LLVM
  Translation (*translate)(const Request&) = nullptr;
  Translation (*translate_body)(const BodyCode&) = nullptr;
};
using GetTranslator = const TranslatorPlugin* (*)();
inline constexpr const char* kGetTranslator = "dvm_translator";

}  // namespace dvm::vm::native
