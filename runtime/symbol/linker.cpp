// Finds the dynamic linker. Covered by tests/runtime/scenarios/test_late.py.

#include "runtime/symbol/linker.h"

#include <link.h>

#include <algorithm>
#include <cstddef>

namespace dvm::runtime {
namespace {

// ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld.so
bool is_linker(std::string_view name) { return name.starts_with("ld-") || name.starts_with("ld."); }

template <class All>
auto find_named(const All& all, std::string_view name) {
  return std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
}

}  // namespace

std::optional<LinkerSite> find_linker(int32_t pid, const std::vector<MappedObject>& objects, ElfCache& files) {
  for (const MappedObject& object : objects) {
    if (!is_linker(object.name)) continue;
    const auto elf = files.read(object.open_path);
    if (!elf) continue;
    const auto function = find_named((*elf)->functions(), "_dl_debug_state");
    const auto data = find_named((*elf)->data(), "_r_debug");
    if (function == (*elf)->functions().end() || data == (*elf)->data().end()) continue;
    const uint64_t state = data->address + offsetof(r_debug, r_state);
    return LinkerSite{object.open_path, function->offset, static_cast<int64_t>(state - function->address), pid};
  }
  return std::nullopt;
}

}  // namespace dvm::runtime
