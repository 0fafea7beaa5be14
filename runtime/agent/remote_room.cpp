// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/remote_room.h"

#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <span>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/symbol/needed.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096, kStep = 16;
constexpr unsigned kMostSegments = 64;

uint64_t page_end(uint64_t address) { return (address + kPageBytes - 1) & ~(kPageBytes - 1); }

// original: its bytes before anything was written there, as far as it is known.
struct Room {
  AddressRange range;
  std::vector<std::byte> original;
};

// Where the piece of code ends whose mark lies there; 0: none does.
uint64_t end_of_piece(const std::vector<std::byte>& content, uint64_t at) {
  uint64_t words[2];
  std::memcpy(words, content.data() + at, sizeof words);
  return words[0] == kRemoteMark ? at + std::min<uint64_t>(words[1], content.size() - at) : 0;
}

// Nothing: it cannot be read.
std::optional<std::vector<AddressRange>> pieces_in(const AgentMemory& memory, const AddressRange& room) {
  std::vector<std::byte> content(room.end - room.begin);
  if (!memory.read(room.begin, content)) return std::nullopt;
  std::vector<AddressRange> found;
  for (uint64_t at = 0; at + kStep <= content.size(); at += kStep)
    if (const uint64_t end = end_of_piece(content, at); end != 0) found.push_back({room.begin + at, room.begin + end});
  return found;
}

// Rooms are taken from the beginning on, so what is behind their last piece is free.
uint64_t end_of_last(const std::vector<AddressRange>& pieces, uint64_t begin) {
  for (const AddressRange& one : pieces) begin = std::max(begin, one.end);
  return begin;
}

// Bytes of a file as they are mapped: zeros behind its end.
std::vector<std::byte> mapped_bytes(std::ifstream& file, uint64_t offset, uint64_t bytes) {
  std::vector<std::byte> content(bytes);
  const std::streampos next = file.tellg();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(bytes));
  file.clear();
  file.seekg(next);
  return content;
}

// Finds the padding behind the code of a file in the last page of each executable segment.
std::vector<Room> paddings(const MappedObject& object) {
  std::vector<Room> found;
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
    const AddressRange room{(address + kStep - 1) & ~(kStep - 1), page_end(address)};
    found.push_back({room, mapped_bytes(file, end + (room.begin - address), room.end - room.begin)});
  }
  return found;
}

// And not that of other processes as well.
bool is_own_code(const std::vector<MemoryMapping>& mappings, const AddressRange& room) {
  const MemoryMapping* its = mapping_at(mappings, room.begin);
  return its != nullptr && its->is_executable && !its->is_shared && room.end <= its->range.end;
}

// Behind the kernel's code in the process, the vDSO, whose file ends with its section headers. The process has a copy of its own
// once that is written to. That of dvm is the same.
std::optional<Room> room_in_vdso(const AgentMemory& memory, const std::vector<MemoryMapping>& mappings) {
  const auto vdso = std::find_if(mappings.begin(), mappings.end(), [](const MemoryMapping& one) { return one.path == "[vdso]"; });
  Elf64_Ehdr header{};
  if (vdso == mappings.end() || !vdso->is_executable || !memory.read_object(vdso->range.begin, header)) return std::nullopt;
  const uint64_t bytes = vdso->range.end - vdso->range.begin, sections = uint64_t{header.e_shnum} * header.e_shentsize;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || sections == 0 || header.e_shoff >= bytes) return std::nullopt;
  const uint64_t begin = (header.e_shoff + sections + kStep - 1) & ~(kStep - 1);
  if (begin >= bytes) return std::nullopt;
  const auto* own = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
  if (own == nullptr || std::memcmp(own, &header, sizeof header) != 0) return std::nullopt;
  return Room{{vdso->range.begin + begin, vdso->range.end}, {own + begin, own + bytes}};
}

// Other threads run, and one may close a library; hardly one that the program needs. These come first. A static program may have
// no room in its file.
std::vector<Room> rooms_of(pid_t pid, const AgentMemory& memory) {
  std::vector<Room> found;
  const auto objects = mapped_objects(pid);
  const auto mappings = mappings_of(pid);
  if (!objects || !mappings) return found;
  for (const std::vector<MappedObject>& some : {needed_objects(*objects), *objects})
    for (const MappedObject& object : some)
      for (const Room& room : paddings(object))
        if (room.range.begin < room.range.end && is_own_code(*mappings, room.range)) found.push_back(room);
  if (const auto room = room_in_vdso(memory, *mappings)) found.push_back(*room);
  return found;
}

}  // namespace

std::optional<uint64_t> find_remote_room(pid_t pid, const AgentMemory& memory, size_t bytes) {
  for (const auto& [room, original] : rooms_of(pid, memory)) {
    const auto pieces = pieces_in(memory, room);
    const uint64_t free = pieces ? (end_of_last(*pieces, room.begin) + kStep - 1) & ~(kStep - 1) : room.end;
    if (free + bytes <= room.end) return free;
  }
  return std::nullopt;
}

std::vector<AddressRange> remote_pieces(pid_t pid, const AgentMemory& memory) {
  std::vector<AddressRange> found;
  for (const auto& [room, original] : rooms_of(pid, memory))
    if (const auto pieces = pieces_in(memory, room)) found.insert(found.end(), pieces->begin(), pieces->end());
  return found;
}

bool restore_remote_rooms(pid_t pid, const AgentMemory& memory) {
  bool is_done = true;
  for (const auto& [room, original] : rooms_of(pid, memory))
    for (const AddressRange& one : pieces_in(memory, room).value_or(std::vector<AddressRange>{}))
      is_done &= memory.write(one.begin, std::span(original).subspan(one.begin - room.begin, one.end - one.begin));
  return is_done;
}

}  // namespace dvm::runtime
