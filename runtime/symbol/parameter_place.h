#pragma once
// The place of a parameter when its function is entered, from the debug information.
//
//   static long cost(const struct order* o, long times)       the optimiser passes o->id and o->price in place of o
//     o       no location                                     -> nowhere
//     times   %rdx                                            -> in_register, contrary to the calling convention
//
// Unoptimised code keeps its parameters in its frame, which is not set up yet at the entry. Such a location is not valid there,
// and the calling convention applies (unsaid).

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace dvm::runtime {

struct ParameterPlace {
  enum class Kind : uint8_t {
    unsaid,       // the calling convention decides
    nowhere,      // not passed
    in_register,  // one part
    at_register,  // in memory, at the address in the register
    in_parts,     // a structure, each part in a register
    computed,     // derived from other arguments
  };
  struct Piece {
    uint64_t offset = 0, size = 0;
    unsigned reg = 0;  // DWARF's number
  };

  Kind kind = Kind::unsaid;
  std::vector<Piece> parts;
  bool is_through_pointer = false;  // unsaid, but the function has the address of the parameter, not its value
  bool is_value_in_frame = false;   // unsaid, but at the entry already the value has a place in the frame
};

// The address at which a function begins. A function of which a part lies elsewhere (f.cold) has ranges; it begins with the
// first.
std::optional<Dwarf_Addr> entry_of(const Dwarf_Die& function);

// The parameters that are children of the function's own entry.
std::vector<Dwarf_Die> parameters_with_code(Dwarf_Die function);

// function: the entry that has the code and is the parameter's parent.
ParameterPlace place_at_entry(const Dwarf_Die& function, const Dwarf_Die& parameter);

}  // namespace dvm::runtime
