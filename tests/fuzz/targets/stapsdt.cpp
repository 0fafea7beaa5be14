// Any bytes as an ELF file with notes, and as the arguments of a note.

#include "runtime/symbol/stapsdt.h"

#include "runtime/symbol/declared_providers.h"
#include "tests/fuzz/fuzz_support.h"

using dvm::runtime::Operand;

static void look_at(const Operand& operand) {
  const auto is_word = [](uint8_t word) { return word == dvm::runtime::kNoWord || word < 21; };
  dvm::fuzz::require(is_word(operand.base) && is_word(operand.index), "registers are words of struct pt_regs");
  dvm::fuzz::require(operand.size == 1 || operand.size == 2 || operand.size == 4 || operand.size == 8,
                     "sizes are those of registers");
  dvm::fuzz::require(operand.scale == 1 || operand.scale == 2 || operand.scale == 4 || operand.scale == 8,
                     "scales are those of x86");
  dvm::fuzz::require(operand.kind != Operand::Kind::none, "what is no operand is refused");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto symbol = [](std::string_view name) { return name.size() % 2 ? std::optional<uint64_t>(0x4000) : std::nullopt; };
  for (const auto& argument : dvm::runtime::parse_stapsdt_arguments(bytes, 0x1000, symbol))
    if (argument.problem.empty()) look_at(argument.operand);
  static dvm::fuzz::MemoryFile file;
  dvm::fuzz::require(file.write(bytes), "the input can be written to memory");
  for (const std::string& text : dvm::runtime::read_declared_providers(file.path(), "p"))
    dvm::fuzz::require(text.starts_with("provider p {"), "a declaration is that of the provider");
  const auto notes = dvm::runtime::read_stapsdt(file.path());
  if (!notes) return 0;
  for (const auto& note : *notes) dvm::fuzz::require(!note.name.empty() && !note.provider.empty(), "a note has its names");
  return 0;
}
