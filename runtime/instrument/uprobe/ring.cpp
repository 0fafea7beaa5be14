// Making and mapping of the ring. Tested by tests/unit/instrument/uprobe_test.cpp.
#include "runtime/instrument/uprobe/ring.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace dvm::runtime {

Mapping::~Mapping() {
  if (data_) munmap(data_, size_);
}

Result<Mapping> Mapping::of(int fd, size_t bytes, bool writable, size_t at) {
  void* data = mmap(nullptr, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, static_cast<off_t>(at));
  if (data == MAP_FAILED) return kernel_error("cannot map a BPF map", errno);
  Mapping mapping;
  mapping.data_ = static_cast<std::byte*>(data);
  mapping.size_ = bytes;
  return mapping;
}

Result<std::unique_ptr<Ring>> Ring::make(size_t bytes) {
  constexpr size_t kMost = 1u << 30;
  auto ring = std::make_unique<Ring>();
  ring->page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  ring->bytes_ = std::bit_ceil(std::clamp(bytes, ring->page_, kMost));
  auto map = create_ring_map(ring->bytes_);
  if (!map) return map.error();
  auto drops = create_counter_map();
  if (!drops) return drops.error();
  ring->ring_ = std::move(*map);
  ring->drops_ = std::move(*drops);
  auto consumer = Mapping::of(ring->ring_fd(), ring->page_, true, 0);
  if (!consumer) return consumer.error();
  auto producer = Mapping::of(ring->ring_fd(), ring->page_ + 2 * ring->bytes_, false, ring->page_);
  if (!producer) return producer.error();
  auto counter = Mapping::of(ring->drops_fd(), ring->page_, true, 0);
  if (!counter) return counter.error();
  ring->consumer_ = std::move(*consumer);
  ring->producer_ = std::move(*producer);
  ring->counter_ = std::move(*counter);
  return ring;
}

uint64_t Ring::drops() const { return __atomic_load_n(&position(counter_, 0), __ATOMIC_RELAXED); }

}  // namespace dvm::runtime
