#pragma once
// Opens ELF files for reading, and finds separate files with symbols and debug information.

#include <libelf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/regular_file.h"
#include "dvm/common/result.h"

namespace dvm::runtime {

// A file that is not regular, or whose sections would cost more memory than regular_file.h allows, is not opened.
class OpenElf {
 public:
  explicit OpenElf(const std::string& path);
  ~OpenElf();
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;

  Elf* get() const { return elf_; }
  int fd() const { return file_.fd(); }
  const std::string& problem() const { return problem_; }  // why get() is null
  uint64_t bytes_on_disk() const { return file_.bytes_on_disk(); }

 private:
  RegularFile file_;
  Elf* elf_ = nullptr;
  std::string problem_;
};

// Checks the total size of all sections by check_cost(), because any number of sections may share the same bytes.
Status check_sections(Elf* elf, uint64_t bytes_on_disk);

// The first section of that name; null: there is none.
Elf_Scn* find_section(Elf* elf, std::string_view name);

// A loaded segment, in memory and in the file.
struct LoadSegment {
  uint64_t address = 0, offset = 0, size = 0;
  bool is_code = false;
};
std::vector<LoadSegment> load_segments(Elf* elf);
std::vector<LoadSegment> code_segments(Elf* elf);

// Paths where stripped debug information may lie, likeliest first: by build id, then by .gnu_debuglink beside the file and
// under /usr/lib/debug. `path` is the file's own path.
std::vector<std::string> debug_paths(Elf* elf, const std::string& path);

}  // namespace dvm::runtime
