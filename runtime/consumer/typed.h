#pragma once
// Prints a value by its layout, for print(). Integers are hexadecimal, characters and strings quoted, enumerators and functions
// named:
//
//   struct node {
//       int id = 0x2a
//       struct place [2] at = [
//           struct place {
//               short x = 0x1
//           },
//           ...
//       ]
//   }

#include <span>
#include <string>

#include "dvm/dif/layout.h"
#include "runtime/consumer/made.h"

namespace dvm::runtime {

// Prints the bytes by the layout. Members beyond the end of the bytes are left out. `made` names functions.
void append_typed(std::string& out, const dif::ValueLayout& layout, std::span<const std::byte> bytes, const MadePrinter& made);

// The integer of a node. bytes: those at its offset.
uint64_t integer_at(const dif::LayoutNode& node, std::span<const std::byte> bytes);
// The number of an enumeration.
int64_t enumeration_at(const dif::LayoutNode& node, std::span<const std::byte> bytes);
// The name of an enumerator, or empty.
std::string enumerator_name(const dif::LayoutNode& node, int64_t value);
// The index after the last node inside of the one at `index`.
size_t end_of(const dif::ValueLayout& layout, size_t index);
// True if the bytes begin with printable characters that end with a NUL.
bool is_string(std::span<const std::byte> bytes);

}  // namespace dvm::runtime
