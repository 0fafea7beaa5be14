#pragma once
// Unwinds stacks of code built without frame pointers. It uses the registers and the top of the stack, captured at a firing,
// and the call frame information of the files that the process has mapped.
//
//   pc -> the file that is mapped there -> its rule -> CFA -> return address and registers of the caller -> ...
//
// Each frame is unwound by the information of its own function or, if it has none (generated code, the kernel's vdso), by the
// frame pointer, unless its code returns at once (frame_end.h). At the entry of a function without such information, the frame
// pointer is still that of the caller, so the return address is taken from the stack pointer. Beyond the captured part of the
// stack, the walk follows the chain of frame pointers that the kernel has walked, as long as each function is known to set one.
// The stack ends at an address that the process cannot execute.
//
// A walk allocates only when it reads: a file when its code first occurs, the map of a process, and code without information. If
// no file of the map contains an address, the map is read again, at most ten times a second. What such code does there is
// forgotten then, because the process may have generated other code.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/symbol/call_frames.h"
#include "runtime/symbol/file_key.h"
#include "runtime/symbol/frame_end.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

struct CapturedStack {
  std::array<uint64_t, kFrameRegisters> registers{};  // by DWARF's numbers; kReturnAddress: the program counter
  uint32_t known = 0;                                 // bit n: register n
  uint64_t address = 0;                               // of the first byte
  std::span<const std::byte> bytes;
  std::span<const std::byte> chain = {};  // words: the return addresses found by frame pointers, starting with %rbp
  uint64_t return_at = 0;                 // the address of the return address, if the function has no frame yet; 0: not known

  void set(unsigned number, uint64_t value) { registers[number] = value, known |= 1u << number; }
};

class Unwinder {
 public:
  // Reads the mappings of the process, before it can end.
  void learn(int32_t pid);
  // Copies the mappings of the parent to a child. After an exec they are not valid any more.
  void inherit(int32_t child, int32_t parent);
  void forget(int32_t pid) { processes_.erase(pid); }
  // True if a walk by frame pointers misses no frame: every function of every mapped file sets them.
  bool keeps_frame_pointers(int32_t pid);
  // Stores program counters in `frames`, the innermost first. Returns their number.
  size_t walk(int32_t pid, CapturedStack stack, std::span<uint64_t> frames) noexcept;
  // The number of processes that are known: at most kMostProcesses, those used last.
  size_t processes() const { return processes_.size(); }
  static constexpr size_t kMostProcesses = 512;
  // The number of walks since the last call that ended because the captured part of the stack ended.
  uint64_t take_cut() { return std::exchange(cut_, 0); }
  // The number of leading `frames`, found by frame pointers, that can be a stack of the process. The first `certain` ones are
  // known to be right.
  size_t count_executable(int32_t pid, std::span<const uint64_t> frames, size_t certain) noexcept;

 private:
  // The information of a file that a process has mapped.
  struct MappedFrames {
    std::optional<FileKey> key{};  // of what was mapped; nothing: it is not known
    bool is_sought = false;
    std::shared_ptr<CallFrames> found{};  // once it is sought; null: there is none
  };
  struct KnownProcess {
    std::vector<MappedObject> objects;                             // by address
    std::vector<AddressRange> code;                                // by address
    std::vector<MappedFrames> frames;                              // of each object
    std::unordered_map<uint64_t, std::optional<FrameEnd>> ends{};  // of code without information, by address
    uint64_t read_at = 0;                                          // ns, CLOCK_MONOTONIC
    uint64_t used = 0;                                             // counts on with each use of a process
  };
  // As it was when it was read last.
  KnownProcess& known_process(int32_t pid);
  // Reads it again, unless that was just done.
  KnownProcess& process(int32_t pid);
  CallFrames* frames_of(KnownProcess& process, const MappedObject& object);
  const FrameRule* find(KnownProcess& process, uint64_t address);
  const FrameRule* rule_at(int32_t pid, KnownProcess& process, uint64_t address);
  const std::optional<FrameEnd>& frame_end_at(int32_t pid, KnownProcess& process, uint64_t address);
  bool step_without_rule(int32_t pid, KnownProcess& process, CapturedStack& stack);
  bool begins_context(KnownProcess& process, uint64_t address);
  bool is_code(int32_t pid, KnownProcess& process, uint64_t address);
  size_t follow_chain(int32_t pid, KnownProcess& process, std::span<const std::byte> chain, std::span<uint64_t> frames,
                      size_t count);

  uint64_t cut_ = 0;
  std::map<int32_t, KnownProcess> processes_;
  uint64_t uses_ = 0;
  CallFramesCache files_;
};

}  // namespace dvm::runtime
