#pragma once
// Finds the number of the running goroutine in a function of Go. Since Go 1.17, %r14 points to its runtime.g in all code of Go's
// compiler. Elsewhere (assembly, C) %r14 may hold anything.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/catalog/operand.h"
#include "runtime/symbol/go_functions.h"
#include "runtime/symbol/go_program.h"

namespace dvm::runtime {

struct Goroutine {
  Operand number{};            // of kind none: not known
  std::string_view problem{};  // why; a literal
};

inline constexpr std::string_view kNoGoProgram = "goid is that of a goroutine, and this is not a Go program";
inline constexpr std::string_view kNoGoFunction = "goid is known only in functions of Go";

class Goroutines {
 public:
  // path: of the file, to find its debug information.
  Goroutines(const GoProgram& program, CodeBytes file, const std::string& path);

  // In the function that begins at this address of the file.
  Goroutine at(uint64_t address, GoAbi abi) const;

 private:
  std::optional<uint64_t> offset_;  // of goid in runtime.g
  std::optional<GoFunctions> functions_;
};

// Offset of goid in runtime.g, from the debug information of the file, or else from the release. None if it is not known.
std::optional<uint64_t> goid_offset(const std::string& path, unsigned version);

}  // namespace dvm::runtime
