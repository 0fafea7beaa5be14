#pragma once
// The operands of instructions, as far as the text of the DIFO shows them: where a string lies, the length of a literal, the keys
// of a variable that is looked up. Prices and counts depend on them:
//
//   string/PLACE     finding a string in that place; not for literals
//   tuple/integer    a key that is a value
//   tuple/string     a key that is a string or structure; n: per byte
//
// Where two paths meet, the operands of the one that is later in the text are used.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/difo.h"

namespace dvm::vm {

// The place of a string, in the order in which the machine searches them.
enum class StringPlace : uint8_t {
  literal,
  scratch,   // made by a subroutine
  variable,  // a global variable
  local,     // a clause-local variable, just stored
  name,      // a built-in variable
  dynamic,   // a thread-local variable, or an element of an associative array
  captured,  // captured at the firing
};
inline constexpr std::array<std::string_view, 7> kPlaces = {"literal", "scratch", "variable", "local",
                                                            "name",    "dynamic", "captured"};

// "string/name". Literals have no price.
inline std::string place_row(StringPlace place) { return "string/" + std::string(kPlaces[static_cast<size_t>(place)]); }
inline constexpr const char* kValueKeyRow = "tuple/integer";
inline constexpr const char* kReferenceKeyRow = "tuple/string";

struct StringOperand {
  StringPlace place = StringPlace::literal;
  double bytes = 0;  // with its NUL; 0: unknown
};

struct PricedOperands {
  std::vector<StringOperand> strings;     // strings that the instruction reads
  std::vector<StringOperand> references;  // keys or arguments by reference that it takes from the tuple stack
  unsigned values = 0;                    // keys or arguments by value
};

// True for opcodes that look up a variable by the tuple stack. Rows of their own price the keys.
bool takes_key(dif::Opcode opcode);

// The operands of each instruction.
std::vector<PricedOperands> priced_operands(const dif::Difo& difo);

// The string that the DIFO returns, if it returns one.
StringOperand result_text(const dif::Difo& difo);

}  // namespace dvm::vm
