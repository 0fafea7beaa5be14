// The kernel leaves the path of execve(2) in the process's memory. Tested by tests/unit/instrument/maps_test.cpp.

#include "runtime/symbol/started_as.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <fstream>
#include <utility>

#include "common/regular_file.h"

namespace dvm::runtime {
namespace {

// Address of the path; 0 if the process does not give it.
uint64_t address_of_path(int32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/auxv", pid), std::ios::binary);
  Elf64_auxv_t entry;
  while (file.read(reinterpret_cast<char*>(&entry), sizeof entry) && entry.a_type != AT_NULL)
    if (entry.a_type == AT_EXECFN) return entry.a_un.a_val;
  return 0;
}

// Up to its NUL; empty if it has none or cannot be read.
std::string read_text(int32_t pid, uint64_t address) {
  const int file = open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::array<char, PATH_MAX> bytes;
  const ssize_t size = pread(file, bytes.data(), bytes.size(), static_cast<off_t>(address));  // short at the end of the stack
  close(file);
  const std::string_view read(bytes.data(), size > 0 ? static_cast<size_t>(size) : 0);
  const size_t end = read.find('\0');
  return end == std::string_view::npos ? "" : std::string(read.substr(0, end));
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat left {
  }, right{};
  return stat(a.c_str(), &left) == 0 && stat(b.c_str(), &right) == 0 && left.st_dev == right.st_dev &&
         left.st_ino == right.st_ino;
}

bool is_script(const std::string& path) {
  const Result<RegularFile> file = RegularFile::open(path);
  std::array<char, 2> begin;
  return file && pread(file->fd(), begin.data(), begin.size(), 0) == 2 && begin == std::array{'#', '!'};
}

struct StartPath {
  std::string name;       // the base name; empty: the path is unknown
  std::string from_here;  // the path under /proc
};

StartPath start_path(int32_t pid) {
  const uint64_t address = address_of_path(pid);
  const std::string path = address == 0 ? "" : read_text(pid, address);
  if (path.empty() || path.ends_with('/')) return {};
  return {path.substr(path.rfind('/') + 1), fmt::format("/proc/{}/{}{}", pid, path[0] == '/' ? "root" : "cwd/", path)};
}

}  // namespace

std::string started_as(int32_t pid) {
  StartPath path = start_path(pid);
  return !path.name.empty() && is_same_file(path.from_here, fmt::format("/proc/{}/exe", pid)) ? std::move(path.name) : "";
}

std::string script_of(int32_t pid) {
  StartPath path = start_path(pid);
  return !path.name.empty() && is_script(path.from_here) ? std::move(path.name) : "";
}

}  // namespace dvm::runtime
