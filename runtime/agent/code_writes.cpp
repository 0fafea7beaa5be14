#include "runtime/agent/code_writes.h"

#include <algorithm>
#include <utility>

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr std::byte kTrap{0xcc};

// The kernel may remove a uprobe between reading and writing. To write its trap again would end the process, so bytes that may be
// one are never written. One that the kernel places meanwhile is lost.
bool has_trap(std::span<const std::byte> code) { return std::find(code.begin(), code.end(), kTrap) != code.end(); }

}  // namespace

std::set<uint64_t> CodeWrites::write(const AgentMemory& memory) {
  std::stable_sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.address < b.address; });
  const std::span<const Piece> all(pieces_);
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    const uint64_t page = all[begin].address / kPageBytes;
    end = begin + 1;
    while (end < all.size() && all[end].address / kPageBytes == page) end++;
    write_page(memory, all.subspan(begin, end - begin));
  }
  pieces_.clear();
  return std::exchange(failed_, {});
}

// Neighbours are written together if that repeats no trap.
void CodeWrites::write_page(const AgentMemory& memory, std::span<const Piece> pieces) {
  const uint64_t page_end = (pieces[0].address / kPageBytes + 1) * kPageBytes;
  std::vector<std::byte> code(page_end - pieces[0].address);
  const bool is_read = pieces.size() > 1 && memory.read(pieces[0].address, code);
  const auto between = [&](uint64_t begin, uint64_t end) {
    return std::span(code).subspan(begin - pieces[0].address, end < begin ? 0 : end - begin);
  };
  for (size_t first = 0, last = 0; first < pieces.size(); first = last) {
    uint64_t end = pieces[first].end();
    last = first + 1;
    while (is_read && last < pieces.size() && pieces[last].end() <= page_end && end <= page_end &&
           !has_trap(between(end, pieces[last].address)))
      end = std::max(end, pieces[last++].end());
    write_together(memory, pieces.subspan(first, last - first), between(pieces[first].address, std::min(end, page_end)));
  }
}

void CodeWrites::write_together(const AgentMemory& memory, std::span<const Piece> pieces, std::span<std::byte> code) {
  const uint64_t begin = pieces[0].address;
  if (pieces.size() > 1) {
    for (const Piece& one : pieces)
      std::copy(one.bytes.begin(), one.bytes.end(), code.begin() + static_cast<ptrdiff_t>(one.address - begin));
    if (memory.write(begin, code)) return;
  }
  for (const Piece& one : pieces)
    if (!memory.write(one.address, one.bytes)) failed_.insert(one.address);
}

}  // namespace dvm::runtime
