#pragma once
// Debug information from anywhere: every question to it must end with an answer or none, and what it describes must be within
// bounds.

#include "runtime/symbol/dwarf_describe.h"
#include "runtime/symbol/dwarf_file.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/signature.h"
#include "runtime/symbol/source_places.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

// Asks for names that the seeds have, and for what lies at the addresses of functions and data.
class DwarfQuestions {
 public:
  DwarfQuestions(const runtime::DwarfFile& file, const runtime::ElfObject& elf) : file_(file), elf_(elf) {}

  // How much there was to be had.
  uint64_t ask() {
    using dif::DescribedAs;
    for (auto as : {DescribedAs::structure, DescribedAs::enumeration, DescribedAs::alias})
      for (const char* name : {"node", "bits", "color", "odd_t", "Cat", "Diet", "int"})
        if (auto die = file_.find_type(as, name)) look_at(table_.add(*die), 0);
    for (const char* name : {"BLUE", "meat"})
      if (auto found = file_.find_enumerator(name))
        found_ += static_cast<uint64_t>(runtime::enumerator_value(found->enumerator)) & 1;
    for (const runtime::ElfFunction& function : elf_.functions())
      if (auto die = file_.find_function(function.address))
        for (bool is_return : {false, true}) found_ += runtime::arguments_of(*die, is_return, table_).size();
    for (const runtime::ElfData& data : elf_.data())
      if (auto die = file_.find_variable(data.name, data.address)) look_at(runtime::type_of(*die, table_), 0);
    return found_;
  }

 private:
  // Follows what a type is made of.
  void look_at(dif::TypeRef type, unsigned depth) {
    const Dwarf_Die* die = table_.find(type);
    if (die == nullptr || depth > 6) return;
    const dif::TypeDesc desc = runtime::describe(*die, table_);
    require(desc.as == dif::DescribedAs::unknown || desc.size <= uint64_t{1} << 40, "a type has a size that is possible");
    for (const dif::MemberDesc& member : runtime::members_of(*die, table_)) {
      require(member.bits <= 64 && (member.bits == 0 || member.shift + member.bits <= 64), "a bit-field lies in a word");
      look_at(member.type, depth + 2);
    }
    found_ += runtime::enumerators_of(*die).size();
    look_at(desc.target, depth + 1);
  }

  const runtime::DwarfFile& file_;
  const runtime::ElfObject& elf_;
  runtime::DieTable table_;
  uint64_t found_ = 0;
};

// Asks for the source at both ends of each function, and in it.
inline void ask_places(runtime::SourcePlaces& places, const runtime::ElfObject& elf) {
  constexpr size_t kMost = 257;  // calls that are inlined into each other, and the function
  for (const runtime::ElfFunction& function : elf.functions())
    for (const uint64_t offset : {uint64_t{0}, function.size / 2, function.size})
      require(places.at(function.address + offset).size() <= kMost, "inlined calls are bounded");
}

// True when the file had debug information.
inline bool read_dwarf(MemoryFile& file, std::string_view bytes) {
  require(file.write(bytes), "the input can be written to memory");
  auto elf = runtime::ElfObject::read(file.path());
  auto dwarf = runtime::DwarfFile::open(file.path());
  if (elf && dwarf) DwarfQuestions(**dwarf, **elf).ask();
  const auto places = runtime::SourcePlaces::open(file.path(), true);
  if (elf && places) ask_places(*places, **elf);
  return static_cast<bool>(dwarf);
}

}  // namespace dvm::fuzz
