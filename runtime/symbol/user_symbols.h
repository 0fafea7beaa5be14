#pragma once
// Resolves addresses of a process to modules, functions and variables, for ustack(), usym() and the like. kKernelPid stands for
// the kernel (kernel_symbols.h).
//
//   pid, address -> the object that is mapped there -> its function or variable -> its name, demangled
//
// The map of a process is read by learn(), preferably before the process can end. It is read again for an address that is new or
// not in it, because libraries may have been opened or closed; this takes at most a twentieth of the time. Files are read when an
// address in them is looked up. An address at which two files have been mapped has no name. Consumer context.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/symbol/elf.h"
#include "runtime/symbol/kept_files.h"
#include "runtime/symbol/maps.h"
#include "runtime/symbol/perf_map.h"
#include "runtime/symbol/source_place.h"

namespace dvm::runtime {

class SourcePlaces;

struct UserSymbol {
  std::string module;
  std::string function;         // or variable; empty: the module has none there
  uint64_t address = 0;         // of its beginning, or the address that was looked up
  uint64_t module_address = 0;  // of its code
};

class UserSymbols {
 public:
  UserSymbols();
  ~UserSymbols();
  // True (default): names of C++ and Rust are demangled.
  void set_demangling(bool is_on) { demangles_ = is_on; }
  // Reads the mappings of the process, if they are not known yet.
  void learn(int32_t pid);
  // Reads the mappings of the process again.
  void learn_anew(int32_t pid);
  // Copies the mappings of the parent to a child.
  void inherit(int32_t child, int32_t parent);
  // The process has executed a program. Its old mappings are kept for addresses that were recorded earlier.
  void renew(int32_t pid);
  // Takes the mappings and names from a recording; from then on no live process is read.
  void use_recorded(int32_t pid, std::vector<MappedObject> objects);
  void use_recorded(int32_t pid, uint64_t address, UserSymbol symbol);
  // Resolves an address that a firing has recorded, while the process exists. If that fails, meet_again(), which must be called
  // regularly, tries once more when the map may be read again.
  void meet(int32_t pid, uint64_t address);
  void meet_again();
  // Nothing: the process has mapped no file there.
  std::optional<UserSymbol> find(int32_t pid, uint64_t address);
  const std::vector<MappedObject>& objects(int32_t pid);
  // The source at an address that find() has named, innermost first: inlined functions, then the function itself. Empty: unknown,
  // as in the kernel and in a recording.
  const std::vector<SourcePlace>& places(int32_t pid, uint64_t address);

  // True if an address of the kernel had no name because the kernel hides its symbols.
  bool misses_kernel() const { return misses_kernel_; }

  // For a recording: all known processes, and all answers, with functions as symbols.
  std::vector<int32_t> pids() const;
  using Answers = std::map<std::pair<int32_t, uint64_t>, UserSymbol>;  // by process and address
  const Answers& answers() const { return answers_; }

 private:
  struct KnownProcess {
    std::vector<MappedObject> objects;  // by address
    std::vector<MappedObject> before;   // files that it has closed, or had before an exec; by address
    PerfMap generated;
    int64_t read_at = 0;  // ns, CLOCK_MONOTONIC
    int64_t took = 0;     // ns of CPU time
  };
  struct Unnamed {
    int32_t pid;
    uint64_t address;
    int64_t asked_at;  // ns, CLOCK_MONOTONIC
  };
  // least_age: ns, of a map that is read again.
  KnownProcess& process(int32_t pid, int64_t least_age);
  void read(int32_t pid, KnownProcess& process);
  void forget_doubtful(int32_t pid, const KnownProcess& process);
  bool is_doubtful(const KnownProcess& process, uint64_t address);
  std::optional<UserSymbol> look_up(int32_t pid, uint64_t address);
  std::optional<UserSymbol> find_in_kernel(uint64_t address);
  std::optional<UserSymbol> find_in(const KnownProcess& process, uint64_t address);
  std::optional<UserSymbol> find_in_file(const std::vector<MappedObject>& objects, uint64_t address);
  std::optional<UserSymbol> find_data(const std::vector<MappedObject>& objects, uint64_t address);
  std::optional<UserSymbol> find_symbol(int32_t pid, uint64_t address);
  const std::string& readable(const std::string& symbol);
  const ElfObject* elf(const MappedObject& object);
  SourcePlaces* source(const MappedObject& object);

  bool demangles_ = true;
  bool is_recorded_ = false;
  bool misses_kernel_ = false;
  std::map<int32_t, KnownProcess> processes_;
  std::vector<Unnamed> unnamed_;
  std::map<std::string, std::string> readable_;                    // symbols of C++ and Rust as people write them
  Answers answers_;                                                // found once, so that an address keeps its name
  std::map<std::string, std::shared_ptr<const ElfObject>> files_;  // by key_of(); null: cannot be read
  ElfCache cache_;
  KeptFiles kept_;
  std::map<std::string, std::unique_ptr<SourcePlaces>> sources_;  // likewise
  std::map<std::pair<int32_t, uint64_t>, std::vector<SourcePlace>> places_;
};

}  // namespace dvm::runtime
