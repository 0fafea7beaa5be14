#pragma once
// The call frame information of one file (.eh_frame): for an address in a function, where the frame begins and where it has kept
// the return address and the registers of its caller.
//
//   CFA  the canonical frame address: the stack pointer as it was before the call, a register plus a constant or, where the stack
//        was realigned, the word that lies there
//
// libdw interprets the tables; what it said is kept, for the same addresses come again and again.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/symbol/frame_registers.h"

namespace dvm::runtime {

struct FrameRule {
  enum class Kept : uint8_t { same, undefined, at_cfa, at_register };
  struct SavedRegister {
    Kept kept = Kept::same;
    uint8_t base = 0;  // of at_register
    int32_t offset = 0;
  };

  uint64_t begin = 0, end = 0;  // addresses of the file for which it holds
  bool is_known = false;        // false: there is no information, or none that dvm understands
  bool is_signal = false;       // what called it was interrupted, and did not call
  bool cfa_is_loaded = false;
  uint8_t cfa_base = 0;
  int32_t cfa_offset = 0;
  std::array<SavedRegister, kFrameRegisters> places{};
};

class CallFrames {
 public:
  // Null: it cannot be read, or has no such information.
  static std::unique_ptr<CallFrames> open(const std::string& path);
  ~CallFrames();

  // The address in the file of what lies at an offset of it, if that is code.
  std::optional<uint64_t> address_of(uint64_t offset) const;
  // Good until the next call.
  const FrameRule& at(uint64_t address);
  // True if every function of the table that has a frame sets %rbp to it.
  bool keeps_frame_pointers();

 private:
  struct File;
  explicit CallFrames(std::unique_ptr<File> file);

  std::unique_ptr<File> file_;
  std::vector<FrameRule> rules_;  // by address, the latest
};

}  // namespace dvm::runtime
