#pragma once
// A recording: the firings of a run in a file, so that any script can be run on them again, anywhere and without privileges.
//
//   Instrument -> RecordedInstrument (writes, hands on) -> sink          dvm record
//   file -> RecordingReader -> replay instrument -> sink                 dvm replay
//
// The file, all numbers little-endian, nothing aligned:
//
//   header   "dvm recording\n" 0 0 | u32 version | u32 machine | i64 wall | i32 target | u32 crc of the 36 bytes before
//              machine  ELF's number (62: x86-64)
//              wall     ns to add to CLOCK_MONOTONIC for the time since 1970, when recording began
//              target   pid that $target was, 0: none
//   block    u32 kind | u32 length | u32 crc of the payload | u32 count | payload of `length` bytes        as many as there are
//   probes   count times: u32 id | u8 site | u8 flags | u16 which args are not known | i32 pid | u64 number | 6 texts: provider
//   module function name
//              object demangled; a text is u16 length and as many bytes
//              site   1 entry, 2 return (number: file offset), 3 tick, 4 profile (number: period in ns)
//              flags  1: the object is the program itself (a.out)
//              the function of C++ or Rust is its symbol or its demangled name, and the other one may be the last text
//   events   count times: u32 length of the event | u32 probe id | u64 timestamp | u64 walltimestamp | u64 vtimestamp |
//              i32 pid | i32 tid | i32 cpu | i32 errno | u16 which args are not 0 (bit 10: goid) | u16 frames | u16 late pieces |
//              u8 length of execname with its NUL, 0: none | u8 pieces of memory | u64 each arg that is not 0 | execname |
//              u64 each frame of the kernel stack, whose top bit is set, and of the user stack | each piece, those captured at
//              the firing first, then those read late: u64 address | u32 size | u32 1 if it is a string | bytes
//              pieces that are files: of the descriptor `address`, or data of the process (vm::CapturedMemory); so are its user,
//              group and parent if they are no longer those of its first event
//   processes count times: i32 pid ppid pgid sid | i64 uid gid euid egid | i64 threads | text name | text command line
//   objects  count times: i32 pid | u32 flags, as of probes | u64 address of its code | u64 offset of that in the file |
//              text name | text path: what the process had mapped
//   symbols  count times: i32 pid | u32 0 | u64 address | u64 where its function begins | u64 where the code of its module
//              begins | text module | text function: the names of what lies on the stacks, or was printed
//   kernel   once: text release and version of the kernel
//   trailer  u64 events | u64 drops; nothing follows
//
// The probes of an event stand in a block before it. A file without its trailer was cut short. Whatever a file holds, reading it
// is safe: every length is checked against what is there, and an error names the byte.
//
// write() is probe context as long as its caller empties the buffer when asked to. The rest is consumer context.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/buffer/seen_addresses.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/instrument.h"
#include "runtime/process/late_reads.h"
#include "runtime/process/target_memory.h"
#include "runtime/symbol/user_symbols.h"

namespace dvm::runtime {

namespace recording {
class Decoder;
}

// Release and version of the running kernel.
std::string this_kernel();

class RecordingWriter {
 public:
  // Creates the file under a temporary name beside `path`; finish() gives it its own. Where `path` is a device or a pipe, it is
  // written directly.
  static Result<std::unique_ptr<RecordingWriter>> open(const std::string& path, int32_t target_pid);
  // Without finish() nothing is left of the file.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  // Shared by the session and the recording: the late reads of a firing, and the names of addresses.
  LateReads& late_reads() { return late_reads_; }
  const std::shared_ptr<UserSymbols>& symbols() const { return symbols_; }

  // Before the first firing of the probe. Internal probes (BEGIN) are not recorded: a replay has its own.
  // unknown: a bit for each further argument that is not recorded.
  void add_probe(const Probe& probe, uint16_t unknown = 0);
  // Adds the firing to the buffer; firings of other probes are ignored. False: empty_buffer() should be called before the next
  // firing. A buffer that is full nevertheless is written here.
  bool write(const vm::Firing& firing) noexcept;
  // Writes a buffer that is more than half full to the file.
  void empty_buffer() noexcept;
  // Looks at the processes of the latest firings while they are there: command lines, and names of what is on the stacks.
  void learn();
  uint64_t events() const { return events_; }
  // The first failure to write, if any: disk full.
  Status status() const;
  // Writes the rest with the drops that the instruments counted, and names the file. Once.
  Status finish(uint64_t drops);

 private:
  RecordingWriter();
  bool encode(const vm::Firing& firing) noexcept;
  void note_placed(int32_t pid);
  void note_process(const vm::Firing& firing) noexcept;
  void find_changed(const vm::Firing& firing) noexcept;
  void note_stack(const vm::Firing& firing) noexcept;
  void flush() noexcept;
  void write_block(uint32_t kind, uint32_t count, std::span<const std::byte> payload) noexcept;
  void write_all(const void* bytes, size_t size) noexcept;
  template <class Entries, class Append>
  void write_entries(uint32_t kind, const Entries& entries, Append append);

  void write_processes();
  void write_symbols();
  void write_kernel();

  static constexpr size_t kBuffer = 256 * 1024;
  static constexpr size_t kProcesses = 4096;
  struct SeenProcess {
    int32_t pid = 0;  // 0: the place is free
    ProcessIds ids;
    std::array<char, 16> name{};
    std::string command_line;
  };

  int fd_ = -1;
  int error_ = 0;             // errno of the first failure
  std::string path_;          // as the user gave it
  std::string temporary_;     // empty: written directly, or done
  std::vector<bool> probes_;  // by id
  std::vector<std::byte> buffer_ = std::vector<std::byte>(kBuffer);
  size_t used_ = 0;
  uint32_t buffered_ = 0;  // events in the buffer
  uint64_t events_ = 0;
  uint64_t lost_ = 0;  // firings too large for the buffer
  LateReads late_reads_;
  std::shared_ptr<UserSymbols> symbols_ = std::make_shared<UserSymbols>();
  // Processes as they were when their first probe was added. One that fires may have ended before it is looked at.
  std::map<int32_t, SeenProcess> placed_;
  // Open addressing; and the places that learn() has not looked at yet.
  std::vector<SeenProcess> processes_ = std::vector<SeenProcess>(kProcesses);
  std::vector<uint32_t> new_processes_;
  size_t process_count_ = 0;
  int32_t noted_pid_ = 0;               // the process of the last firing
  const SeenProcess* noted_ = nullptr;  // the same; null: there is no room for it
  // Numbers of the process at this firing that are not those of its first one, as captured memory.
  std::array<int64_t, 3> changed_values_{};
  std::array<vm::CapturedMemory, 3> changed_{};
  size_t changed_count_ = 0;
  SeenAddresses addresses_;
};

// An instrument whose firings are also written. Its probes are added to the recording when they are enabled.
std::unique_ptr<Instrument> make_recorded_instrument(std::unique_ptr<Instrument> inner, std::shared_ptr<RecordingWriter> writer);

class RecordingReader {
 public:
  // Reads the whole file once and checks everything, so that a run on it does not end half-way. The error names the file, the
  // byte offset and the reason.
  static Result<std::unique_ptr<RecordingReader>> open(const std::string& path);
  // Another reader of the same file, at its beginning; it is not checked once more.
  Result<std::unique_ptr<RecordingReader>> again() const;
  ~RecordingReader();
  RecordingReader(const RecordingReader&) = delete;
  RecordingReader& operator=(const RecordingReader&) = delete;

  int32_t target_pid() const { return target_pid_; }
  // Release and version, as this_kernel() has them; empty: an older dvm recorded.
  const std::string& kernel() const { return kernel_; }
  const std::vector<Probe>& probes() const { return probes_; }
  const std::vector<RecordedProcess>& processes() const { return processes_; }
  // The mappings of the processes, and the names of addresses.
  const std::shared_ptr<UserSymbols>& symbols() const { return symbols_; }
  uint64_t events() const { return events_; }
  uint64_t drops() const { return drops_; }
  uint64_t size() const { return size_; }      // bytes of the file
  uint64_t pieces() const { return pieces_; }  // number of pieces of memory in all events
  // CPU time in which next() has read the file.
  uint64_t reading_ns() const { return reading_ns_; }
  // Adds the probes under their ids. Fails if the catalog has other probes under these ids.
  Status add_probes(Catalog& catalog) const;

  // The next firing, in the order of recording; false: there is none. Its memory and execname are valid until the next call.
  Result<bool> next(vm::Firing& firing);

 private:
  RecordingReader() = default;
  Status read_header();
  Status check_blocks();
  Result<uint32_t> read_block(size_t& offset);
  Status check_block(uint32_t kind, size_t offset);
  bool parse_probes();
  bool parse_events();
  bool parse_processes();
  bool parse_objects();
  bool parse_symbols();
  bool parse_kernel();
  template <class TakeOne>
  bool parse_entries(TakeOne take_one);
  bool take_frames(recording::Decoder& from, size_t count, vm::Firing& firing);
  bool parse_trailer();
  bool decode(vm::Firing& firing);
  Error corrupt(size_t offset, const std::string& reason) const;
  bool read_at(size_t offset, void* to, size_t size) const;

  int fd_ = -1;
  std::string path_, kernel_;
  size_t size_ = 0;  // of the file
  int32_t target_pid_ = 0;
  uint64_t events_ = 0, drops_ = 0, pieces_ = 0;
  std::vector<Probe> probes_;
  std::unordered_set<uint32_t> ids_;
  std::vector<RecordedProcess> processes_;
  std::shared_ptr<UserSymbols> symbols_ = std::make_shared<UserSymbols>();
  std::map<int32_t, std::vector<MappedObject>> objects_;

  // The block being read.
  std::vector<std::byte> block_;
  uint32_t block_count_ = 0;  // entries in it
  uint32_t left_ = 0;         // events in it that next() has not handed out
  size_t at_ = 0;             // position in it
  size_t next_block_ = 0;     // offset in the file
  uint64_t reading_ns_ = 0;
  std::array<vm::CapturedMemory, UINT8_MAX + LateReads::kMostPieces> memory_;
  std::array<uint64_t, size_t{2} * kMostFrames> frames_;  // of the kernel stack and the user stack
};

}  // namespace dvm::runtime
