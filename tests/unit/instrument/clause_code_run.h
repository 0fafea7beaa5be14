#pragma once
// Runs machine code of DIF for the traced thread.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "dvm/dif/variable.h"
#include "runtime/instrument/agent/clause_code.h"

namespace dvm::runtime {

using dif::BuiltIn, dif::Instruction, dif::Opcode;

inline constexpr int32_t kPid = 4321;
inline constexpr uint64_t kTid = 4325, kTime = 123456789012345;
inline const dif::DataType kWord{dif::TypeKind::integer, true, false, 8, "int64_t"};

inline Instruction op(Opcode opcode, unsigned r1, unsigned r2, unsigned rd) { return Instruction::registers(opcode, r1, r2, rd); }
inline Instruction load(BuiltIn variable, unsigned rd) {
  return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(variable), rd);
}

inline inside::Workspace workspace_with(uint64_t* variables) {
  inside::Workspace made{};
  made.pid = kPid + 1, made.tid = kTid, made.time = kTime, made.variables = variables;
  return made;
}

class Code {
 public:
  explicit Code(const std::vector<unsigned char>& bytes)
      : memory_(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    std::memcpy(memory_, bytes.data(), bytes.size());
    mprotect(memory_, kBytes, PROT_READ | PROT_EXEC);
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() { munmap(memory_, kBytes); }
  uint64_t run(const std::array<uint64_t, inside::kSavedWords>& saved) const {
    inside::Workspace workspace = workspace_with(nullptr);
    return run(saved, workspace);
  }
  uint64_t run(const std::array<uint64_t, inside::kSavedWords>& saved, inside::Workspace& workspace) const {
    const uint64_t* words = saved.data();
    inside::Workspace* its = &workspace;
    uint64_t value = 0;
    asm volatile("lea -128(%%rsp), %%rsp; call *%[code]; lea 128(%%rsp), %%rsp"  // below a red zone
                 : "=a"(value), "+D"(words), "+S"(its)
                 : [code] "r"(memory_), "b"(workspace.variables)
                 : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
    return value;
  }

 private:
  static constexpr size_t kBytes = 4096;
  void* memory_;
};

inline std::vector<unsigned char> code_of(const dif::Difo& difo, const dif::DataType& type = kWord,
                                          SiteShape shape = SiteKind::entry, std::optional<uint32_t> exit = {}) {
  return make_value_code(difo, type, {shape, exit, kPid}).code.bytes;
}

inline uint64_t run(const dif::Difo& difo, uint64_t arg0, uint64_t arg1, const dif::DataType& type = kWord) {
  const std::vector<unsigned char> bytes = code_of(difo, type);
  EXPECT_FALSE(bytes.empty());
  std::array<uint64_t, inside::kSavedWords> saved{};
  saved[saved::rdi] = arg0, saved[saved::rsi] = arg1;
  return bytes.empty() ? 0 : Code(bytes).run(saved);
}

// Returns the variable.
inline dif::Difo of_variable(BuiltIn variable) { return {{load(variable, 1), op(Opcode::ret, 0, 0, 1)}, {}, "", {}, kWord}; }

}  // namespace dvm::runtime
