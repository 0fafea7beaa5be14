#pragma once
// What instructions work on, as far as the text tells: a string is found sooner in one place than in another, a literal has the
// length that it has, and a variable with keys is looked up by each of them. Prices and counts go by it:
//
//   string/PLACE     finding a string there rather than among the literals
//   tuple/integer    a key that is a value, of a variable that is looked up
//   tuple/string     one that is a string or a structure; n: a byte of it
//
// Branches are not followed: what a register was given last, it holds.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/difo.h"

namespace dvm::vm {

// Where a string lies, in the order in which it is looked for there.
enum class Place : uint8_t {
  literal,
  scratch,   // made by a subroutine
  variable,  // a global one
  local,     // a clause-local one, which this firing has stored: what reads it waits for that
  name,      // a built-in variable: of the probe, the process
  dynamic,   // a thread-local variable, or one with keys
  captured,  // copied from the process with the firing
};
inline constexpr std::array<std::string_view, 7> kPlaces = {"literal", "scratch", "variable", "local",
                                                            "name",    "dynamic", "captured"};

// "string/name"; the literals' has no price.
inline std::string place_row(Place place) { return "string/" + std::string(kPlaces[static_cast<size_t>(place)]); }
inline constexpr const char* kValueKeyRow = "tuple/integer";
inline constexpr const char* kReferenceKeyRow = "tuple/string";

struct Text {
  Place place = Place::literal;
  double bytes = 0;  // with its NUL; 0: not known
};

struct Operands {
  std::vector<Text> strings;     // that the instruction looks up
  std::vector<Text> references;  // keys or arguments on the tuple stack, of one that uses them
  unsigned values = 0;           // the others there
};

// True for opcodes that look a variable up by the tuple stack, whose keys are priced by rows of their own.
bool takes_key(dif::Opcode opcode);

// One for each instruction.
std::vector<Operands> operands_of(const dif::Difo& difo);

// What the DIFO returns, if that is a string.
Text result_text(const dif::Difo& difo);

}  // namespace dvm::vm
