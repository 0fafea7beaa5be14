// Covered by tests/unit/code/module_code_test.cpp.

#include "runtime/code/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

namespace dvm::runtime {
namespace {

// Read by a signal handler, so neither moved nor locked. A slot without an end is free.
struct MappedRange {
  std::atomic<uintptr_t> begin{0}, end{0};
};
std::array<MappedRange, 4096> g_slots;
std::mutex g_filling;
struct sigaction g_previous;
uintptr_t g_page = 4096;

bool is_mapped_file(uintptr_t address) {
  for (const MappedRange& slot : g_slots)
    if (address < slot.end.load() && address >= slot.begin.load()) return true;
  return false;
}

void on_bus_error(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  void* page = reinterpret_cast<void*>(address & ~(g_page - 1));
  if (is_mapped_file(address) && mmap(page, g_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
    return;
  sigaction(SIGBUS, &g_previous, nullptr);
  raise(SIGBUS);  // once this returns
}

void handle_bus_errors() {
  g_page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGBUS, &action, &g_previous);
}

// False: there is no slot left.
bool take_slot(std::span<const unsigned char> bytes, size_t& number) {
  static std::once_flag handled;
  std::call_once(handled, handle_bus_errors);
  const std::lock_guard lock(g_filling);
  for (number = 0; number < g_slots.size() && g_slots[number].end != 0;) number++;
  if (number == g_slots.size()) return false;
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  g_slots[number].begin = begin;
  g_slots[number].end = begin + bytes.size();
  return true;
}

}  // namespace

// Shared: into private mappings of a file, also those of dvm, the kernel writes the breakpoints of tracers that trace all
// processes.
Result<MappedFile> MappedFile::map(const RegularFile& file) {
  void* data = mmap(nullptr, file.size(), PROT_READ, MAP_SHARED, file.fd(), 0);
  if (data == MAP_FAILED) return Error{"it cannot be mapped"};
  const std::span bytes(static_cast<const unsigned char*>(data), file.size());
  MappedFile mapped;
  if (!take_slot(bytes, mapped.slot_)) {
    munmap(data, bytes.size());
    return Error{"too many files are mapped"};
  }
  mapped.bytes_ = bytes;
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(slot_, other.slot_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  g_slots[slot_].end = 0;
  munmap(const_cast<unsigned char*>(bytes_.data()), bytes_.size());
}

}  // namespace dvm::runtime
