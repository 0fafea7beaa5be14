#pragma once
// Finds descriptions (DIEs) in .debug_info by their names, without an index and without walking the tree.
//
// A name of more than three letters lies in .debug_str, and the description holds its offset there:
//
//   .debug_str   ... n o d e \0 ...          every "node\0", because the linker shares tails
//                    ^ 0x1a2c
//   .debug_info  ... [abbreviation 0x3f] [name: 2c 1a 00 00] [size] ...
//                     ^ beginning of the description; the abbreviation gives the offset of the name
//
// The bytes of each unit are searched for these offsets, which is as fast as reading them. For each hit, the abbreviations of the
// unit show whether a description of the right kind can begin before it. Some units must be walked instead: those with numbered
// strings (DW_FORM_strx), and those with a field of unknown length before the name. They are walked only if the name can occur in
// them.
//
// The file is untrusted: results are checked, and walks are bounded by the size of the section.

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

struct DwarfSections {
  std::string_view info, types, str, str_offsets;  // as they lie in memory, decompressed
};

// Returns true to continue.
using DieVisitor = std::function<bool(Dwarf_Die&)>;

class DwarfNames {
 public:
  DwarfNames(Dwarf* dwarf, const DwarfSections& sections, std::string_view alternate_str)
      : dwarf_(dwarf), sections_(sections), alternate_str_(alternate_str) {}

  // Visits the descriptions of these kinds (DW_TAG_*) whose attribute (DW_AT_name, DW_AT_linkage_name) is this text, in the order
  // of the file. False: the visitor stopped.
  bool find(std::string_view name, std::span<const int> tags, unsigned attribute, const DieVisitor& visit) const;

 private:
  Dwarf* dwarf_;
  DwarfSections sections_;
  std::string_view alternate_str_;  // of the file that dwz has put common strings into
};

// The text of DW_AT_name or DW_AT_linkage_name, of the description or of the one that it completes; empty: there is none. Checks
// that the text ends inside of the section, which libdw does not.
std::string_view text_of(const Dwarf_Die& die, unsigned attribute);

// Walks the descriptions below a description. The visitor decides whether to visit the children of each. The walk is bounded by
// the number of bytes.
class DieWalk {
 public:
  enum class Next : uint8_t { over, into, stop };
  explicit DieWalk(uint64_t bytes) : left_(bytes) {}
  // False: the visitor stopped it.
  bool below(Dwarf_Die& parent, const std::function<Next(Dwarf_Die&)>& visit, unsigned depth = 0);

 private:
  uint64_t left_;
};

}  // namespace dvm::runtime
