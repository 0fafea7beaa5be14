#pragma once
// Subroutines: one function subr_<name> for each supported row of subroutines.def, in the file of its family:
//   string  copy  number  path  net  json  speculation
// All engines call the same functions. Arguments lie on the tuple stack; the verifier has proved their number. After a fault,
// which is set in the state, the result is undefined. Probe context.

#include <optional>
#include <string_view>

#include "dvm/dif/subroutine.h"
#include "vm/state/memory_access.h"

namespace dvm::vm {

using Subr = uint64_t (*)(State& state) noexcept;

#define DVM_SUBR(number, name, ...) uint64_t subr_##name(State& state) noexcept;
#include "vm/dif/subroutines.def"

// Null if dvm does not have the subroutine.
Subr subr_of(unsigned number);

// The arguments.
inline size_t argument_count(const State& state) noexcept { return state.tuple.depth; }
inline uint64_t argument(const State& state, size_t n) noexcept { return state.tuple.entries[n].value; }
inline int64_t signed_argument(const State& state, size_t n) noexcept { return static_cast<int64_t>(argument(state, n)); }
// A string argument. Nothing: it cannot be read, and a fault is set. Its bytes are counted as units.
inline std::optional<std::string_view> string_argument(State& state, size_t n) noexcept {
  const TupleEntry& entry = state.tuple.entries[n];
  std::optional<std::string_view> text;
  if (entry.type == dif::PushType::string && entry.value != 0)
    text.emplace(reinterpret_cast<const char*>(entry.bytes), entry.size);
  else
    text = string_at(state, entry.value);
  if (text) state.units += text->size();
  return text;
}

}  // namespace dvm::vm
