#pragma once
// The services that a running DIFO uses. The VM knows nothing about processes, providers or printing: the runtime (or the mock of
// a test) fills in a Firing and implements Host.
//
// Probe context: no implementation may allocate, lock or throw.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace dvm::vm {

// Memory of the traced process that the instrument captured at the moment of firing.
struct CapturedMemory {
  uint64_t address = 0;  // in the traced process
  std::span<const std::byte> bytes;
  bool is_string = false;  // bytes end with the NUL or at strsize
  // Not memory, but data of the Host. It is about an open file, whose descriptor is the address, or it has one of the addresses
  // below. At kCommandLine are the words of the command line, a NUL after each. At kProcessNumber + n is element n of
  // dvm_process[]. At kAncestors are the ids of the parent, its parent and so on, 8 bytes each and 0 beyond the last one. At
  // kWorkingDirectory is the working directory as an open file.
  bool is_file = false;
  static constexpr int64_t kCommandLine = int64_t{1} << 32;  // above all descriptors
  static constexpr int64_t kProcessNumber = int64_t{2} << 32;
  static constexpr int64_t kAncestors = int64_t{3} << 32;
  static constexpr int64_t kWorkingDirectory = int64_t{4} << 32;
};

// The captured registers of the traced thread, in user mode.
struct UserRegisters {
  uint32_t which = 0;                // bit n: word n of the kernel's struct pt_regs
  std::span<const uint64_t> values;  // of these words, in order

  bool has(unsigned n) const noexcept { return which >> n & 1; }
  uint64_t operator[](unsigned n) const noexcept { return values[static_cast<size_t>(std::popcount(which & ((1u << n) - 1)))]; }
};

// Unwinds the user stack of the current firing, when a clause first needs it.
class StackWalk {
 public:
  virtual std::span<const uint64_t> frames() noexcept = 0;

 protected:
  ~StackWalk() = default;
};

// The firing that is being processed, with everything that was captured.
struct Firing {
  uint32_t probe_id = 0;
  uint32_t epid = 0;
  uint64_t timestamp = 0;      // ns, CLOCK_MONOTONIC
  uint64_t walltimestamp = 0;  // ns since 1970
  uint64_t vtimestamp = 0;     // ns of the thread's CPU time; 0: not captured
  int32_t pid = 0, tid = 0, cpu = 0;
  int32_t error_number = 0;    // errno
  int64_t uid = -1, gid = -1;  // of the process; -1: not captured, the Host is asked
  int32_t ppid = -1;           // likewise
  // Memory has not changed since the firing, because the thread waits until the clauses have run, or because dvm itself fired.
  bool reads_in_time = false;
  std::array<uint64_t, 11> args{};  // of the probe, and the number of the goroutine
  // NUL-terminated. They live as long as the consumer, so that a D string may point at them.
  std::string_view provider, module, function, name;
  std::string_view execname;
  std::span<const CapturedMemory> memory;
  UserRegisters registers;
  // In a recording: memory that was read after the firing. Reads of it go through the Host.
  std::span<const CapturedMemory> late;
  // Program counters of the user stack, the probed function first. Empty: not captured.
  std::span<const uint64_t> stack;
  StackWalk* walk = nullptr;  // unwinds the user stack; null: it is in `stack`
  // The same for the kernel stack. Empty also if there is none.
  std::span<const uint64_t> kernel_stack;

  std::span<const uint64_t> user_stack() const noexcept { return walk != nullptr ? walk->frames() : stack; }
};

class Host {
 public:
  // Copies memory of the traced process that was not captured (a "late read"). False: not readable.
  virtual bool read(uint64_t address, std::span<std::byte> to) noexcept = 0;
  // Copies a string of the traced process with its NUL, or its first to.size() bytes. Returns the number of bytes without the
  // NUL; -1: not readable.
  virtual std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept = 0;
  // Copies bytes to the traced process. False: not all of them can be written.
  virtual bool write(uint64_t, std::span<const std::byte>) noexcept { return false; }
  // Sends a signal to the process of the firing. False: there is no such signal, or it is not allowed, or it failed.
  virtual bool signal(int64_t) noexcept { return false; }
  // True if the process of the firing has this id or descends from the process that does.
  virtual bool descends_from(int64_t) noexcept { return false; }
  // Ids of the process of the firing, as late reads. -1: unknown.
  virtual int32_t ppid() noexcept = 0;
  virtual int64_t uid() noexcept = 0;
  virtual int64_t gid() noexcept = 0;
  // Element of dvm_process[] (variables.def) with that index. -1: unknown.
  virtual int64_t process_number(uint64_t) noexcept { return -1; }
  // The command line, its words separated by blanks, and the paths of the working directory and the root directory. Empty:
  // unknown. Valid until the next call.
  virtual std::string_view command_line() noexcept { return {}; }
  virtual std::string_view working_directory() noexcept { return {}; }
  virtual std::string_view root_directory() noexcept { return {}; }
  // Elements of dvm_file_number[] and dvm_file_text[] (variables.def), which describe an open file of the process. A text is
  // valid until the next call. Empty: there is no such file.
  virtual int64_t file_number(uint64_t) noexcept { return 0; }
  virtual std::string_view file_text(uint64_t) noexcept { return {}; }
  // Elements of dvm_proc_number[] and dvm_proc_text[] (variables.def), which describe any process, and the system. A text is
  // valid until the next call. kNoNumber, or a null text: there is no such process, or it has no such number.
  static constexpr int64_t kNoNumber = INT64_MIN;
  virtual int64_t proc_number(uint64_t) noexcept { return kNoNumber; }
  virtual std::string_view proc_text(uint64_t) noexcept { return {}; }
  // The physical package and the NUMA node of a CPU. -1: unknown.
  virtual int32_t chip_of(int32_t) noexcept { return -1; }
  virtual int32_t node_of(int32_t) noexcept { return -1; }
  // Allocates a speculation and returns its id. 0: none is free.
  virtual uint32_t speculation() noexcept { return 0; }

 protected:
  ~Host() = default;
};

}  // namespace dvm::vm
