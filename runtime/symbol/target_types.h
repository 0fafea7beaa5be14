#pragma once
// Types, functions and data of a target, from its symbols and debug information, which are opened when they are first needed. The
// target consists of the modules of a process or of a recording. Consumer context.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/type_desc.h"
#include "runtime/symbol/dwarf_describe.h"
#include "runtime/symbol/dwarf_file.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/go_program.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

class TargetTypes {
 public:
  // Adds files that a process has mapped. Each is taken once, and programs come first. Files of a recording have no address (0),
  // so the address of their data is 0.
  void add(std::vector<MappedObject> objects);

  // Sets why a process could not be examined, for errors when no file is known.
  void add_problem(std::string problem) { problem_ = std::move(problem); }

  // module: as in a probe description: a.out, libc, libc.so.6; empty: all files, the program first. Errors name the files that
  // were searched.
  Result<dif::TypeRef> find_type(std::string_view module, dif::DescribedAs as, std::string_view name);
  Result<dif::DataDesc> find_data(std::string_view module, std::string_view name);
  Result<dif::ConstantDesc> find_constant(std::string_view module, std::string_view name);
  // args[] of a probe on the code at an offset of a file. path: in the process.
  Result<std::vector<dif::ArgumentDesc>> arguments(std::string_view path, uint64_t offset, bool is_return);
  // Names of data that are similar to this one.
  std::vector<std::string> similar_data(std::string_view module, std::string_view name);

  dif::TypeDesc describe(dif::TypeRef type);
  std::vector<dif::MemberDesc> members(dif::TypeRef type);
  std::vector<dif::EnumeratorDesc> enumerators(dif::TypeRef type);

 private:
  struct Module {
    MappedObject object;
    bool is_opened = false;
    std::unique_ptr<DwarfFile> dwarf;  // null: it has none
    std::shared_ptr<const ElfObject> elf;
    std::string problem;                         // why there are no types
    std::optional<std::optional<GoProgram>> go;  // set when it is first needed
  };

  std::vector<Module*> matching(std::string_view pattern);
  DwarfFile* dwarf_of(Module& module);
  const ElfObject* elf_of(Module& module);
  GoAbi abi_of(Module& module, uint64_t address);
  void add_type(Module& module, std::string_view name, uint64_t address, dif::DataDesc& data);
  Error not_found(const std::vector<Module*>& modules, std::string_view pattern);
  static Error missing(const Module& module, std::string_view part);

  std::vector<Module> modules_;
  std::string problem_ = "there is no traced program to search (name one with -p PID or -c COMMAND)";
  DieTable table_;
};

}  // namespace dvm::runtime
