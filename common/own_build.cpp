// Covered by tests/unit/common/own_build_test.cpp.

#include "common/own_build.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <span>
#include <string_view>

namespace dvm {
namespace {

std::string build_id_in(std::string_view notes) {
  constexpr std::string_view kOwner("GNU\0", 4);
  constexpr auto aligned = [](size_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(notes.data());
    const size_t owner = sizeof *note, id = owner + aligned(note->n_namesz), end = id + aligned(note->n_descsz);
    if (end > notes.size()) break;
    if (note->n_type == NT_GNU_BUILD_ID && notes.substr(owner, note->n_namesz) == kOwner) {
      const auto* bytes = reinterpret_cast<const unsigned char*>(notes.data()) + id;
      return fmt::format("{:02x}", fmt::join(std::span(bytes, note->n_descsz), ""));
    }
    notes.remove_prefix(end);
  }
  return "";
}

// The program is the first object that it is called for.
int find_in_program(dl_phdr_info* object, size_t, void* found) {
  for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
    if (std::string id = build_id_in({notes, segment.p_memsz}); !id.empty()) *static_cast<std::string*>(found) = std::move(id);
  }
  return 1;
}

}  // namespace

std::string own_build_id() {
  std::string found;
  dl_iterate_phdr(find_in_program, &found);
  return found;
}

}  // namespace dvm
