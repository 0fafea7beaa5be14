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

Result<SharedMap> SharedMap::make(const char* name, uint32_t bytes, bool writable) {
  auto map = create_shared_map(name, bytes);
  if (!map) return map.error();
  auto mapping = Mapping::of(map->get(), bytes, writable, 0);
  if (!mapping) return mapping.error();
  SharedMap shared;
  shared.map_ = std::move(*map), shared.mapping_ = std::move(*mapping);
  return shared;
}

Result<std::unique_ptr<Ring>> Ring::make(size_t bytes) {
  constexpr size_t kMost = 1u << 30;
  auto ring = std::make_unique<Ring>();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  bytes = std::bit_ceil(std::clamp(bytes, page, kMost));
  auto map = create_ring_map(bytes);
  if (!map) return map.error();
  auto drops = SharedMap::make("dvm_drops", kCpuCounters * sizeof(uint64_t));
  if (!drops) return drops.error();
  ring->ring_ = std::move(*map);
  ring->drops_ = std::move(*drops);
  auto consumer = Mapping::of(ring->ring_fd(), page, true, 0);
  if (!consumer) return consumer.error();
  auto producer = Mapping::of(ring->ring_fd(), page + 2 * bytes, false, page);
  if (!producer) return producer.error();
  ring->consumer_ = std::move(*consumer);
  ring->producer_ = std::move(*producer);
  const std::byte* produced = ring->producer_.data();
  ring->view_ = {reinterpret_cast<uint64_t*>(ring->consumer_.data()), reinterpret_cast<const uint64_t*>(produced),
                 produced + page, bytes};
  return ring;
}

uint64_t Ring::drops() const {
  uint64_t all = 0;
  for (uint32_t cpu = 0; cpu < kCpuCounters; cpu++) all += drops(cpu);
  return all;
}

}  // namespace dvm::runtime
