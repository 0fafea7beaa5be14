// Unpacks .gnu_debugdata. Covered by tests/runtime/scenarios/test_symbols.py and the ELF fuzzer.

#include "runtime/symbol/mini_debug.h"

#include <lzma.h>

#include <algorithm>
#include <cstdint>

#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

// A damaged or made-up file may claim to hold any amount.
constexpr size_t kMostBytes = size_t{64} << 20;
constexpr uint64_t kMostMemory = uint64_t{256} << 20;

// Nothing: it is no whole xz file, or too large.
std::vector<char> unpack(const Elf_Data& packed) {
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMostMemory, 0) != LZMA_OK) return {};
  stream.next_in = static_cast<const uint8_t*>(packed.d_buf);
  stream.avail_in = packed.d_size;
  std::vector<char> bytes;
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK && bytes.size() < kMostBytes) {
    const size_t before = bytes.size();
    bytes.resize(std::max<size_t>(1 << 16, 2 * before));
    stream.next_out = reinterpret_cast<uint8_t*>(bytes.data() + before);
    stream.avail_out = bytes.size() - before;
    result = lzma_code(&stream, LZMA_FINISH);
  }
  bytes.resize(stream.total_out);
  lzma_end(&stream);
  if (result != LZMA_STREAM_END) bytes.clear();
  return bytes;
}

}  // namespace

MiniDebug::MiniDebug(Elf* file) {
  Elf_Scn* section = find_section(file, ".gnu_debugdata");
  const Elf_Data* packed = section == nullptr ? nullptr : elf_rawdata(section, nullptr);
  if (packed == nullptr || packed->d_buf == nullptr) return;
  bytes_ = unpack(*packed);
  if (bytes_.empty()) return;
  elf_ = elf_memory(bytes_.data(), bytes_.size());
  if (elf_ == nullptr || check_sections(elf_, bytes_.size())) return;
  elf_end(elf_);
  elf_ = nullptr;
}

MiniDebug::~MiniDebug() {
  if (elf_ != nullptr) elf_end(elf_);
}

}  // namespace dvm::runtime
