#pragma once
// The parts of a recording as they lie in the file (recording.h draws it), shared by its writer and its reader.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace dvm::runtime::recording {

constexpr char kMagic[16] = "dvm recording\n\0";
constexpr uint32_t kVersion = 2;
constexpr uint32_t kMachine = 62;            // EM_X86_64
constexpr uint32_t kLargestBlock = 1 << 20;  // bytes of payload
constexpr uint32_t kLargestId = 1 << 24;     // of a probe

enum BlockKind : uint32_t { probes = 1, events = 2, processes = 3, trailer = 4, objects = 5, symbols = 6, kernel = 7 };
enum RecordedSiteKind : uint8_t { entry_site = 1, return_site = 2, tick_site = 3, profile_site = 4, kernel_site = 5 };
constexpr uint8_t kInProgram = 1, kSpellProvider = 2, kSpellFunction = 4, kSpellName = 8;

struct Header {
  char magic[16];
  uint32_t version;
  uint32_t machine;
  int64_t wall;
  int32_t target;
  uint32_t crc;
};
static_assert(sizeof(Header) == 40);

struct BlockHead {
  uint32_t kind;
  uint32_t length;
  uint32_t crc;
  uint32_t count;
};
static_assert(sizeof(BlockHead) == 16);

struct ProbeHead {
  uint32_t id;
  uint8_t site;
  uint8_t flags;
  uint16_t unknown;  // a bit for each argument that is not recorded
  int32_t pid;
  uint32_t number_low, number_high;  // a u64, in halves since it is not aligned
};
static_assert(sizeof(ProbeHead) == 20);

struct EventHead {
  uint32_t length;
  uint32_t probe_id;
  uint64_t timestamp, walltimestamp, vtimestamp;
  int32_t pid, tid, cpu, error_number;
  uint16_t args;
  uint16_t frames;
  uint16_t late;
  uint8_t execname;
  uint8_t memory;
};
static_assert(sizeof(EventHead) == 56);

// Fields of an event that equal fields of the firing: copy(field of the head, field of the firing) copies one to the other.
template <class Head, class Firing, class Copy>
void for_each_field(Head& head, Firing& firing, Copy copy) {
  copy(head.probe_id, firing.probe_id);
  copy(head.timestamp, firing.timestamp);
  copy(head.walltimestamp, firing.walltimestamp);
  copy(head.vtimestamp, firing.vtimestamp);
  copy(head.pid, firing.pid);
  copy(head.tid, firing.tid);
  copy(head.cpu, firing.cpu);
  copy(head.error_number, firing.error_number);
}

enum class MemoryKind : uint32_t { bytes, string, file };

struct MemoryHead {
  uint64_t address;
  uint32_t size;
  MemoryKind kind;
};
static_assert(sizeof(MemoryHead) == 16);

struct ProcessHead {
  int32_t pid, ppid, pgid, sid;
  int64_t uid, gid, euid, egid;
  int64_t threads;
};
static_assert(sizeof(ProcessHead) == 56);

template <class Head, class Ids, class Copy>
void for_each_id(Head& head, Ids& ids, Copy copy) {
#define DVM_PROCESS_ID(name, type, field, further) copy(head.name, ids.name);
#include "runtime/process/process_ids.def"
}

struct ObjectHead {
  int32_t pid;
  uint32_t flags;
  uint64_t address, offset;
};
static_assert(sizeof(ObjectHead) == 24);

struct SymbolHead {
  int32_t pid;
  uint32_t zero;
  uint64_t at, function, module;
};
static_assert(sizeof(SymbolHead) == 32);

struct Trailer {
  uint64_t events, drops;
};
static_assert(sizeof(Trailer) == 16);

// Takes values off the front of bytes; after the first that is not there in full, everything fails.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  bool take(T& value) {
    std::span<const std::byte> bytes;
    if (!take_bytes(sizeof(T), bytes)) return false;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return true;
  }
  bool take_bytes(size_t size, std::span<const std::byte>& bytes) {
    if (rest_.size() < size) return false;
    bytes = rest_.first(size);
    rest_ = rest_.subspan(size);
    return true;
  }
  size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace dvm::runtime::recording
