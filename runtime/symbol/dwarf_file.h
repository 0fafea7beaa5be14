#pragma once
// The debug information of one program or library: where it lies, and what in it has a name or an address. Nothing is indexed:
// each question is answered by a search (dwarf_names.h) or by the one unit that covers an address.

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
  // with_lines: its tables of source lines will be asked for, which are large.
  static Result<std::unique_ptr<DwarfFile>> open(const std::string& path, bool with_lines = false);
  ~DwarfFile();
  DwarfFile(const DwarfFile&) = delete;
  DwarfFile& operator=(const DwarfFile&) = delete;

  // Finds a type by name. A structure (or class), union or enumeration is named by its tag. An alias is anything that has the
  // name without a tag: a typedef, a class of C++. Definitions are preferred to declarations, and top-level types to nested
  // ones. "ns::Class::name" names the scope as well. Of a name without one, the scopes are those that definitions lie in, if none
  // is at the top: several make it ambiguous.
  std::optional<Dwarf_Die> find_type(dif::DescribedAs as, std::string_view name, std::set<std::string>* scopes = nullptr) const;
  // The function whose code begins at this address of the file.
  std::optional<Dwarf_Die> find_function(uint64_t address) const;
  // The variable at this address of the file; of those with the name, the only one, if no address is given with it.
  std::optional<Dwarf_Die> find_variable(std::string_view name, uint64_t address) const;
  // An enumerator by its name, which may have a scope; the enumeration is its parent.
  struct Enumerator {
    Dwarf_Die enumeration, enumerator;
  };
  std::optional<Enumerator> find_enumerator(std::string_view name) const;
  // The .dwo file (-gsplit-dwarf: the descriptions of a unit in a separate file) that cannot be opened, and why.
  std::optional<std::string> missing_part() const;
  // A unit of compilation; `sketch` is the part of it that lies in the file itself if the rest is in a .dwo file, else the same.
  struct Unit {
    Dwarf_Die whole, sketch;
  };
  std::vector<Unit> units() const;
  // "PATH: reason" for a file that it refers to, that exists and could not be opened; empty: none so far.
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
  std::optional<DwarfNames> alternate_;                   // of what dwz has put into a file that several share
  mutable std::optional<std::vector<DwarfNames>> parts_;  // of the .dwo files: opened when something is looked for in them
  mutable std::string refused_;
};

}  // namespace dvm::runtime
