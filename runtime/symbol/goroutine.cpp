// Finds the goroutine. Tested by tests/unit/instrument/go_program_test.cpp.

#include "runtime/symbol/goroutine.h"

#include "runtime/symbol/dwarf_describe.h"
#include "runtime/symbol/dwarf_file.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostOffset = 4096;

std::optional<uint64_t> described_offset(const std::string& path) {
  const auto dwarf = DwarfFile::open(path);
  const auto g = dwarf ? (*dwarf)->find_type(dif::DescribedAs::structure, "runtime.g") : std::nullopt;
  if (!g) return std::nullopt;
  DieTable table;
  for (const dif::MemberDesc& member : members_of(*g, table))
    if (member.name == "goid" && member.offset < kMostOffset) return member.offset;
  return std::nullopt;
}

// From src/runtime/runtime2.go of each release: 1.23 put syscallbp before goid, 1.25 took gobuf.ret away.
std::optional<uint64_t> offset_of_release(unsigned version) {
  if (version < 18 || version > 26) return std::nullopt;
  return version == 23 || version == 24 ? 160 : 152;
}

}  // namespace

std::optional<uint64_t> goid_offset(const std::string& path, unsigned version) {
  const auto described = described_offset(path);
  return described ? described : offset_of_release(version);
}

Goroutines::Goroutines(const GoProgram& program, CodeBytes file, const std::string& path)
    : offset_(goid_offset(path, program.version())),
      functions_(program.text() ? GoFunctions::read(file, *program.text()) : std::nullopt) {}

Goroutine Goroutines::at(uint64_t address, GoAbi abi) const {
  using Maker = GoFunctions::Maker;
  constexpr std::string_view kAssembly = "goid is not known in functions that are written in assembly";
  if (abi == GoAbi::none) return {{}, kNoGoFunction};
  if (!functions_) return {{}, "goid needs Go 1.18 or later, and its table of functions"};
  if (!offset_) return {{}, "it is not known where this version of Go has goid, and there is no debug information that says so"};
  if (abi == GoAbi::stack || functions_->maker_of(address) == Maker::assembler) return {{}, kAssembly};
  if (functions_->maker_of(address) == Maker::unknown) return {{}, kNoGoFunction};
  return {Operand::memory(saved::r14, static_cast<int64_t>(*offset_)), {}};
}

}  // namespace dvm::runtime
