#pragma once
// Looks for reasons why readable mappings of a process may fault all the same, as far as /proc/PID/maps does not show them.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace dvm::runtime {

// The CPU has protection keys.
bool has_protection_keys();

class HiddenFaults {
 public:
  explicit HiddenFaults(pid_t pid) : pid_(pid) {}

  // Looks again if the last look was long ago. A process with many files is not examined at once. False: it is not yet known
  // whether there are any. now: ns of CLOCK_MONOTONIC.
  bool look(uint64_t now);

  // True: only smaps shows which memory threads may be unable to read, because it has protection keys.
  bool may_have_keys() const { return has_protection_keys() && !has_no_keys_; }
  // It has none, and is watched for calls of pkey_mprotect(2).
  void note_no_keys() { has_no_keys_ = true; }

  // The reason found, such as "it serves page faults by userfaultfd(2)". Empty: none was found.
  std::string_view found() const { return found_; }
  // The folder of the process in /proc, as of the last look.
  const std::string& folder() const { return folder_; }

 private:
  std::string_view fault_of_process() const;
  bool look_at_files();

  pid_t pid_;
  std::string folder_;
  std::string_view found_;
  uint64_t looked_ = 0;  // the time; 0: never
  long position_ = 0;    // in the list of files
  bool has_seen_all_ = false, is_done_ = false, has_no_keys_ = false;
};

}  // namespace dvm::runtime
