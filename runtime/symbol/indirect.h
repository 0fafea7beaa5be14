#pragma once
// Finds the variant of an indirect function that a process uses. Such a symbol (STT_GNU_IFUNC: strlen, memcpy) is the address of
// a resolver, which chooses one of several variants for the CPU. It is called once, at the start. Calls then go through slots
// that hold its result:
//
//   libc.so.6  strlen: IFUNC at 9f1c0, the resolver
//     relocation of libc.so.6: IRELATIVE 9f1c0     ──> slot in the process ──> the variant for AVX2, somewhere in libc.so.6
//     relocation of a program: JUMP_SLOT strlen    ──> slot in the process ──> the same, after the first call
//
// A slot that still has the contents of the file is not filled yet: the program has not called the function, or is linked
// statically and has just started. Then any function whose address the resolver takes may be the variant. Consumer context.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/code/module_code.h"
#include "runtime/process/target_memory.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// A slot that receives the address of a function. Addresses are those of the file.
struct FunctionSlot {
  uint64_t address = 0;
  uint64_t initial = 0;   // the contents of the file
  uint64_t resolver = 0;  // the resolver of an indirect function of the file; 0: the function is given by its name
  std::string name{};
};

// The slots of a file; empty if it cannot be read.
std::vector<FunctionSlot> read_function_slots(const std::string& path);

class IndirectFunctions {
 public:
  IndirectFunctions(int32_t pid, const std::vector<MappedObject>& objects, ElfCache& files)
      : pid_(pid), objects_(objects), files_(files) {}

  // The variant that the process uses, under the name of the indirect function. If it is not resolved yet, all possible variants,
  // marked as indirect. The error says why none is known.
  Result<std::vector<ElfFunction>> find(const MappedObject& object, const ElfObject& elf, const ElfFunction& function);

 private:
  struct Sought {
    const MappedObject& object;
    const ElfObject& elf;
    uint64_t resolver = 0;
    std::vector<std::string_view> names;
    bool is_elsewhere = false;
  };
  std::optional<uint64_t> look_in(const MappedObject& importer, Sought& sought);
  std::optional<uint64_t> look_at(const FunctionSlot& slot, uint64_t bias, Sought& sought);
  const std::vector<FunctionSlot>& slots(const std::string& path);
  std::optional<uint64_t> chosen(Sought& sought);
  std::vector<ElfFunction> candidates(const Sought& sought, const ElfFunction& function);
  ElfFunction describe(const Sought& sought, const ElfFunction& function, uint64_t address);
  const ModuleCode* code(const std::string& path);

  int32_t pid_;
  const std::vector<MappedObject>& objects_;
  ElfCache& files_;
  std::map<std::string, std::vector<FunctionSlot>> slots_;   // by path
  std::map<std::string, std::unique_ptr<ModuleCode>> code_;  // likewise; null: cannot be read
  std::unique_ptr<TargetMemory> memory_ = std::make_unique<TargetMemory>();
};

}  // namespace dvm::runtime
