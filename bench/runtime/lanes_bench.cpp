// What dvm takes to read and merge records of an agent's lanes: lanes/N, with N threads that fire in turn. items_per_second is
// records. Each has the 48 bytes of a firing with four arguments.

#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cstddef>
#include <cstring>

#include "runtime/instrument/agent/lane_reader.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kLanes = 256, kRing = 4 << 20;
constexpr uint64_t kRecordBytes = 48, kRecords = 8192;

class Lanes {
 public:
  Lanes() : bytes_(inside::tails_at(kLanes, kRing)) {
    if (ftruncate(file_, static_cast<off_t>(bytes_)) != 0) return;
    void* data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (data != MAP_FAILED) data_ = static_cast<std::byte*>(data);
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes() {
    munmap(data_, bytes_);
    close(file_);
  }

  void write(uint64_t lanes) {
    constexpr uint64_t kBytes = sizeof(inside::RecordHead) + kRecordBytes;
    for (uint64_t i = 0; i < kRecords; i++) {
      inside::Lane& lane = reinterpret_cast<inside::Lane*>(data_ + sizeof(inside::DataHeader))[i % lanes];
      std::byte* ring = data_ + inside::rings_at(kLanes) + (i % lanes) * kRing;
      const uint64_t rest = kRing - lane.head % kRing;
      if (rest < kBytes) std::memset(ring + lane.head % kRing, 0, sizeof(uint64_t)), lane.head += rest;
      const inside::RecordHead head{kRecordBytes, __rdtsc()};
      std::memcpy(ring + lane.head % kRing, &head, sizeof head);
      lane.head += kBytes;
    }
  }
  int file() const { return file_; }
  bool is_mapped() const { return data_ != nullptr; }

 private:
  uint64_t bytes_;
  int file_ = memfd_create("lanes", MFD_CLOEXEC);
  std::byte* data_ = nullptr;
};

void lanes(benchmark::State& state) {
  Lanes lanes;
  if (!lanes.is_mapped()) return state.SkipWithError("no memory");
  LaneReader reader(lanes.file(), kLanes, kRing);
  uint64_t read = 0;
  for (auto round : state) {
    state.PauseTiming();
    lanes.write(static_cast<uint64_t>(state.range(0)));
    state.ResumeTiming();
    reader.collect();
    for (; reader.first(); read++) reader.take_first();
  }
  state.SetItemsProcessed(static_cast<int64_t>(read));
}
BENCHMARK(lanes)->Arg(1)->Arg(2)->Arg(8)->Arg(64)->Iterations(200);

}  // namespace
}  // namespace dvm::runtime

BENCHMARK_MAIN();
