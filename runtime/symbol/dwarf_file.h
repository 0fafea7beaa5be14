#pragma once
// The debug information of one program or library, looked up by name or address. There is no index: each lookup searches
// (dwarf_names.h), or reads the unit that covers the address.

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/type_desc.h"
#include "runtime/symbol/dwarf_names.h"
#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {

class DwarfFile {
 public:
  // Opens the debug information in the file itself, or else in its separate debug file. The error says whether it is missing or
  // bad.
  // with_lines: the tables of source lines, which are large, will be needed.
  static Result<std::unique_ptr<DwarfFile>> open(const std::string& path, bool with_lines = false);
  ~DwarfFile();
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;

  // Finds a type by name. A structure (or class), union or enumeration is looked up by its tag. An alias is anything that has the
  // name without a tag: a typedef, a class of C++. Definitions are preferred to declarations, and top-level types to nested ones.
  // "ns::Class::name" includes the scope. For a name without a scope and without a definition at the top, `scopes` receives the
  // scopes of all definitions; if there are several, the name is ambiguous.
  std::optional<Dwarf_Die> find_type(dif::DescribedAs as, std::string_view name, std::set<std::string>* scopes = nullptr) const;
  // The function whose code begins at this address of the file.
  std::optional<Dwarf_Die> find_function(uint64_t address) const;
  // True if there is a function of this name, without its scope, that the compiler has inlined.
  bool inlines(std::string_view name) const;
  // The variable at this address of the file, or the only one with this name if it has no address there.
  std::optional<Dwarf_Die> find_variable(std::string_view name, uint64_t address) const;
  // An enumerator by its name, which may have a scope; the enumeration is its parent.
  struct Enumerator {
    Dwarf_Die enumeration, enumerator;
  };
  std::optional<Enumerator> find_enumerator(std::string_view name) const;
  // The .dwo file (-gsplit-dwarf: the descriptions of a unit in a separate file) that cannot be opened, and why.
  std::optional<std::string> missing_part() const;
  // A compilation unit. sketch: the part in the file itself, if the rest is in a .dwo file; otherwise the same as `whole`.
  struct Unit {
    Dwarf_Die whole, sketch;
  };
  std::vector<Unit> units() const;
  // "PATH: reason" for a file to which it refers, and which exists but could not be opened; empty: none so far.
  const std::string& refused() const;

 private:
  DwarfFile(std::unique_ptr<OpenElf> elf, Dwarf* dwarf);
  bool find(std::string_view name, std::span<const int> tags, unsigned attribute, const DieVisitor& visit) const;
  std::optional<Dwarf_Die> unit_of(uint64_t address) const;
  std::optional<Dwarf_Die> variable_at(uint64_t address) const;  // by a walk over all units
  const std::vector<DwarfNames>& parts() const;

  std::unique_ptr<OpenElf> elf_;
  Dwarf* dwarf_;
  std::optional<DwarfNames> names_;
  std::optional<DwarfNames> alternate_;                   // of the shared file that dwz made
  mutable std::optional<std::vector<DwarfNames>> parts_;  // of the .dwo files: opened when something is looked for in them
  mutable std::string refused_;
};

}  // namespace dvm::runtime
