#pragma once
// Which variant of an indirect function a process uses. Such a symbol (STT_GNU_IFUNC: strlen, memcpy) is the address of a
// function that chooses one of several variants for the CPU it runs on. It is called once, at the start; what it answers lies
// from then on in each slot that calls go through:
//
//   libc.so.6  strlen: IFUNC at 9f1c0, the function that chooses
//     relocation of libc.so.6: IRELATIVE 9f1c0     ──> slot in the process ──> the variant for AVX2, somewhere in libc.so.6
//     relocation of a program: JUMP_SLOT strlen    ──> slot in the process ──> the same, once the program has called it
//
// A slot that holds what the file has there is not filled yet: the program has not called the function, or is linked statically
// and has just started. Then any of the functions whose address the chooser takes may be the one. Consumer context.

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

// A place in memory that is filled with the address of a function, by addresses as the file has them.
struct FunctionSlot {
  uint64_t address = 0;
  uint64_t initial = 0;   // what the file has there
  uint64_t resolver = 0;  // of an indirect function of the file; 0: the function is known by its name
  std::string name{};
};

// The indirect functions of a file; none if it cannot be read.
std::vector<FunctionSlot> read_function_slots(const std::string& path);

class IndirectFunctions {
 public:
  IndirectFunctions(int32_t pid, const std::vector<MappedObject>& objects, ElfCache& files)
      : pid_(pid), objects_(objects), files_(files) {}

  // The variant that the process uses, by the name of the indirect function; where that is not decided yet, all that it may come
  // to use, marked as indirect. An error says why none is known.
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
