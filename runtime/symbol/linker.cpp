// Finds the dynamic linker. Covered by tests/runtime/scenarios/test_late.py.

#include "runtime/symbol/linker.h"

#include <gelf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>

#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

// ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld.so. On Debian, musl's is a link to its libc.so.
bool is_linker(std::string_view name) { return name.starts_with("ld-") || name.starts_with("ld.") || name == "libc.so"; }

template <class All>
auto find_named(const All& all, std::string_view name) {
  return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

// What a word of the file refers to once it has been relocated.
std::optional<uint64_t> relocated_word(const std::string& path, uint64_t address) {
  const OpenElf file(path);
  for (Elf_Scn* section = nullptr; file.get() && (section = elf_nextscn(file.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Rela one;
    for (int i = 0; data != nullptr && gelf_getrela(data, i, &one) != nullptr; i++)
      if (one.r_offset == address && GELF_R_TYPE(one.r_info) == R_X86_64_RELATIVE) return static_cast<uint64_t>(one.r_addend);
  }
  return std::nullopt;
}

// musl's variable has no name: another one refers to it.
std::optional<uint64_t> musl_debug(const ElfObject& elf, const std::string& path) {
  const auto referring = find_named(elf.data(), "_dl_debug_addr");
  return referring == elf.data().end() ? std::nullopt : relocated_word(path, referring->address);
}

}  // namespace

std::optional<LinkerSite> find_linker(int32_t pid, const std::vector<MappedObject>& objects, ElfCache& files) {
  for (const MappedObject& object : objects) {
    if (!is_linker(object.name)) continue;
    const auto elf = files.read(object.open_path);
    if (!elf) continue;
    const auto function = find_named((*elf)->functions(), "_dl_debug_state");
    if (function == (*elf)->functions().end()) continue;
    const auto named = find_named((*elf)->data(), "_r_debug");
    const bool is_named = named != (*elf)->data().end();
    const auto debug = is_named ? std::optional(named->address) : musl_debug(**elf, object.open_path);
    if (!debug) continue;
    const uint64_t state = *debug + offsetof(r_debug, r_state);
    return LinkerSite{object.open_path, function->offset, static_cast<int64_t>(state - function->address), pid};
  }
  return std::nullopt;
}

}  // namespace dvm::runtime
