#pragma once
// ELF files opened for reading, and the separate files that distributions put symbols and debug information into.

#include <libelf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::runtime {

class OpenElf {
 public:
  explicit OpenElf(const std::string& path);
  ~OpenElf();
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  bool opened() const { return fd_ >= 0; }
  Elf* get() const { return elf_; }

 private:
  int fd_ = -1;
  Elf* elf_ = nullptr;
};

// The first section of that name; null: there is none.
Elf_Scn* find_section(Elf* elf, std::string_view name);

// Where code lies in memory, and in the file.
struct CodeSegment {
  uint64_t address = 0, offset = 0, size = 0;
};
std::vector<CodeSegment> code_segments(Elf* elf);

// Where what was stripped off the file may lie, the likeliest first: by its build id, then by its .gnu_debuglink beside the file
// and under /usr/lib/debug. path: the file's own.
std::vector<std::string> debug_paths(Elf* elf, const std::string& path);

}  // namespace dvm::runtime
