// Covered by tests/runtime/scenarios/test_process.py.
#include "runtime/symbol/find_main.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/symbol/elf.h"
#include "runtime/symbol/linker.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

std::optional<uint64_t> address_of(const MappedObject& object, std::string_view function) {
  const auto elf = ElfObject::read(object.open_path);
  const auto bias = elf ? (*elf)->bias(object.address, object.offset) : std::nullopt;
  if (!bias) return std::nullopt;
  const auto& functions = (*elf)->functions();
  const auto found = std::find_if(functions.begin(), functions.end(), [&](const ElfFunction& f) { return f.name == function; });
  return found == functions.end() ? std::nullopt : std::optional(found->address + *bias);
}

bool is_of_glibc(const std::string& linker, ElfCache& files) {
  const auto elf = files.read(linker);
  return elf && std::ranges::any_of((*elf)->data(), [](const auto& one) { return one.name == "_r_debug"; });
}

}  // namespace

Result<MainPlace> find_main(pid_t pid) {
  const auto objects = mapped_objects(pid);
  if (!objects) return objects.error();
  for (const MappedObject& object : *objects)
    if (const auto address = object.is_program ? address_of(object, "main") : std::nullopt) return MainPlace{*address, false};
  for (const MappedObject& object : *objects)
    if (const auto address = address_of(object, "__libc_start_main")) return MainPlace{*address, true};
  return Error{"main cannot be found: neither the program nor a C library has its symbol"};
}

std::optional<LoadedPlace> find_loaded(pid_t pid) {
  const auto objects = mapped_objects(pid);
  ElfCache files;
  const auto linker = objects ? find_linker(pid, *objects, files) : std::nullopt;
  if (!linker || !is_of_glibc(linker->path, files)) return std::nullopt;
  const auto object =
      std::find_if(objects->begin(), objects->end(), [&](const MappedObject& one) { return one.open_path == linker->path; });
  const auto function = address_of(*object, "_dl_debug_state");
  return function ? std::optional(LoadedPlace{*function, *function + static_cast<uint64_t>(linker->state)}) : std::nullopt;
}

}  // namespace dvm::runtime
