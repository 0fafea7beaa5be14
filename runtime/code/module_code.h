#pragma once
// The code of a file: the bytes of its functions, and jumps into the middle of a function from outside. Hand-written functions
// share tails: the mempcpy() of glibc jumps behind the first instruction of its memmove().

#include <elf.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/recent.h"
#include "dvm/common/result.h"
#include "runtime/code/computed_jumps.h"
#include "runtime/code/function_code.h"
#include "runtime/code/mapped_file.h"
#include "runtime/code/named_code.h"
#include "runtime/code/restarts.h"
#include "runtime/code/system_calls.h"

namespace dvm::runtime {

// A function, by its offset in the file.
struct FunctionExtent {
  uint64_t offset = 0;
  uint64_t size = 0;   // 0: not known
  uint64_t alone = 0;  // bytes before another symbol begins
};

class ModuleCode {
 public:
  static Result<std::unique_ptr<ModuleCode>> open(const std::string& path);
  ModuleCode(const ModuleCode&) = delete;
  ModuleCode& operator=(const ModuleCode&) = delete;

  // The whole file.
  CodeBytes file() const { return file_; }
  // True for programs of Go's compiler, which moves stacks at run time.
  bool is_go() const { return is_go_; }
  // The bytes from `offset` on that lie in one segment of code, at most `size`.
  CodeBytes bytes(uint64_t offset, uint64_t size) const;
  // True if each page of these bytes of the file has bytes of a segment of code.
  bool has_code_in_pages(uint64_t offset, uint64_t size) const;
  // A function of its symbol tables. Kept: they are read once for each name.
  std::optional<FunctionExtent> function_named(std::string_view name) const;
  // Its instructions, and where its jump tables lead to. Kept: a function is decoded once.
  const FunctionCode& decode(const FunctionExtent& function) const;

  // True if the file names an address behind the first of the function, and no later than its last, or if a restartable sequence
  // lies there. Indirect jumps of the function may lead there.
  bool is_named_inside(const FunctionExtent& function) const;

  // True if the instruction lies in a restartable sequence, or is the signature of one. The kernel aborts a sequence if its
  // thread is interrupted, and a probe interrupts it.
  bool is_restartable(uint64_t offset) const;

  // The system calls that its code makes; see system_calls.h.
  const std::vector<SystemCallSite>& system_calls() const;

  // True if these bytes contain something that looks like a call of the function at `to`.
  bool has_call(uint64_t offset, uint64_t size, uint64_t to) const;

  // The offsets of what looks like calls of the function at `to`, in all code.
  std::vector<uint64_t> calls_of(uint64_t to) const;

  // The bytes of a function after its first one, up to and including `last`. is_entered: a jump from outside may lead there.
  struct Window {
    FunctionExtent function;
    uint64_t last = 0;
    bool is_entered = false;
  };
  // Sets is_entered. Decodes at every byte that is not known to be inside of an instruction, so it may find jumps that do not
  // exist, but misses none. It does the same with the addresses that the file names (named_code.h), and with all that may be a
  // jump table, as the part of a function that was moved away may have one that leads back. A table may end only where one that
  // is understood begins, or where nothing is used any more. Sorts the windows.
  void find_entered(std::vector<Window>& windows) const;
  bool is_entered(const Window& window) const;

 private:
  explicit ModuleCode(MappedFile mapped) : mapped_(std::move(mapped)), file_(mapped_.bytes()) {}
  void find_segments();
  void add_segment(const Elf64_Phdr& segment);
  CodeBytes constants(uint64_t address) const;
  CodeBytes loaded(uint64_t address) const;
  std::optional<uint64_t> offset_of_code(uint64_t address) const;
  NamingFile naming() const { return {file_, segments_, data_, dynamic_, frame_index_, is_fixed_}; }
  const NamedCode& names() const;
  const RestartableSequences& restarts() const;
  FunctionCode decode_anew(const FunctionExtent& function) const;
  bool is_named(uint64_t begin, uint64_t last) const;
  const std::vector<std::vector<JumpReach>>& computed() const;
  void look_by_names(std::vector<Window>& windows) const;
  const std::vector<uint64_t>& known_tables() const;
  void look_by_all_tables(std::vector<Window>& windows) const;
  void look_by_tables(std::vector<Window>& windows, std::span<const uint64_t> ends) const;
  bool has_go_note(uint64_t offset, uint64_t size) const;
  void look_far(const FileSegment& segment, std::vector<Window>& windows) const;
  void look_near(const FileSegment& segment, Window& window) const;
  bool is_inside_instruction(const FileSegment& segment, uint64_t offset) const;

  MappedFile mapped_;
  CodeBytes file_;
  std::vector<FileSegment> segments_;  // with code
  std::vector<FileSegment> data_;
  std::vector<FileSegment> constants_;  // those of them that are not writable
  FileSegment dynamic_{};
  uint64_t frame_index_ = 0;  // address of .eh_frame_hdr; 0: there is none
  bool is_fixed_ = false;     // addresses of the file are those in the process
  bool is_whole_ = true;      // all its segments are known
  bool is_go_ = false;
  // Found once they are needed.
  mutable std::optional<NamedCode> names_;
  mutable std::optional<RestartableSequences> restarts_;
  mutable std::optional<std::vector<SystemCallSite>> system_calls_;
  mutable std::optional<std::vector<uint64_t>> known_tables_;
  mutable std::map<std::string, std::optional<FunctionExtent>> named_;
  mutable std::vector<std::vector<JumpReach>> computed_;
  mutable std::map<std::pair<uint64_t, uint64_t>, FunctionCode> decoded_;  // by offset and size
  // For is_inside_instruction(): the last function, and how many bytes were decoded in all.
  mutable FunctionExtent around_;
  mutable FunctionCode around_code_;
  mutable uint64_t around_bytes_ = 0;
};

// Opens each file once, and again if it has changed. A path may lead to another file later. Files that nobody holds are closed
// once there are many: a build executes thousands of programs.
class ModuleCodes {
 public:
  // Null: it cannot be read.
  std::shared_ptr<const ModuleCode> open(const std::string& path);
  size_t size() const { return files_.size(); }

  static constexpr size_t kMost = 256;

 private:
  using Identity = std::array<uint64_t, 7>;  // device, inode, size, when it was modified, and when its inode changed
  Recent<Identity, ModuleCode> files_{kMost};
};

}  // namespace dvm::runtime
