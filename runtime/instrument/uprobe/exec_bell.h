#pragma once
// Notices programs that traced processes execute and that no dynamic linker reports (load_watch.h), such as statically linked
// ones. They do not wait for dvm, so their firings in the first milliseconds are lost; dvm says so.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/instrument/abilities.h"
#include "runtime/instrument/uprobe/kernel.h"
#include "runtime/symbol/elf.h"
#include "runtime/symbol/file_key.h"

namespace dvm::runtime {

class ExecBell {
 public:
  // Rings for the root and, with the map of its descendants, for these. Without it that is -1.
  static Result<std::unique_ptr<ExecBell>> make(int32_t root, int followed, int bell);

 private:
  FileDescriptor program_, link_;
};

class UnreportedExecs {
 public:
  // Also processes without a linker, which has no path then. If there is one, only programs without it may go unnoticed.
  Status watch(const LinkerSite& linker, int followed, int bell);
  void end_watches() { bells_.clear(); }
  // Programs with this linker report their files.
  void know(const std::string& linker);
  // Takes a record of a ring, if it is one of an ExecBell.
  void note(std::span<const std::byte> record);
  // Adds the programs that were noted since the last call and will not be in `loads` by themselves.
  void take(std::vector<LoadedIn>& loads, std::vector<std::string>& notes);
  // Adds a note on the programs that have ended unseen since the last call.
  void take_notes(std::vector<std::string>& notes);

 private:
  void miss(pid_t pid);
  enum class Kind : uint8_t { reports, is_silent, has_ended };
  Kind kind_of(pid_t pid);

  std::vector<std::unique_ptr<ExecBell>> bells_;
  std::vector<FileKey> linkers_;
  std::vector<LoadedIn> noted_;
  ElfCache files_;
  bool was_late_ = false;
  uint64_t missed_ = 0;     // programs
  pid_t first_missed_ = 0;  // the process of the first one
};

}  // namespace dvm::runtime
