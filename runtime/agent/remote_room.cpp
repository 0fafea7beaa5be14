// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/remote_room.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/symbol/needed.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096, kStep = 16;
constexpr unsigned kMostSegments = 64;

uint64_t page_end(uint64_t address) { return (address + kPageBytes - 1) & ~(kPageBytes - 1); }

// Where the piece of code ends whose mark lies there; 0: none does.
uint64_t end_of_piece(const std::vector<std::byte>& content, uint64_t at) {
  uint64_t words[2];
  std::memcpy(words, content.data() + at, sizeof words);
  return words[0] == kRemoteMark ? at + std::min<uint64_t>(words[1], content.size()) : 0;
}

// From the beginning to the end of its last piece. Rooms are taken from the beginning on, so what is behind that is free.
// Nothing: it cannot be read.
std::optional<AddressRange> used_part(const AgentMemory& memory, const AddressRange& room) {
  std::vector<std::byte> content(room.end - room.begin);
  if (!memory.read(room.begin, content)) return std::nullopt;
  uint64_t used = 0;
  for (uint64_t at = 0; at + kStep <= content.size(); at += kStep) used = std::max(used, end_of_piece(content, at));
  return AddressRange{room.begin, room.begin + used};
}

// Finds the padding behind the code of a file in the last page of each executable segment.
std::vector<AddressRange> paddings(const MappedObject& object) {
  std::vector<AddressRange> found;
  std::ifstream file(object.open_path, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return found;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < std::min<unsigned>(header.e_phnum, kMostSegments); i++) {
    Elf64_Phdr segment{};
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    const bool is_code = segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 && segment.p_memsz == segment.p_filesz;
    const uint64_t end = segment.p_offset + segment.p_filesz;
    if (!is_code || end < object.offset || segment.p_offset > object.offset + kPageBytes) continue;
    const uint64_t address = object.address + (end - object.offset);
    found.push_back({(address + kStep - 1) & ~(kStep - 1), page_end(address)});
  }
  return found;
}

// And not that of other processes as well.
bool is_own_code(const std::vector<MemoryMapping>& mappings, const AddressRange& room) {
  const MemoryMapping* its = mapping_at(mappings, room.begin);
  return its != nullptr && its->is_executable && !its->is_shared && room.end <= its->range.end;
}

// Behind the kernel's code in the process, the vDSO, whose file ends with its section headers. The process has a copy of its own
// once that is written to.
std::optional<AddressRange> room_in_vdso(const AgentMemory& memory, const std::vector<MemoryMapping>& mappings) {
  const auto vdso = std::find_if(mappings.begin(), mappings.end(), [](const MemoryMapping& one) { return one.path == "[vdso]"; });
  Elf64_Ehdr header{};
  if (vdso == mappings.end() || !vdso->is_executable || !memory.read_object(vdso->range.begin, header)) return std::nullopt;
  const uint64_t bytes = vdso->range.end - vdso->range.begin, sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || sections == 0 || header.e_shoff >= bytes) return std::nullopt;
  const uint64_t begin = (header.e_shoff + sections + kStep - 1) & ~(kStep - 1);
  if (begin >= bytes) return std::nullopt;
  return AddressRange{vdso->range.begin + begin, vdso->range.end};
}

// Other threads run, and one may close a library; hardly one that the program needs. These come first. A static program may have
// no room in its file.
std::vector<AddressRange> rooms_of(pid_t pid, const AgentMemory& memory) {
  std::vector<AddressRange> found;
  const auto objects = mapped_objects(pid);
  const auto mappings = mappings_of(pid);
  if (!objects || !mappings) return found;
  for (const std::vector<MappedObject>& some : {needed_objects(*objects), *objects})
    for (const MappedObject& object : some)
      for (const AddressRange& room : paddings(object))
        if (room.begin < room.end && is_own_code(*mappings, room)) found.push_back(room);
  if (const auto room = room_in_vdso(memory, *mappings)) found.push_back(*room);
  return found;
}

}  // namespace

std::optional<uint64_t> find_remote_room(pid_t pid, const AgentMemory& memory, size_t bytes) {
  for (const AddressRange& room : rooms_of(pid, memory)) {
    const auto used = used_part(memory, room);
    const uint64_t free = used ? (used->end + kStep - 1) & ~(kStep - 1) : room.end;
    if (free + bytes <= room.end) return free;
  }
  return std::nullopt;
}

std::vector<AddressRange> remote_pieces(pid_t pid, const AgentMemory& memory) {
  std::vector<AddressRange> found;
  for (const AddressRange& room : rooms_of(pid, memory))
    if (const auto used = used_part(memory, room); used && used->begin < used->end) found.push_back(*used);
  return found;
}

}  // namespace dvm::runtime
