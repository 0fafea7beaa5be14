#pragma once
// Makes the probes of one function: entry, return, and its instructions by their offsets in hexadecimal. A glob means all that it
// matches; an empty name means all.

#include "runtime/catalog/catalog.h"
#include "runtime/code/module_code.h"
#include "runtime/provider/pid_functions.h"
#include "runtime/symbol/go_program.h"
#include "runtime/symbol/goroutine.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// The limit of dtrace for all pid probes.
inline constexpr size_t kMostPidProbes = 250'000;

enum class PidName : uint8_t { wrong, whole, offset, any };
// whole: entry or return; offset: one instruction; any: a glob.
PidName kind_of_name(std::string_view name);
// Offset in the form of an instruction's probe name: hexadecimal, in lower case, without leading zeros.
std::optional<uint64_t> parse_offset(std::string_view name);

// The error of an offset. An empty tag: there is none.
struct PidRefusal {
  std::string tag, reason;
};

class PidProbes {
 public:
  PidProbes(int32_t pid, const MappedObject& object, const ElfObject& elf, Catalog& catalog)
      : pid_(pid), provider_("pid" + std::to_string(pid)), object_(object), elf_(elf), catalog_(catalog) {}

  PidRefusal add(const ChosenFunction& function, std::string_view name);
  // Adds an instruction by its address, without a symbol: the function is "-", the name is the address.
  PidRefusal add_address(uint64_t file_address, uint64_t offset, std::string_view name);

 private:
  void add_whole(const ChosenFunction& function, std::string_view name);
  PidRefusal add_offset(const ChosenFunction& function, std::string_view name);
  PidRefusal add_matching(const ChosenFunction& function, std::string_view glob);
  void add_instruction(const ChosenFunction& function, const ElfFunction& place, uint64_t offset);
  Probe make(std::string_view function, std::string_view name, UprobeSite site) const;
  UprobeSite site_of(const ElfFunction& function, bool is_return);
  UprobeSite instruction_site(const ElfFunction* function, uint64_t offset);
  const std::optional<GoProgram>& go();
  GoAbi abi_of(const ElfFunction& function);
  Goroutine goroutine_of(const ElfFunction* function, GoAbi abi);
  const ModuleCode* code();
  CodeBytes bytes_of(const ElfFunction& function);

  int32_t pid_;
  std::string provider_;
  const MappedObject& object_;
  const ElfObject& elf_;
  Catalog& catalog_;
  std::unique_ptr<ModuleCode> code_;            // once it is needed
  std::optional<std::optional<GoProgram>> go_;  // likewise
  std::optional<Goroutines> goroutines_;        // likewise
};

}  // namespace dvm::runtime
