#include "bench/runtime/clause_in_c.h"

#include <bit>
#include <cstring>

namespace dvm::bench {

namespace {

unsigned bucket_of(int64_t value) {
  if (value == 0) return 63;
  const uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const auto log = static_cast<unsigned>(63 - std::countl_zero(size));
  const unsigned capped = log > 62 ? 62 : log;
  return value < 0 ? 62 - capped : 64 + capped;
}

uint64_t& count_of(StateInC& state, const char* text) {
  const size_t size = std::strlen(text);
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < size; i++) hash = (hash ^ static_cast<uint8_t>(text[i])) * 0x100000001b3;
  for (uint64_t at = hash % StateInC::kSlots;; at = (at + 1) % StateInC::kSlots) {
    StateInC::Key& key = state.keys[at];
    if (key.text[0] == 0) std::memcpy(key.text, text, size + 1);
    if (std::strcmp(key.text, text) == 0) return key.count;
  }
}

}  // namespace

void count(StateInC& state, const vm::Firing&) { state.count++; }

void predicate(StateInC& state, const vm::Firing& firing) {
  if (firing.args[0] == 0) state.count++;
}

void quantize(StateInC& state, const vm::Firing& firing) { state.buckets[bucket_of(static_cast<int64_t>(firing.args[0]))]++; }

void string(StateInC& state, const vm::Firing& firing) {
  char text[64];
  std::strncpy(text, reinterpret_cast<const char*>(firing.args[1]), sizeof(text) - 1);
  text[sizeof(text) - 1] = 0;
  count_of(state, text)++;
}

void latency(StateInC& state, const vm::Firing& firing) {
  state.buckets[bucket_of(static_cast<int64_t>(firing.timestamp - state.thread_start))]++;
}

void printf(StateInC& state, const vm::Firing& firing) {
  StateInC::Record& record = state.records[state.used++ % StateInC::kRecords];
  record.header[0] = sizeof(record), record.header[1] = firing.timestamp;
  for (uint64_t& value : record.values) value = firing.args[0];
}

}  // namespace dvm::bench
