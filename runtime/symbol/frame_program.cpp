// Reads call frame instructions. Tested by tests/unit/instrument/frame_program_test.cpp.

#include "runtime/symbol/frame_program.h"

#include <dwarf.h>

#include <string_view>

#include "runtime/symbol/frame_registers.h"

namespace dvm::runtime {
namespace {

// The operands of each instruction, in order: u, a number of variable length; 1, 2, 4, 8, so many bytes; b, a block of bytes.
// Null: it is not known.
const char* operands_of(uint8_t opcode) {
  switch (opcode) {
    case DW_CFA_nop:
    case DW_CFA_remember_state:
    case DW_CFA_restore_state:
    case DW_CFA_GNU_window_save:
      return "";
    case DW_CFA_advance_loc1:
      return "1";
    case DW_CFA_advance_loc2:
      return "2";
    case DW_CFA_advance_loc4:
      return "4";
    case DW_CFA_MIPS_advance_loc8:
      return "8";
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_GNU_args_size:
      return "u";
    case DW_CFA_offset_extended:
    case DW_CFA_offset_extended_sf:
    case DW_CFA_register:
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
    case DW_CFA_GNU_negative_offset_extended:
      return "uu";
    case DW_CFA_def_cfa_expression:
      return "b";
    case DW_CFA_expression:
    case DW_CFA_val_expression:
      return "ub";
    default:
      return nullptr;
  }
}

class OperandReader {
 public:
  explicit OperandReader(std::span<const uint8_t> program) : left_(program) {}

  bool at_end() const { return left_.empty(); }
  bool failed() const { return failed_; }

  uint8_t byte() { return left_.empty() ? fail() : take(1).front(); }
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; !failed_; shift += 7) {
      const uint8_t one = byte();
      if (shift < 64) value |= uint64_t{one & 0x7fu} << shift;
      if ((one & 0x80) == 0) break;
    }
    return value;
  }
  std::span<const uint8_t> take(uint64_t count) {
    if (count > left_.size()) return fail(), std::span<const uint8_t>();
    const auto taken = left_.first(static_cast<size_t>(count));
    left_ = left_.subspan(static_cast<size_t>(count));
    return taken;
  }

 private:
  uint8_t fail() {
    failed_ = true;
    left_ = {};
    return 0;
  }

  std::span<const uint8_t> left_;
  bool failed_ = false;
};

// The first operands of an instruction.
struct FirstOperands {
  uint64_t first = 0;
  std::span<const uint8_t> block;
};

FirstOperands read_operands(OperandReader& reader, std::string_view kinds) {
  FirstOperands operands;
  for (size_t i = 0; i < kinds.size(); i++) {
    if (kinds[i] == 'b')
      operands.block = reader.take(reader.number());
    else if (kinds[i] != 'u')
      reader.take(static_cast<uint64_t>(kinds[i] - '0'));
    else if (const uint64_t value = reader.number(); i == 0)
      operands.first = value;
  }
  return operands;
}

// The stubs that the linker makes for calls of other files only jump.
bool is_of_linker(std::span<const uint8_t> expression) {
  return expression.size() > 3 && expression[0] == DW_OP_breg0 + kStackPointer && expression[2] == DW_OP_breg0 + kReturnAddress;
}

bool starts_from_frame_pointer(uint8_t opcode, const FirstOperands& operands) {
  if (opcode == DW_CFA_def_cfa_expression) return !operands.block.empty() && operands.block[0] == DW_OP_breg0 + kFramePointer;
  const bool names_register = opcode == DW_CFA_def_cfa_register || opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_sf;
  return names_register && operands.first == kFramePointer;
}

}  // namespace

bool hides_caller(std::span<const uint8_t> program) {
  constexpr uint8_t kWithOperand = 0xc0;  // the upper bits say which instruction it is, the lower ones are an operand
  bool has_frame = false, has_pointer = false;
  for (OperandReader reader(program); !reader.at_end();) {
    const uint8_t opcode = reader.byte();
    const char* kinds = (opcode & kWithOperand) == DW_CFA_offset ? "u" : (opcode & kWithOperand) ? "" : operands_of(opcode);
    if (kinds == nullptr) return true;
    const FirstOperands operands = read_operands(reader, kinds);
    if (reader.failed()) return true;
    if (opcode == DW_CFA_def_cfa_expression && is_of_linker(operands.block)) return false;
    has_frame |= opcode == DW_CFA_def_cfa_offset || opcode == DW_CFA_def_cfa_expression || opcode == DW_CFA_def_cfa;
    has_pointer |= starts_from_frame_pointer(opcode, operands);
  }
  return has_frame && !has_pointer;
}

}  // namespace dvm::runtime
