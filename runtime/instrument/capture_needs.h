#pragma once
// The memory, arguments and other parts of a firing that an instrument captures, and the words that addresses start from.
// capture.h works them out.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dvm/vm/host.h"
#include "runtime/catalog/operand.h"

namespace dvm::runtime {

inline constexpr unsigned kMostPointers = 4;
inline constexpr uint16_t kGoroutineBit = 1 << 10;  // of CaptureNeeds::args
inline constexpr uint16_t kMostFrames = 127;        // the kernel walks no further
inline constexpr uint16_t kKnownFrames = 2;         // at the entry or return of a function the first ones, known without a walk
inline constexpr uint32_t kWhereNeeded = UINT32_MAX;
inline constexpr uint32_t kUsualStackBytes = 4096;
inline constexpr uint32_t kMostBytes = 4096;    // of a string, or of a copy whose size is a word
inline constexpr uint32_t kMostFixed = 16384;   // of a copy whose size is a constant
inline constexpr uint32_t kMostRecord = 16500;  // of everything that a record captures

// A 64-bit word that is known when the probe fires. It is argument `arg` of the probe, 0, or what an earlier firing of the thread
// has kept in a thread-local variable. If depth is not 0, it is the end of a chain of pointers: each word lies in memory path[i]
// bytes after the address that is the word before it.
struct Word {
  // Values of `arg`. kOfCall + n: argument n of the system call; kKept + n: thread-local variable n of the script.
  static constexpr uint8_t kZero = 0xff, kOfCall = 0xf0, kKept = 0xe0;
  static constexpr uint8_t kKeptWords = 16;
  static constexpr uint8_t kCallArguments = kSyscallRegisters.size();

  uint8_t arg = 0;
  uint8_t depth = 0;
  std::array<int64_t, kMostPointers> path{};

  Word(uint8_t argument = 0) : arg(argument) {}  // not explicit: an argument is the usual word
  static Word zero() { return kZero; }
  // An argument of the system call, also where it returns.
  static Word of_call(unsigned n) { return static_cast<uint8_t>(kOfCall + n); }
  static Word of_kept(unsigned n) { return static_cast<uint8_t>(kKept + n); }
  bool is_argument() const { return depth == 0; }  // or 0, or kept
  bool starts_from_kept() const { return arg >= kKept && arg < kKept + kKeptWords; }
  unsigned kept_number() const { return arg - kKept; }
  bool starts_from_argument() const { return arg < kArguments; }
  bool starts_from_zero() const { return arg == kZero; }
  bool starts_from_call() const { return arg >= kOfCall && arg < kOfCall + kCallArguments; }
  unsigned call_argument() const { return arg - kOfCall; }
  // For a word in memory: the word that points there, and the distance from there.
  Word pointer() const;
  int64_t offset() const { return path[depth - 1u]; }
  // The word in memory at this one plus offset. Only where depth < kMostPointers.
  Word load(int64_t offset) const;
  friend bool operator==(const Word&, const Word&) = default;
};

// Memory at the address base + offset; or the open file of the descriptor base + offset (captured_file.h); or, as the file
// kCommandLine, the command line of the process (vm::CapturedMemory).
struct MemoryNeed {
  Word base;
  bool is_string = false;
  int64_t offset = 0;
  uint32_t size = 0;                  // the most bytes; of a string with its NUL
  std::optional<Word> sized_by = {};  // and no more than this word says
  bool is_file = false;
  uint8_t more = 0;  // bytes that are wanted beyond those that the word says

  static MemoryNeed of_file(const Word& base, int64_t offset);
  static MemoryNeed of_command_line();
  static MemoryNeed of_process_number(unsigned number);
  static MemoryNeed of_ancestors();
  static MemoryNeed of_working_directory();
  // Not of an open file, but of the process.
  bool is_of_process() const { return is_file && base.starts_from_zero() && offset >= vm::CapturedMemory::kCommandLine; }
  bool is_command_line() const { return is_of_process() && offset == vm::CapturedMemory::kCommandLine; }
  // The need that captures a word in memory.
  static MemoryNeed of(const Word& word) { return {word.pointer(), false, word.offset(), 8, {}}; }
  // True if this need captures all that the other would.
  bool covers(const MemoryNeed& other) const;
  friend bool operator==(const MemoryNeed&, const MemoryNeed&) = default;
};

// A firing keeps word + offset for later firings of the thread: as thread-local variable `number` of the script.
struct KeptWord {
  uint8_t number = 0;
  Word word;
  int64_t offset = 0;
  friend bool operator==(const KeptWord&, const KeptWord&) = default;
};

struct CaptureNeeds {
  uint16_t args = 0;  // bit n: argN is read; kGoroutineBit: goid
  bool time = false;  // timestamp, walltimestamp
  bool vtime = false;
  bool thread = false;  // pid or tid, or thread-local variables
  bool cpu = false;     // the cpu variable, or anything that is kept in the buffers of a CPU

  bool comm = false;      // execname
  bool error = false;     // errno
  bool owner = false;     // uid and gid
  bool parent = false;    // ppid
  bool any_file = false;  // a file whose descriptor is not foreseen. At a system call, that of its first argument is captured.
  // Captured where the kernel has an event, as such a process may end soon:
  bool command = false;          // execargs
  uint32_t process_numbers = 0;  // bit n: dvm_process[n]
  bool ancestors = false;        // progenyof()
  bool directory = false;        // cwd

  std::vector<MemoryNeed> memory;
  std::vector<KeptWord> keeps{};
  uint16_t frames = 0;         // of the user stack, at most kMostFrames
  uint16_t kernel_frames = 0;  // of the kernel stack, likewise
  uint32_t registers = 0;      // bit n: word n of struct pt_regs (dvm/dif/registers.def)
  // Stack bytes to copy, to unwind code without frame pointers. If 0, frame pointers lead from frame to frame. With
  // kWhereNeeded, it is kUsualStackBytes if code that may be on the stack lacks frame pointers, else 0.
  uint32_t stack_bytes = 0;

  // Adds memory, and the words that lead to its address. Adds nothing if there are too many needs. fit_record() limits the total
  // size.
  void add(const MemoryNeed& need);
  void add(const KeptWord& kept);
  bool has_file() const;
  CaptureNeeds& operator|=(const CaptureNeeds& other);
  friend bool operator==(const CaptureNeeds&, const CaptureNeeds&) = default;
};

// Cuts and drops needs until they fit into a record. Needs of a fixed size are kept, the smallest first. Strings, and copies
// sized by a word, share the remaining room equally: most of them are far shorter than their limit, and a captured part serves
// only those.
void fit_record(std::vector<MemoryNeed>& needs);

}  // namespace dvm::runtime
