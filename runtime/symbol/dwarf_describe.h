#pragma once
// Converts DWARF entries (DIEs) to type descriptions for D. Each type is converted when it is needed.

#include <elfutils/libdw.h>

#include <deque>
#include <unordered_map>
#include <vector>

#include "dvm/dif/type_desc.h"

namespace dvm::runtime {

// Assigns TypeRefs to the DIEs of any number of files; void is 0.
class DieTable {
 public:
  dif::TypeRef add(const Dwarf_Die& die);
  // Null: no such type.
  const Dwarf_Die* find(dif::TypeRef type) const { return type == 0 || type > dies_.size() ? nullptr : &dies_[type - 1]; }

 private:
  std::deque<Dwarf_Die> dies_;  // stays where it is as it grows
  std::unordered_map<const void*, dif::TypeRef> known_;
};

dif::TypeDesc describe(const Dwarf_Die& die, DieTable& table);
// The type behind typedefs and qualifiers; null: there is none.
const Dwarf_Die* behind_names(dif::TypeRef type, DieTable& table);
// Members of a structure or union, in order, with bases first. Static members have no place and are omitted.
// The offset of a virtual base lies `offset` bytes before the address at the beginning of an object; 0: that is not known.
std::vector<dif::MemberDesc> members_of(const Dwarf_Die& die, DieTable& table);
// Members for an enumeration of Rust: the number of the variant, and each variant by its name. All lie in the same place.
std::vector<dif::MemberDesc> variants_of(const Dwarf_Die& die, DieTable& table);
std::vector<dif::EnumeratorDesc> enumerators_of(const Dwarf_Die& die);
int64_t enumerator_value(const Dwarf_Die& enumerator);

// The type that a variable, parameter or function (its result) has; 0: none, void.
dif::TypeRef type_of(const Dwarf_Die& die, DieTable& table);

}  // namespace dvm::runtime
