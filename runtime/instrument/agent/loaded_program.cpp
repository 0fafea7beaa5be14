#include "runtime/instrument/agent/loaded_program.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr size_t kMostSegments = 64;

struct ElfHead {
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> segments{};
};

std::optional<ElfHead> read_head(const std::string& path) {
  ElfHead head;
  std::ifstream file(path, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(&head.header), sizeof head.header)) return std::nullopt;
  head.segments.resize(std::min<size_t>(head.header.e_phnum, kMostSegments));
  file.seekg(static_cast<std::streamoff>(head.header.e_phoff));
  const auto bytes = static_cast<std::streamsize>(head.segments.size() * sizeof(Elf64_Phdr));
  if (!file.read(reinterpret_cast<char*>(head.segments.data()), bytes)) return std::nullopt;
  return head;
}

// The segment of the object's code begins in the page that is mapped at its address.
std::optional<uint64_t> entry_of(const MappedObject& object) {
  const auto head = read_head(object.open_path);
  if (!head) return std::nullopt;
  const uint64_t entry = head->header.e_entry;
  for (const Elf64_Phdr& one : head->segments) {
    const bool has_it = one.p_type == PT_LOAD && entry >= one.p_vaddr && entry < one.p_vaddr + one.p_filesz;
    if (has_it && one.p_offset / kPageBytes == object.offset / kPageBytes)
      return object.address + entry - one.p_vaddr / kPageBytes * kPageBytes;
  }
  return std::nullopt;
}

}  // namespace

bool runs_linker(pid_t pid) {
  const std::string exe = fmt::format("/proc/{}/exe", pid);
  std::error_code error;
  const std::string name = std::filesystem::read_symlink(exe, error).filename();
  if (!name.starts_with("ld-") && !name.starts_with("ld.")) return false;
  const auto head = read_head(exe);
  return head && std::none_of(head->segments.begin(), head->segments.end(), [](auto& one) { return one.p_type == PT_INTERP; });
}

std::optional<uint64_t> loaded_entry(pid_t pid) {
  const auto objects = mapped_objects(pid);
  if (!objects) return std::nullopt;
  for (const MappedObject& one : *objects)
    if (!one.is_program && one.address != 0)
      if (const auto entry = entry_of(one)) return entry;
  return std::nullopt;
}

}  // namespace dvm::runtime
