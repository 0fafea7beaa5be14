// Covered by tests/unit/instrument/memory_callers_test.cpp.

#include "runtime/instrument/agent/changed_code.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "common/file_bytes.h"
#include "common/file_descriptor.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/remote_room.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;

// An entry of /proc/PID/pagemap.
bool is_copy(uint64_t entry) {
  constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62, kOfFile = uint64_t{1} << 61;
  return (entry & (kPresent | kSwapped)) != 0 && (entry & kOfFile) == 0;
}

// The pages of a mapping that are no longer those of the file, by address.
Result<std::vector<uint64_t>> copied_pages(pid_t pid, const AddressRange& range) {
  const std::string path = memory_folder(pid) + "/pagemap";
  const FileDescriptor table(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<uint64_t> entries((range.end - range.begin) / kPageBytes), found;
  const uint64_t at = range.begin / kPageBytes * sizeof(uint64_t);
  if (!table || !read_at(table.get(), at, std::as_writable_bytes(std::span(entries)))) return Error{std::strerror(errno)};
  for (size_t i = 0; i < entries.size(); i++)
    if (is_copy(entries[i])) found.push_back(range.begin + i * kPageBytes);
  return found;
}

// The bytes of a piece of code by which dvm has held a thread, if one begins there; 0: none does. It stays until the probes go.
size_t remote_code_at(CodeBytes now) {
  uint64_t head[2] = {};  // the mark, and the size
  if (now.size() < sizeof head) return 0;
  std::memcpy(head, now.data(), sizeof head);
  return head[0] == kRemoteMark ? std::min<uint64_t>(head[1], now.size()) : 0;
}

// now: the same bytes in memory.
bool has_new(CodeBytes now, CodeBytes before) {
  constexpr size_t kJumpBytes = 5;
  constexpr unsigned char kJump = 0xe9;
  for (size_t i = 0; i + 1 < now.size(); i++) {
    if (const size_t own = remote_code_at(now.subspan(i)); own > 1) {
      i += own - 1;
      continue;
    }
    const bool is_same = i + 1 < before.size() && std::equal(now.begin() + i, now.begin() + i + 2, before.begin() + i);
    if (is_same || !begins_system_call(now.subspan(i))) continue;
    const size_t from = i - std::min(i, kJumpBytes - 1);
    const auto jump = std::find(now.begin() + from, now.begin() + i, kJump);
    if (jump == now.begin() + i) return true;
  }
  return false;
}

}  // namespace

Result<bool> has_new_system_calls(pid_t pid, const MemoryMapping& mapping, const ModuleCode& file) {
  const auto pages = copied_pages(pid, mapping.range);
  if (!pages) return pages.error();
  if (pages->empty()) return false;
  const auto memory = AgentMemory::open(pid);
  if (!memory) return memory.error();
  for (const uint64_t page : *pages) {
    // With some bytes of the pages around it.
    constexpr uint64_t kAround = 8;
    const uint64_t begin = std::max(page - kAround, mapping.range.begin),
                   end = std::min(page + kPageBytes + kAround, mapping.range.end);
    std::vector<unsigned char> now(end - begin);
    if (!memory->read(begin, std::as_writable_bytes(std::span(now)))) return Error{"its memory cannot be read"};
    const uint64_t offset = std::min<uint64_t>(begin - mapping.range.begin + mapping.offset, file.file().size());
    if (has_new(now, file.file().subspan(offset))) return true;
  }
  return false;
}

}  // namespace dvm::runtime
