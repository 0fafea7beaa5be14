#pragma once
// Computes how many dynamic variables fit into option dynvarsize, for the planning of a run. It uses the arithmetic of the store
// (vm/state/dynamic_variables.h) for nodes and data blocks, and stores nothing.

#include <array>
#include <cstddef>

namespace dvm::vm {

// Bytes in the data of a dynamic variable.
struct DynamicEntry {
  size_t keys = 0;   // the sum of stored_key() of its keys; 0: a thread-local variable without keys
  size_t value = 0;  // of a string with its NUL, or a structure; 0: an integer, which is stored in the node
};

// The bytes that a key takes in the store. bytes: of the string without its NUL; of an integer, 8.
size_t stored_key(size_t bytes);

class DynamicRoom {
 public:
  explicit DynamicRoom(size_t dynvarsize);

  // Adds `count` variables. False: not all of them fit; then add() must not be called again.
  bool add(const DynamicEntry& entry, size_t count = 1);

 private:
  bool take(size_t bytes, size_t count);

  size_t nodes_;
  std::array<size_t, 32> free_{};  // blocks of 2^index granules
};

}  // namespace dvm::vm
