#pragma once
// Names of code that a process has generated (a JIT): the file /tmp/perf-PID.map that it writes, a line "ADDRESS SIZE NAME" for
// each function, numbers in hexadecimal. PID and /tmp are those of the process's own namespaces.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

struct GeneratedFunction {
  uint64_t address = 0, size = 0;
  std::string name;
};

class PerfMap {
 public:
  // Reads what the file has become. Of a process that has ended, what stands under the same name here, if it was written since
  // the process was first asked about.
  void read(int32_t pid);
  // Null: none.
  const GeneratedFunction* find(uint64_t address) const;
  const std::string& name() const { return name_; }  // "perf-123.map"
  uint64_t first_address() const { return functions_.empty() ? 0 : functions_.front().address; }

 private:
  bool read_file(const std::string& path, bool is_own);

  std::string name_;
  int64_t since_ = 0;  // ns since 1970
  int64_t modified_ = 0;
  uint64_t size_ = 0;
  std::vector<GeneratedFunction> functions_;  // by address
};

// The functions in the text of such a file; lines of another form are left out. Where two begin at one address, the later line's.
std::vector<GeneratedFunction> parse_perf_map(std::string_view text);

}  // namespace dvm::runtime
