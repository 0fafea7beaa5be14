// Covered by tests/unit/instrument/dwarf_test.cpp.

#include "runtime/symbol/libdw_files.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

thread_local std::string t_refused;
std::atomic<uint64_t> g_handed_out{0};  // bytes that libdw may hold: a file may name another one any number of times

// The size that a section of the older form (.zdebug_*) has when it is unpacked: "ZLIB" and eight bytes, the highest first.
uint64_t gnu_unpacked_size(Elf_Scn* section) {
  constexpr std::string_view kMagic = "ZLIB";
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_size < kMagic.size() + 8) return 0;
  const auto* bytes = static_cast<const unsigned char*>(data->d_buf);
  if (std::memcmp(bytes, kMagic.data(), kMagic.size()) != 0) return 0;
  uint64_t size = 0;
  for (size_t i = kMagic.size(); i < kMagic.size() + 8; i++) size = size << 8 | bytes[i];
  return size;
}

uint64_t unpacked_size(Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
  GElf_Chdr packed;
  if ((header.sh_flags & SHF_COMPRESSED) != 0 && gelf_getchdr(section, &packed) != nullptr) return packed.ch_size;
  return name.starts_with(".zdebug_") ? gnu_unpacked_size(section) : 0;
}

// Total size of all debug sections.
uint64_t unpacked_bytes(Elf* elf) {
  uint64_t total = 0;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strstr(name, "debug") == nullptr) continue;
    const uint64_t size = std::max(header.sh_size, unpacked_size(section, header, name));
    total += std::min(size, UINT64_MAX - total);
  }
  return total;
}

bool is_of_libdw(const void* code) {
  Dl_info info{};
  return dladdr(code, &info) != 0 && info.dli_fname != nullptr && std::strstr(info.dli_fname, "libdw") != nullptr;
}

// The cost of the file, or the reason why libdw must not open it.
Result<uint64_t> cost_of(const RegularFile& file) {
  const OpenElf elf(fmt::format("/proc/self/fd/{}", file.fd()));
  if (elf.get() == nullptr) return Error{elf.problem()};
  const uint64_t bytes = unpacked_bytes(elf.get());
  if (Status cost = check_debug_sections(elf.get(), file.bytes_on_disk()); !cost) return cost.error();
  if (Status memory = check_memory(g_handed_out + bytes); !memory) return memory.error();
  return bytes;
}

int refuse(const char* path, const std::string& reason) {
  t_refused = fmt::format("{}: {}", path, reason);
  errno = EINVAL;
  return -1;
}

int open_for_libdw(const char* path) {
  if (access(path, F_OK) != 0) return -1;
  auto file = RegularFile::open(path);
  if (!file) return refuse(path, file.error().message);
  const auto cost = cost_of(*file);
  if (!cost) return refuse(path, cost.error().message);
  g_handed_out += *cost;
  return file->release();
}

}  // namespace

Status check_debug_sections(Elf* elf, uint64_t bytes_on_disk) {
  const uint64_t bytes = unpacked_bytes(elf);
  Status cost = check_cost(bytes, bytes_on_disk);
  return cost ? check_memory(bytes) : cost;
}

std::string take_refused_to_libdw() { return std::exchange(t_refused, ""); }

}  // namespace dvm::runtime

// The linker lets shared libraries find this one first. It has a name of its own here, since headers may define open() inline.
extern "C" __attribute__((visibility("default"))) int open_of_this_program(const char* path, int flags, ...) __asm__("open");

int open_of_this_program(const char* path, int flags, ...) {
  if (dvm::runtime::is_of_libdw(__builtin_return_address(0))) return dvm::runtime::open_for_libdw(path);
  mode_t mode = 0;
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
