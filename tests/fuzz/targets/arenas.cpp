// Any bytes as what traced threads have aggregated, changed once more between two visits: keys and states that arrive are of the
// clause that they name. Then a firing looks for its key in the same bytes, and stays within the arena.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "runtime/agent/inside/aggregate.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "tests/fuzz/fuzz_support.h"

namespace {

using namespace dvm::runtime;

constexpr uint32_t kLanes = 2, kRing = 1024;
constexpr size_t kArenasAt = inside::arenas_at(kLanes, kRing);
constexpr size_t kBytes = kArenasAt + 2 * kLanes * inside::kArenaBytes;
constexpr uint32_t kMostText = 20;
constexpr uint64_t kConstant = 77;

const std::vector<KnownClause> kClauses = {
    {1, 1, 0, 0, {}},
    {2, 2, 0, 0, {{}, {KeyPart::Kind::constant, 0, {kConstant}}, {KeyPart::Kind::string, kMostText, {}}}},
    {3, 127, 0, 0, {{KeyPart::Kind::string, 7, {}}, {}}},
    {4, 1, 0, 0, {{KeyPart::Kind::stack, 5, {}, 2}}},
};

bool is_text(std::span<const uint64_t> words, uint32_t most) {
  const auto bytes = std::as_bytes(words);
  const auto end = std::find(bytes.begin(), bytes.end(), std::byte{0});
  const auto length = static_cast<size_t>(end - bytes.begin());
  return end != bytes.end() && length <= most && words.size() == length / 8 + 1 &&
         std::all_of(end, bytes.end(), [](std::byte one) { return one == std::byte{0}; });
}

void check(const AggregationEntry& entry) {
  dvm::fuzz::require(entry.aggregation >= 1 && entry.aggregation <= kClauses.size(), "the aggregation is known");
  const KnownClause& clause = kClauses[entry.aggregation - 1];
  dvm::fuzz::require(entry.words.size() == clause.words && entry.key.size() % 8 == 0, "the state has its size");
  std::vector<uint64_t> key(entry.key.size() / 8);
  if (!key.empty()) std::memcpy(key.data(), entry.key.data(), entry.key.size());
  const std::span words(key);
  if (entry.aggregation == 1) dvm::fuzz::require(words.empty(), "no key");
  if (entry.aggregation == 2) {
    dvm::fuzz::require(words.size() >= 3 && words[1] == kConstant, "two words and a string");
    dvm::fuzz::require(is_text(words.subspan(2), kMostText), "a string of the clause");
  }
  if (entry.aggregation == 3) dvm::fuzz::require(words.size() == 2 && is_text(words.first(1), 7), "a string and a word");
  if (entry.aggregation == 4) dvm::fuzz::require(words.size() >= 2 && words.size() <= 7 && words.back() == 0, "a stack");
}

// Of an arena on its own, so that a sanitizer sees what lies outside of it.
void fire(const uint8_t* data, size_t size) {
  const auto bytes = std::make_unique<std::byte[]>(inside::kArenaBytes);
  std::memcpy(bytes.get(), data, std::min<size_t>(size, inside::kArenaBytes));
  auto& arena = *reinterpret_cast<inside::Arena*>(bytes.get());
  inside::ThreadAggregation clause;
  clause.clause = 2, clause.words = 127;
  if (uint64_t* state = inside::find_state(arena, clause, 2))
    inside::update(inside::SiteFunction::quantize, clause.shape, state, arena.key[0]);
}

bool put(int file, std::span<const uint8_t> bytes, size_t at) {
  return pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at)) >= 0;
}

// The heads of the lanes, then of each arena the bytes in use and entries.
bool write_all(int file, std::span<const uint8_t> bytes) {
  const size_t heads = std::min(bytes.size(), kLanes * sizeof(inside::Lane));
  if (!put(file, bytes.first(heads), sizeof(inside::DataHeader))) return false;
  const auto rest = bytes.subspan(heads);
  for (uint32_t number = 0; number < 2 * kLanes; number++) {
    const size_t at = kArenasAt + number * inside::kArenaBytes;
    const auto its = rest.subspan(rest.size() * number / (2 * kLanes), rest.size() / (2 * kLanes));
    const auto used = its.first(std::min<size_t>(its.size(), 8));
    if (!put(file, used, at) || !put(file, its.subspan(used.size()), at + sizeof(inside::Arena))) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = memfd_create("arenas", MFD_CLOEXEC);
  if (ftruncate(file, 0) != 0 || ftruncate(file, kBytes) != 0) return 0;
  ArenaReader reader(file, kLanes, kRing);
  const std::span bytes(data, size);
  for (const size_t begin : {size_t{0}, size / 2}) {
    if (!write_all(file, bytes.subspan(begin))) return 0;
    reader.collect(kClauses, check, false);
  }
  fire(data, size);
  return 0;
}
