#include "runtime/agent/jump_locks.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "common/regular_file.h"
#include "runtime/code/displaced.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

struct flock lock_of(short type, uint64_t begin, uint64_t end) {
  struct flock made {};
  made.l_type = type;
  made.l_whence = SEEK_SET;
  made.l_start = static_cast<off_t>(begin);
  made.l_len = static_cast<off_t>(end - begin);
  return made;
}

void set_lock(const FileDescriptor& file, short type, uint64_t begin, uint64_t end) {
  struct flock wanted = lock_of(type, begin, end);
  if (begin < end && fcntl(file.get(), F_OFD_SETLK, &wanted) != 0) return;  // the bytes are not known elsewhere, then
}

// Over the network, each lock would be a message. No file there is traced from two machines.
FileDescriptor open_local(const std::string& path) {
  auto file = RegularFile::open(path);
  struct statfs system {};
  const bool is_far = file && fstatfs(file->fd(), &system) == 0 && system.f_type == NFS_SUPER_MAGIC;
  return !file || is_far ? FileDescriptor() : FileDescriptor(file->release());
}

// Ranges with less than so many bytes between them are one.
std::vector<AddressRange> join(const std::map<uint64_t, uint64_t>& ranges, uint64_t between) {
  std::vector<AddressRange> joined;
  for (const auto& [begin, end] : ranges) {
    if (joined.empty() || begin > joined.back().end + between)
      joined.push_back({begin, end});
    else
      joined.back().end = std::max(joined.back().end, end);
  }
  return joined;
}

}  // namespace

// What is locked already stays so all the time.
void JumpLocks::lock(const File& file) {
  std::vector<AddressRange> wanted = join(file.jumps, 0);
  for (uint64_t between = 64; wanted.size() > kMostOfFile; between *= 2) wanted = join(file.jumps, between);
  uint64_t end = 0;
  for (const AddressRange& one : wanted) {
    set_lock(file.file, F_RDLCK, one.begin, one.end);
    set_lock(file.file, F_UNLCK, end, one.begin);
    end = one.end;
  }
  set_lock(file.file, F_UNLCK, end, INT64_MAX);
}

std::set<uint64_t> JumpLocks::add(pid_t pid, std::span<const AgentSite> sites) {
  std::set<uint64_t> added;
  const auto objects = mapped_objects(pid);
  if (!objects) return added;
  std::set<const File*> changed;
  const auto note = [&](uint64_t address, uint64_t bytes, uint64_t jump) {
    const MappedObject* object = object_at(*objects, address);
    if (object == nullptr) return;
    const auto [found, is_new] = files_.try_emplace(object->open_path);
    File& file = found->second;
    if (is_new) file.file = open_local(object->open_path);
    if (!file.file) return;
    const uint64_t offset = address - object->address + object->offset;
    const auto [first, last] = places_.equal_range(jump);
    if (std::any_of(first, last, [&](const auto& one) { return one.second.file == &file && one.second.offset == offset; }))
      return;
    file.jumps[offset] = offset + bytes;
    places_.insert({jump, {&file, offset}});
    added.insert(jump);
    changed.insert(&file);
  };
  for (const AgentSite& one : sites) {
    if (!one.refusal.empty()) continue;
    note(one.window_address, one.relay == 0 ? kJumpBytes : kShortJumpBytes, one.window_address);
    if (one.relay != 0) note(one.relay, kJumpBytes, one.window_address);
  }
  for (const File* file : changed) lock(*file);
  return added;
}

void JumpLocks::remove_refused(std::span<const AgentSite> sites, const std::set<uint64_t>& added) {
  std::set<uint64_t> refused;
  for (const AgentSite& one : sites)
    if (!one.refusal.empty() && added.contains(one.window_address)) refused.insert(one.window_address);
  for (const AgentSite& one : sites)
    if (one.refusal.empty()) refused.erase(one.window_address);
  remove(std::vector<uint64_t>(refused.begin(), refused.end()));
}

void JumpLocks::remove(std::span<const uint64_t> jumps) {
  std::set<const File*> changed;
  for (const uint64_t jump : jumps) {
    const auto [begin, end] = places_.equal_range(jump);
    for (auto it = begin; it != end; ++it) {
      it->second.file->jumps.erase(it->second.offset);
      changed.insert(it->second.file);
    }
    places_.erase(begin, end);
  }
  for (const File* file : changed) lock(*file);
}

void JumpLocks::clear() {
  places_.clear();
  files_.clear();
}

LockedBy LockedFiles::holder(const std::string& open_path, uint64_t offset) {
  const auto [found, is_new] = files_.try_emplace(open_path);
  if (is_new) found->second = open_local(open_path);
  struct flock asked = lock_of(F_WRLCK, offset, offset + 1);
  const bool is_known = found->second && fcntl(found->second.get(), F_OFD_GETLK, &asked) == 0;
  if (!is_known || asked.l_type != F_RDLCK) return LockedBy::nobody;
  const bool is_of_open_file = asked.l_pid == -1, has_end = asked.l_len != 0;
  return is_of_open_file && has_end ? LockedBy::agent : LockedBy::another;
}

}  // namespace dvm::runtime
