// Reads what Go's linker says of a program. Tested by tests/unit/instrument/go_program_test.cpp.

#include "runtime/symbol/go_program.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "runtime/symbol/file_bytes.h"

namespace dvm::runtime {
namespace {

using Bytes = CodeBytes;

// Calls f(segment) until it returns true, for no more segments than a sound program has.
template <class F>
void for_each_segment(Bytes file, F&& f) {
  constexpr unsigned kMostSegments = 64;
  const auto header = load<Elf64_Ehdr>(file, 0);
  for (unsigned i = 0; header && i < std::min<unsigned>(header->e_phnum, kMostSegments); i++) {
    const auto segment = load<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || (segment->p_type == PT_LOAD && f(*segment))) return;
  }
}

// Of a version older than 1.18 the build information has the address of a string: a pointer to the text, and its length.
std::string_view string_at(Bytes file, uint64_t address) {
  const auto offset_of = [&](uint64_t of) {
    uint64_t offset = UINT64_MAX;
    for_each_segment(file, [&](const Elf64_Phdr& segment) {
      const bool is_in = of >= segment.p_vaddr && of - segment.p_vaddr < segment.p_filesz;
      if (is_in) offset = of - segment.p_vaddr + segment.p_offset;
      return is_in;
    });
    return offset;
  };
  const uint64_t at = offset_of(address);
  const auto pointer = load<uint64_t>(file, at), size = load<uint64_t>(file, at == UINT64_MAX ? at : at + 8);
  return pointer && size ? text(file, offset_of(*pointer), *size) : std::string_view();
}

// The version's text in the build information at this offset.
std::string_view version_text(Bytes file, uint64_t at) {
  constexpr uint64_t kPointerSize = 14, kFlags = 15, kPointer = 16, kInline = 32;
  constexpr uint8_t kIsInline = 2, kMore = 0x80;
  const auto flags = load<uint8_t>(file, at + kFlags), size = load<uint8_t>(file, at + kInline);
  if (!flags) return {};
  if ((*flags & kIsInline) != 0) return size && *size < kMore ? text(file, at + kInline + 1, *size) : std::string_view();
  const auto pointer = load<uint64_t>(file, at + kPointer);
  return pointer && load<uint8_t>(file, at + kPointerSize) == sizeof(uint64_t) ? string_at(file, *pointer) : std::string_view();
}

// The second number of "go1.19.8" or "devel go1.27-f00".
unsigned second_number(std::string_view version) {
  constexpr std::string_view kFirst = "go1.";
  size_t at = version.find(kFirst);
  if (at == std::string_view::npos) return 0;
  unsigned number = 0;
  for (at += kFirst.size(); at < version.size() && version[at] >= '0' && version[at] <= '9' && number < 1000; at++)
    number = number * 10 + static_cast<unsigned>(version[at] - '0');
  return number;
}

// The build information lies in data that can be written. Segments that overlap are not searched for more than the file's size.
unsigned find_version(Bytes file) {
  constexpr std::string_view kMagic = "\xff Go buildinf:";
  unsigned version = 0;
  uint64_t left = file.size();
  for_each_segment(file, [&](const Elf64_Phdr& segment) {
    if ((segment.p_flags & PF_W) == 0 || segment.p_offset > file.size()) return false;
    const std::string_view data =
        text(file, segment.p_offset, std::min({segment.p_filesz, file.size() - segment.p_offset, left}));
    left -= data.size();
    for (size_t at = data.find(kMagic); at != std::string_view::npos && version == 0; at = data.find(kMagic, at + 1))
      version = second_number(version_text(file, segment.p_offset + at));
    return version != 0;
  });
  return version;
}

// Go's names have the package before a dot. Names of C have none, but for parts that a compiler made of functions.
bool is_name_of_go(std::string_view name) {
  constexpr std::array<std::string_view, 5> kParts = {".cold", ".part.", ".isra.", ".constprop.", ".lto_priv."};
  if (name.starts_with("_cgoexp_")) return true;
  return name.find('.') != std::string_view::npos && std::none_of(kParts.begin(), kParts.end(), [&](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
}

}  // namespace

std::optional<GoProgram> GoProgram::read(const ModuleCode& file, const ElfObject& elf) {
  if (!file.is_go()) return std::nullopt;
  GoProgram program;
  program.version_ = find_version(file.file());
  for (const ElfFunction& function : elf.functions()) {
    if (function.name == "runtime.text") program.begin_ = function.address;
    if (function.name == "runtime.etext") program.end_ = function.address;
  }
  return program;
}

GoAbi GoProgram::abi_of(const ElfFunction& function) const {
  constexpr unsigned kFirstWithRegisters = 17;
  if (function.address < begin_ || function.address >= end_ || !is_name_of_go(function.name)) return GoAbi::none;
  if (function.name.ends_with(".abi0")) return GoAbi::stack;
  return version_ != 0 && version_ < kFirstWithRegisters ? GoAbi::stack : GoAbi::registers;
}

Operands go_arguments(GoAbi abi, bool is_return) {
  constexpr std::array<uint8_t, kGoRegisters> kRegisters = {saved::rax, saved::rbx, saved::rcx, saved::rdi, saved::rsi,
                                                            saved::r8,  saved::r9,  saved::r10, saved::r11};
  Operands args;
  const size_t in_registers = abi == GoAbi::registers ? kRegisters.size() : 0;
  for (size_t n = 0; n < in_registers; n++) args[is_return ? n + 1 : n] = Operand::of_register(kRegisters[n]);
  for (size_t n = in_registers; n < kArguments && !is_return; n++)
    args[n] = Operand::memory(saved::rsp, 8 * static_cast<int64_t>(n - in_registers + 1));
  return args;
}

}  // namespace dvm::runtime
