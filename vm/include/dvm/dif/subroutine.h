#pragma once
// Subroutines of DIF, made from vm/dif/subroutines.def.

#include <array>
#include <cstdint>
#include <string_view>

#include "dvm/dif/arguments.h"
#include "dvm/dif/firing_part.h"
#include "dvm/dif/opcode.h"

namespace dvm::dif {

enum class Subroutine : uint16_t {
#define DVM_SUBR(number, name, ...) name = number,
#include "vm/dif/subroutines.def"
};

// The memory to which the result of a subroutine points.
enum class ValueOrigin : uint8_t {
  made,  // scratch; or the result is a number
  part,  // the memory of the first argument
  text,  // scratch with a copy of a string of the traced process
  bytes  // scratch with a copy of bytes of the traced process
};

// The memory that a subroutine reads, at the address in argument number `address`. For `fixed`, `size` is the number of bytes.
// Otherwise it is the number of the argument that has it; for a string, this argument may be missing.
struct MemoryRead {
  enum class Kind : uint8_t { none, bytes, fixed, text };
  Kind kind = Kind::none;
  uint8_t address = 0;
  uint8_t size = 0;
};

struct SubroutineInfo {
  Subroutine id;
  std::string_view name;
  std::string_view result;  // a D type, see subroutines.def
  ArgumentList arguments;
  ValueOrigin value;
  MemoryRead reads;
  FiringPart firing;
  CostClass cost;
  bool destructive;
  std::string_view unsupported;  // the reason; empty: it is supported
  std::string_view text;
};

inline constexpr std::string_view yes = "";

// The words of the column `reads`.
namespace column {
inline constexpr MemoryRead reads_nothing;
constexpr MemoryRead reads_bytes_at(uint8_t address, uint8_t size) { return {MemoryRead::Kind::bytes, address, size}; }
constexpr MemoryRead reads_text_at(uint8_t address, uint8_t size) { return {MemoryRead::Kind::text, address, size}; }
constexpr MemoryRead reads_fixed_at(uint8_t address, uint8_t bytes) { return {MemoryRead::Kind::fixed, address, bytes}; }
inline constexpr bool destructive_yes = true, destructive_no = false;
}  // namespace column

inline constexpr std::array kSubroutines = {
#define DVM_SUBR(number, name, result, arguments, value, reads, firing, cost, destructive, support, text) \
  SubroutineInfo{Subroutine::name,                                                                        \
                 #name,                                                                                   \
                 result,                                                                                  \
                 ArgumentList(arguments),                                                                 \
                 ValueOrigin::value,                                                                      \
                 column::reads_##reads,                                                                   \
                 [] {                                                                                     \
                   using enum FiringPart;                                                                 \
                   constexpr FiringPart kUses = firing;                                                   \
                   return kUses;                                                                          \
                 }(),                                                                                     \
                 CostClass::cost,                                                                         \
                 column::destructive_##destructive,                                                       \
                 support,                                                                                 \
                 text},
#include "vm/dif/subroutines.def"
};

inline constexpr unsigned kSubroutineCount = kSubroutines.size();
constexpr const SubroutineInfo& info(Subroutine id) { return kSubroutines[static_cast<unsigned>(id)]; }

static_assert([] {
  for (unsigned i = 0; i < kSubroutineCount; i++)
    if (static_cast<unsigned>(kSubroutines[i].id) != i) return false;
  return true;
}());

}  // namespace dvm::dif
