#pragma once
// Makes a record, like that of a capture program, from the state of a thread in a ptrace stop. Probe context.

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {

inline constexpr size_t kSavedWords = 21;  // of struct pt_regs

struct StoppedThread {
  pid_t pid = 0, tid = 0;
  uint64_t time = 0;                          // when it stopped, CLOCK_MONOTONIC
  std::array<uint64_t, kSavedWords> words{};  // its registers
  uint64_t counter() const { return words[saved::rip]; }
  uint64_t stack() const { return words[saved::rsp]; }
};

// False: the thread has ended.
bool read_registers(StoppedThread& thread) noexcept;

// Writes the record to `room`, which has layout.size bytes. function: the address of the function that has returned, or 0.
std::span<const std::byte> write_record(const RecordLayout& layout, uint64_t cookie, const StoppedThread& thread,
                                        uint64_t function, std::span<uint64_t> room) noexcept;

// A word of the memory of a process; 0: it cannot be read.
uint64_t read_word(pid_t pid, uint64_t address) noexcept;

}  // namespace dvm::runtime
