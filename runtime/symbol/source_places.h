#pragma once
// Maps addresses of a program to the source code: the functions that the compiler has inlined there, with files and lines.
//
//   address ── ranges of the units ──> unit ── ranges of its functions ──> function ── nested inlined calls ──> places
//                                       └── table of lines ──> the innermost line
//
// Units and functions are indexed when first needed. The file is untrusted: walks are bounded, and so are the tables of lines.

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/symbol/dwarf_file.h"
#include "runtime/symbol/source_place.h"

namespace dvm::runtime {

class SourcePlaces {
 public:
  // Null: the file has no debug information that can be read.
  static std::unique_ptr<SourcePlaces> open(const std::string& path, bool demangles);

  // The source at an address of the file, innermost first: inlined functions, then the function that contains the code. Empty:
  // unknown.
  std::vector<SourcePlace> at(uint64_t address);

 private:
  struct IndexedRange {
    uint64_t begin, end;  // addresses
    size_t index;         // of the unit, or of the function in its unit
  };
  using Ranges = std::vector<IndexedRange>;  // by their begin
  struct Unit {
    DwarfFile::Unit dies;
    bool is_indexed = false, has_lines = false;
    std::vector<Dwarf_Die> functions;
    Ranges ranges;  // of the functions
  };

  SourcePlaces(std::unique_ptr<DwarfFile> file, bool demangles);
  void add_ranges(Dwarf_Die& die, size_t index, Ranges& ranges);
  static const IndexedRange* find(const Ranges& ranges, uint64_t address);
  void index_functions(Unit& unit);
  std::vector<Dwarf_Die> calls_at(Dwarf_Die& function, uint64_t address) const;
  bool may_read_lines(Unit& unit);
  void set_line(Unit& unit, uint64_t address, SourcePlace& place);
  void set_call(Unit& unit, Dwarf_Die& call, SourcePlace& place);
  std::string name_of(Dwarf_Die& function) const;

  std::unique_ptr<DwarfFile> file_;
  bool demangles_;
  std::vector<Unit> units_;
  Ranges ranges_;           // of the units
  size_t ranges_seen_ = 0;  // in total
  size_t lines_ = 0;        // rows of the tables that were read
};

}  // namespace dvm::runtime
