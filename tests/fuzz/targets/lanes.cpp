// Any bytes as the memory that a traced process shares with dvm, changed once more between two reads. Every record lies inside of
// what was copied, and reading comes to an end.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "runtime/instrument/agent/lane_reader.h"
#include "tests/fuzz/fuzz_support.h"

namespace {

constexpr uint32_t kLanes = 4, kRing = 1024;

void take_all(dvm::runtime::LaneReader& reader) {
  size_t taken = 0;
  unsigned sum = 0;
  while (const auto record = reader.first()) {
    for (const std::byte one : record->bytes) sum += static_cast<unsigned>(one);
    reader.take_first();
    taken += record->bytes.size();
  }
  dvm::fuzz::require(taken <= 2 * kLanes * kRing, "no more is read than there is");
  [[maybe_unused]] volatile const unsigned kept = sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dvm::runtime;
  static const int file = memfd_create("lanes", MFD_CLOEXEC);
  constexpr size_t kBytes = inside::arenas_at(kLanes, kRing);
  if (ftruncate(file, 0) != 0 || ftruncate(file, kBytes) != 0) return 0;
  LaneReader reader(file, kLanes, kRing);
  for (const size_t begin : {size_t{0}, size / 2}) {
    if (pwrite(file, data + begin, std::min(size - begin, kBytes), 0) < 0) return 0;
    reader.collect();
    take_all(reader);
  }
  return 0;
}
