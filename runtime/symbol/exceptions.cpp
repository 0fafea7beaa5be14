// Reads symbols and personalities. Covered by tests/unit/instrument/exceptions_test.cpp.

#include "runtime/symbol/exceptions.h"

#include <elfutils/libdw.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/symbol/open_elf.h"
#include "runtime/symbol/stack_switches.h"

namespace dvm::runtime {
namespace {

// Augmentations with P have a personality, those with L tables for it. A file without sections may have any.
bool names_personality(Elf* elf) {
  size_t sections = 0;
  const auto* ident = reinterpret_cast<const unsigned char*>(elf_getident(elf, nullptr));
  if (elf_getshdrnum(elf, &sections) != 0 || sections == 0 || ident == nullptr) return true;
  Elf_Scn* section = find_section(elf, ".eh_frame");
  Elf_Data* data = section == nullptr ? nullptr : elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return find_section(elf, ".gcc_except_table") != nullptr;
  Dwarf_CFI_Entry entry;
  int status = 0;
  for (Dwarf_Off at = 0, next = 0; (status = dwarf_next_cfi(ident, data, true, at, &next, &entry)) == 0; at = next)
    if (dwarf_cfi_cie_p(&entry) && std::strpbrk(entry.cie.augmentation, "PL") != nullptr) return true;
  return status < 0;
}

void read_names(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, LinkedFile& file) {
  Elf_Data* symbols = elf_getdata(section, nullptr);
  if (symbols == nullptr) return;
  const size_t count = std::min<size_t>(symbols->d_size / sizeof(GElf_Sym), INT32_MAX);
  for (size_t i = 0; i < count; i++) {
    GElf_Sym symbol;
    if (gelf_getsym(symbols, static_cast<int>(i), &symbol) == nullptr) continue;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    (symbol.st_shndx == SHN_UNDEF ? file.imports : file.exports).emplace(name);
  }
}

bool read_dynamic_symbols(Elf* elf, LinkedFile& file) {
  if (elf == nullptr || elf_kind(elf) != ELF_K_ELF) return false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr && header.sh_type == SHT_DYNSYM) read_names(elf, section, header, file);
  }
  return true;
}

// Functions of the C library for handlers above other stacks. Programs that do both have such handlers.
constexpr std::array<const char*, 2> kHandlersAbove = {"sigaltstack", "pthread_create"};

bool has_interpreter(Elf* elf) {
  size_t count = 0;
  GElf_Phdr header;
  if (elf_getphdrnum(elf, &count) != 0) return false;
  for (size_t i = 0; i < count; i++)
    if (gelf_getphdr(elf, static_cast<int>(i), &header) != nullptr && header.p_type == PT_INTERP) return true;
  return false;
}

// A program that is linked statically contains what others import. Without symbols, it may contain anything.
void read_static_symbols(Elf* elf, LinkedFile& file) {
  LinkedFile whole;
  bool is_stripped = true;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_SYMTAB) continue;
    read_names(elf, section, header, whole);
    is_stripped = false;
  }
  for (const char* name : kHandlersAbove)
    if (is_stripped || whole.exports.contains(name)) file.imports.emplace(name);
}

bool imports_of(const LinkedFile& file, const LinkedFile& other) {
  return std::any_of(file.imports.begin(), file.imports.end(), [&](const std::string& name) {
    return (!other.is_allocator || name.starts_with("_Z")) && other.exports.contains(name);
  });
}

// Functions of the C library for other stacks.
bool imports_switches(const LinkedFile& file) {
  const auto imports = [&](const char* name) { return file.imports.contains(name); };
  return imports("makecontext") || imports("swapcontext") || imports("setcontext");
}

bool is_idle(const LinkedFile& file) { return file.is_runtime || file.is_allocator || file.is_c_library; }

}  // namespace

LinkedFile LinkedFile::read(const MappedObject& object) {
  LinkedFile file;
  const OpenElf elf(object.open_path);
  if (!read_dynamic_symbols(elf.get(), file)) return file;
  if (object.is_program && !has_interpreter(elf.get())) read_static_symbols(elf.get(), file);
  file.has_handlers = names_personality(elf.get());
  const auto exports = [&](const char* name) { return !object.is_program && file.exports.contains(name); };
  file.is_c_library = exports("__libc_start_main") || object.name.starts_with("libpthread");
  file.is_runtime = exports("_Unwind_RaiseException") || exports("__cxa_throw");
  file.switches_stacks = !file.is_c_library && (imports_switches(file) || runtime::switches_stacks(elf.get()));
  file.is_allocator = exports("malloc") && !file.is_runtime && !file.is_c_library;
  return file;
}

bool can_throw(std::span<const LinkedFile* const> files) {
  std::vector<const LinkedFile*> counting, idle;
  std::partition_copy(files.begin(), files.end(), std::back_inserter(idle), std::back_inserter(counting),
                      [](const LinkedFile* file) { return is_idle(*file); });
  for (size_t i = 0; i < counting.size(); i++) {
    const auto used = std::stable_partition(idle.begin(), idle.end(), [&](const LinkedFile* other) {
      return other->is_c_library || !imports_of(*counting[i], *other);
    });
    counting.insert(counting.end(), used, idle.end());
    idle.erase(used, idle.end());
  }
  return std::any_of(counting.begin(), counting.end(),
                     [](const LinkedFile* file) { return file->is_runtime || file->has_handlers; });
}

bool can_switch_stacks(std::span<const LinkedFile* const> files) {
  return std::any_of(files.begin(), files.end(), [](const LinkedFile* file) { return file->switches_stacks; });
}

bool can_handle_above(std::span<const LinkedFile* const> files) {
  const auto import = [&](const char* name) {
    return std::any_of(files.begin(), files.end(),
                       [&](const LinkedFile* file) { return !file->is_c_library && file->imports.contains(name); });
  };
  return std::all_of(kHandlersAbove.begin(), kHandlersAbove.end(), import);
}

}  // namespace dvm::runtime
