#pragma once
// print(): a value by its layout. Integers are hexadecimal, characters and strings quoted, enumerators and functions named:
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

// What a layout says, of these bytes; of more than there are, nothing is shown. Functions are named as `made` knows them.
void append_typed(std::string& out, const dif::ValueLayout& layout, std::span<const std::byte> bytes, const MadePrinter& made);

// The integer that a node describes, of the bytes at its place.
uint64_t integer_at(const dif::LayoutNode& node, std::span<const std::byte> bytes);
// The name of an enumerator, or empty.
std::string enumerator_name(const dif::LayoutNode& node, int64_t value);
// The nodes inside the one at `index`: behind it and deeper.
size_t end_of(const dif::ValueLayout& layout, size_t index);
// Characters of the type up to a NUL, if all before it can be printed.
bool is_string(std::span<const std::byte> bytes);

}  // namespace dvm::runtime
