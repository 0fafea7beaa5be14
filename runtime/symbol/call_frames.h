#pragma once
// The call frame information of one file (.eh_frame). For an address in a function, it gives the beginning of the frame, and the
// places of the return address and of the caller's registers.
//
//   CFA  The canonical frame address: the stack pointer before the call. It is a register plus a constant or, if the stack was
//        realigned, the word at that address.
//
// libdw interprets the tables. Its answers are cached, because the same addresses are looked up repeatedly.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/recent.h"
#include "runtime/symbol/file_key.h"
#include "runtime/symbol/frame_registers.h"

namespace dvm::runtime {

struct FrameRule {
  enum class Kept : uint8_t { same, undefined, at_cfa, at_register };
  struct SavedRegister {
    Kept kept = Kept::same;
    uint8_t base = 0;  // of at_register
    int32_t offset = 0;
  };

  uint64_t begin = 0, end = 0;  // range of addresses in the file
  bool is_known = false;        // false: there is no information that dvm understands
  bool is_signal = false;       // the caller was interrupted by a signal, and made no call
  bool cfa_is_loaded = false;
  uint8_t cfa_base = 0;
  int32_t cfa_offset = 0;
  std::array<SavedRegister, kFrameRegisters> places{};
};

class CallFrames {
 public:
  // Null: the file cannot be read, or has no such information.
  static std::unique_ptr<CallFrames> open(const std::string& path);
  ~CallFrames();

  // The address of the code at an offset of the file. Nothing: there is no code.
  std::optional<uint64_t> address_of(uint64_t offset) const;
  // Valid until the next call.
  const FrameRule& at(uint64_t address);
  // True if a call instruction may end right before that offset of the file.
  bool follows_call(uint64_t offset) const;
  // True if every function of the table that has a frame sets %rbp to it.
  bool keeps_frame_pointers();

 private:
  struct File;
  explicit CallFrames(std::unique_ptr<File> file);
  FrameRule look_up(uint64_t address) const;

  std::unique_ptr<File> file_;
  std::vector<FrameRule> rules_;  // in sets of equal size, by address
};

// Opens each file once, and again if it has changed. Paths such as /proc/PID/exe may lead to other files later. Files that nobody
// holds are closed once there are many.
class CallFramesCache {
 public:
  // As CallFrames::open().
  std::shared_ptr<CallFrames> open(const std::string& path);
  // Of the file with this key, by the first of the paths that leads to it or to a file that looks like it.
  std::shared_ptr<CallFrames> open(const FileKey& key, std::initializer_list<std::string_view> paths);
  size_t size() const { return files_.size(); }

  static constexpr size_t kMost = 64;

 private:
  struct CachedFrames {
    std::unique_ptr<CallFrames> frames{};
  };
  Recent<FileKey, CachedFrames> files_{kMost};
};

}  // namespace dvm::runtime
