// Tested by tests/unit/instrument/hidden_faults_test.cpp.

#include "runtime/agent/hidden_faults.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <memory>

#include "common/file_descriptor.h"
#include "runtime/agent/guard_regions.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kBetweenLooks = 1'000'000'000;
constexpr unsigned kFilesAtOnce = 200;                // one takes 2 to 10 us
constexpr uint64_t kMostResident = (1 << 30) / 4096;  // smaps of so many pages take 10 ms

// A thread of the kernel serves a ring of io_uring(7), and may install guard regions.
std::string_view fault_by_file(int folder, const char* name) {
  char text[64];
  const ssize_t size = readlinkat(folder, name, text, sizeof text);
  const std::string_view target(text, size > 0 ? static_cast<size_t>(size) : 0);
  if (target == "anon_inode:[userfaultfd]") return "it serves page faults by userfaultfd(2)";
  return target == "anon_inode:[io_uring]" ? "it makes system calls by io_uring(7)" : std::string_view();
}

bool is_too_large(const std::string& folder) {
  uint64_t mapped = 0, resident = 0;
  return !(std::ifstream(folder + "/statm") >> mapped >> resident) || resident > kMostResident;
}

}  // namespace

bool has_protection_keys() {
  static const bool has = [] {
    const FileDescriptor file(open("/proc/self/smaps", O_RDONLY | O_CLOEXEC));
    char text[4096];  // of the first mapping, at least
    const ssize_t size = read(file.get(), text, sizeof text);
    return size > 0 && std::string_view(text, static_cast<size_t>(size)).find("\nProtectionKey:") != std::string_view::npos;
  }();
  return has;
}

std::string_view HiddenFaults::fault_of_process() const {
  if (guards_shown() == GuardsShown::hidden) return "the kernel does not report guard regions (madvise)";
  // The kernel unmaps the shadow stack of a thread that ends.
  if (status_field(pid_, "x86_Thread_features:").find("shstk") != std::string::npos) return "it uses shadow stacks";
  if (may_have_keys() && is_too_large(folder_)) return "it is too large to look for memory with protection keys";
  return {};
}

bool HiddenFaults::look(uint64_t now) {
  if (!found_.empty()) return true;
  if (looked_ == 0 || now >= looked_ + kBetweenLooks) {
    folder_ = memory_folder(pid_);
    found_ = fault_of_process();
    if (is_done_) position_ = 0;
    looked_ = now, is_done_ = false;
  }
  if (found_.empty() && !is_done_ && !look_at_files()) return false;
  return has_seen_all_ || !found_.empty();
}

// The next ones. False: they cannot be listed.
bool HiddenFaults::look_at_files() {
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir((folder_ + "/fd").c_str()), closedir);
  if (!files) return false;
  seekdir(files.get(), position_);
  for (unsigned i = 0; i < kFilesAtOnce; i++) {
    const dirent* const entry = readdir(files.get());
    if (entry == nullptr) {
      has_seen_all_ = is_done_ = true;
      return true;
    }
    if (const std::string_view fault = fault_by_file(dirfd(files.get()), entry->d_name); !fault.empty())
      return found_ = fault, true;
    position_ = entry->d_off;
  }
  return true;
}

}  // namespace dvm::runtime
