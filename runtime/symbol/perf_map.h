#pragma once
// Names of code that a process has generated (a JIT), from the file /tmp/perf-PID.map that it writes. The file has a line
// "ADDRESS SIZE NAME" for each function, with hexadecimal numbers. PID and /tmp are those in the process's own namespaces. Every
// user may write to /tmp, so the file must belong to the process's user or to root, and must not be a link.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/regular_file.h"

namespace dvm::runtime {

struct GeneratedFunction {
  uint64_t address = 0, size = 0;
  std::string_view name;  // in the text of the file
};

class PerfMap {
 public:
  PerfMap() = default;
  PerfMap(PerfMap&&) = default;  // the addresses of names do not change
  PerfMap& operator=(PerfMap&&) = default;

  // Reads the file again if it has changed. Reading takes at most a twentieth of the time. For a process that has ended, reads
  // the file of the same name in dvm's namespaces, if it was written after the first read().
  void read(int32_t pid);
  // Null: none.
  const GeneratedFunction* find(uint64_t address) const;
  const std::string& name() const { return name_; }  // "perf-123.map"
  uint64_t first_address() const { return functions_.empty() ? 0 : functions_.front().address; }

 private:
  // The current identity of a process.
  struct Owner {
    int64_t number = 0;  // its id in its own pid namespace; 0: it has ended
    uint32_t user = UINT32_MAX;
  };
  static Owner owner_of(int32_t pid);
  bool read_file(const std::string& path, bool is_own);
  void parse(const RegularFile& file);

  std::string name_;
  uint32_t user_ = UINT32_MAX;  // of the process
  uint64_t read_again_ = 0;     // ns, CLOCK_MONOTONIC: the file is not read before
  int64_t since_ = 0;           // ns since 1970
  int64_t modified_ = 0;
  uint64_t size_ = 0;
  std::vector<char> text_;                    // of the file
  std::vector<GeneratedFunction> functions_;  // by address
};

// The functions in the text of such a file, at most a million; other lines are ignored. If two begin at one address, the later
// line wins.
std::vector<GeneratedFunction> parse_perf_map(std::string_view text);

}  // namespace dvm::runtime
