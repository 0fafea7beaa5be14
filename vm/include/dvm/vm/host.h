#pragma once
// The services that a DIFO uses while it runs. The VM knows nothing of processes, providers or printing: the runtime
// (or a test's mock) fills a Firing and implements Host.
//
// Probe context: no implementation may allocate, lock or throw.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace dvm::vm {

// Memory of the traced process as it was at the moment of firing, taken by the instrument.
struct CapturedMemory {
  uint64_t address = 0;  // in the traced process
  std::span<const std::byte> bytes;
  bool is_string = false;  // bytes end at the NUL, which is included, or at strsize
  bool is_file = false;    // no memory, but what the Host knows about an open file; the address is its descriptor
};

// Registers of the traced thread in its process, as far as they were captured.
struct UserRegisters {
  uint32_t which = 0;                // bit n: word n of the kernel's struct pt_regs
  std::span<const uint64_t> values;  // of those, in this order

  bool has(unsigned n) const noexcept { return which >> n & 1; }
  uint64_t operator[](unsigned n) const noexcept { return values[static_cast<size_t>(std::popcount(which & ((1u << n) - 1)))]; }
};

// Unwinds the user stack of the firing that is being processed, once a clause asks for it.
class StackWalk {
 public:
  virtual std::span<const uint64_t> frames() noexcept = 0;

 protected:
  ~StackWalk() = default;
};

// The firing that is being processed: everything that was known when it happened.
struct Firing {
  uint32_t probe_id = 0;
  uint32_t epid = 0;
  uint64_t timestamp = 0;      // ns, CLOCK_MONOTONIC
  uint64_t walltimestamp = 0;  // ns since 1970
  uint64_t vtimestamp = 0;     // ns of the thread's CPU time, 0 where it was not captured
  int32_t pid = 0, tid = 0, cpu = 0;
  int32_t error_number = 0;    // errno
  int64_t uid = -1, gid = -1;  // of the process; -1: not captured, the Host tells them
  int32_t ppid = -1;           // likewise
  // Memory that the clauses read has not changed since the firing: the thread waits until they have run, or dvm itself has fired.
  bool reads_in_time = false;
  std::array<uint64_t, 11> args{};  // of the probe, and the number of the goroutine
  // NUL-terminated and alive as long as the consumer, so that a D string may point at them.
  std::string_view provider, module, function, name;
  std::string_view execname;
  std::span<const CapturedMemory> memory;
  UserRegisters registers;
  std::span<const CapturedMemory> late;    // in a recording: what was read after the firing. The VM asks the Host for it
  std::span<const uint64_t> stack;         // program counters of the user stack, the probed function's first; empty: not captured
  StackWalk* walk = nullptr;               // finds them; null: they are in `stack`
  std::span<const uint64_t> kernel_stack;  // likewise of the kernel stack; empty also where there is none

  std::span<const uint64_t> user_stack() const noexcept { return walk != nullptr ? walk->frames() : stack; }
};

class Host {
 public:
  // Copies memory of the traced process that was not captured ("late read"). False: not readable.
  virtual bool read(uint64_t address, std::span<std::byte> to) noexcept = 0;
  // Copies a string of the traced process up to and with its NUL, or to.size() bytes of it. Returns the bytes copied without
  // the NUL; -1: not readable.
  virtual std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept = 0;
  // Copies bytes to the traced process. False: not all of that may be written.
  virtual bool write(uint64_t, std::span<const std::byte>) noexcept { return false; }
  // Sends the process in the firing a signal. False: there is no such signal, or it must not or cannot have it.
  virtual bool signal(int64_t) noexcept { return false; }
  // Whether the process in the firing is this one or descends from it.
  virtual bool descends_from(int64_t) noexcept { return false; }
  // About the process of the firing; these are late reads too. -1: unknown.
  virtual int32_t ppid() noexcept = 0;
  virtual int64_t uid() noexcept = 0;
  virtual int64_t gid() noexcept = 0;
  // By its number in dvm_process[] (variables.def).
  virtual int64_t process_number(uint64_t) noexcept { return -1; }
  // The words of its command line, parted by blanks; the paths of its working directory and its root. Empty where unknown. Valid
  // until the next call.
  virtual std::string_view command_line() noexcept { return {}; }
  virtual std::string_view working_directory() noexcept { return {}; }
  virtual std::string_view root_directory() noexcept { return {}; }
  // These describe an open file of the process, by its number in dvm_file_number[] and dvm_file_text[]. A text is valid until the
  // next call; empty: there is no such file.
  virtual int64_t file_number(uint64_t) noexcept { return 0; }
  virtual std::string_view file_text(uint64_t) noexcept { return {}; }
  // The package and the NUMA node of a CPU. -1: unknown.
  virtual int32_t chip_of(int32_t) noexcept { return -1; }
  virtual int32_t node_of(int32_t) noexcept { return -1; }
  // The id of a speculation that is free, from now on not; 0: there is none.
  virtual uint32_t speculation() noexcept { return 0; }

 protected:
  ~Host() = default;
};

}  // namespace dvm::vm
