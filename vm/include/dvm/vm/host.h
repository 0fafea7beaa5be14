#pragma once
// What a DIFO may ask of its surroundings while it runs. The VM knows nothing of processes, providers or printing: the runtime
// (or a test's mock) fills a Firing and implements Host.
//
// Probe context: no implementation may allocate, lock or throw.

#include <array>
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
};

// The firing that is being processed: everything that was known when it happened.
struct Firing {
  uint32_t probe_id = 0;
  uint32_t epid = 0;
  uint64_t timestamp = 0;      // ns, CLOCK_MONOTONIC
  uint64_t walltimestamp = 0;  // ns since 1970
  uint64_t vtimestamp = 0;     // ns of the thread's CPU time, 0 where it was not captured
  int32_t pid = 0, tid = 0, cpu = 0;
  int32_t error_number = 0;  // errno
  std::array<uint64_t, 10> args{};
  // NUL-terminated and alive as long as the consumer, so that a D string may point at them.
  std::string_view provider, module, function, name;
  std::string_view execname;
  std::span<const CapturedMemory> memory;
  std::span<const CapturedMemory> late;  // in a recording: what was read after the firing. The VM asks the Host for it
  std::span<const uint64_t> stack;       // program counters of the user stack, the probed function's first; empty: not captured
};

class Host {
 public:
  // Copies memory of the traced process that was not captured ("late read"). False: not readable.
  virtual bool read(uint64_t address, std::span<std::byte> to) noexcept = 0;
  // Copies a string of the traced process up to and with its NUL, or to.size() bytes of it. Returns the bytes copied without
  // the NUL; -1: not readable.
  virtual std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept = 0;
  // Of the process in the firing; late reads too. -1 where unknown.
  virtual int32_t ppid() noexcept = 0;
  virtual int64_t uid() noexcept = 0;
  virtual int64_t gid() noexcept = 0;
  // The words of its command line, parted by blanks; empty where unknown. Valid until the next call.
  virtual std::string_view command_line() noexcept { return {}; }
  // Register of the traced thread by DTrace's number for x86-64 uregs[]; false: not captured or no such register.
  virtual bool user_register(uint64_t number, uint64_t& value) noexcept = 0;

 protected:
  ~Host() = default;
};

}  // namespace dvm::vm
