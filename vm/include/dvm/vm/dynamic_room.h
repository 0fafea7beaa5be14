#pragma once
// How many dynamic variables find room in option dynvarsize, without storing any: who plans a run asks. It is the store's own
// arithmetic (vm/state/dynamic_variables.h), of its nodes and of the blocks of its data, with nothing in them.

#include <array>
#include <cstddef>

namespace dvm::vm {

// Bytes in the data of a dynamic variable.
struct DynamicEntry {
  size_t keys = 0;   // as they are stored, stored_key() of each; 0: a thread-local variable without keys
  size_t value = 0;  // a string with its NUL, or a structure; 0: an integer, which is no data
};

// The bytes that a key takes, given its own: a string without its NUL, an integer with 8.
size_t stored_key(size_t bytes);

class DynamicRoom {
 public:
  explicit DynamicRoom(size_t dynvarsize);

  // False: not all of them find room, and no more is to be asked.
  bool add(const DynamicEntry& entry, size_t count = 1);

 private:
  bool take(size_t bytes, size_t count);

  size_t nodes_;
  std::array<size_t, 32> free_{};  // blocks of 2^index granules
};

}  // namespace dvm::vm
