#pragma once
// The layout of a value for print(): its type and those of its members, as a list in printing order.
//
//   struct node { int id; struct place { short x; } at[2]; }      depth 0  record  struct node
//                                                                       1  integer int             id
//                                                                       1  array   struct place[2] at
//                                                                       2  record  struct place
//                                                                       3  integer short           x
//
// The members of a record follow it, and the element of an array follows the array, one level deeper.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dvm::dif {

enum class LayoutKind : uint8_t {
  integer,
  character,
  floating,
  pointer,
  string,
  array,
  record,
  enumeration,
  unknown,
  function_pointer
};

struct LayoutNode {
  LayoutKind kind = LayoutKind::unknown;
  uint32_t depth = 0;
  bool is_signed = false;
  std::string type;     // as spelled in D
  std::string member;   // name; empty: the value itself, or an element
  uint64_t offset = 0;  // bytes from the start of the record
  uint64_t size = 0;    // in bytes
  uint32_t bits = 0;    // width of a bit-field, from bit `shift`; 0: none
  uint32_t shift = 0;
  uint64_t count = 0;  // of an array
  std::vector<std::pair<std::string, int64_t>> enumerators;
};

using ValueLayout = std::vector<LayoutNode>;

inline constexpr uint32_t kMostLayoutDepth = 64;
inline constexpr size_t kMostLayoutNodes = 4096;

}  // namespace dvm::dif
