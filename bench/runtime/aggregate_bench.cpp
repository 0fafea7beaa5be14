// Cost of the step from key and value to the changed state: aggregate/<key>/<who>, with one thousand keys in mixed order.
//
//   dvm            AggregationBuffer::find (without a key: the state found before) and the function of count()
//   dtrace         DTrace's algorithm, written here from its description: the bytes of the key go through Jenkins' one-at-a-time
//                  hash, a chain is walked, keys are compared byte by byte, the function is called
//   unordered_map  std::unordered_map from the key as a string
//
// Keys: none, one integer, a string of 12 characters, a stack of 20 frames (with its pid).

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/buffer/aggregation_buffer.h"
#include "runtime/probe/actions.h"

namespace dvm::runtime {
namespace {

constexpr size_t kKeys = 1000;

// A key as the aggregation buffer takes it: words.
using Key = std::vector<uint64_t>;

Key no_key(size_t) { return {}; }
Key integer_key(size_t i) { return {i * 977}; }
Key string_key(size_t i) {
  Key key(2);
  const std::string text = fmt::format("func_{:07}", i * 977);
  std::memcpy(key.data(), text.data(), text.size());
  return key;
}
Key stack_key(size_t i) {
  Key key = {1234};
  for (size_t frame = 0; frame < 20; frame++) key.push_back(0x55d0'1234'0000 + frame * 0x1230 + (frame < 3 ? i * 16 : 0));
  key.push_back(0);
  return key;
}

std::span<const std::byte> bytes_of(const Key& key) { return std::as_bytes(std::span(key)); }

// Each takes a key and adds one to its count.

class Dvm {
 public:
  Dvm() {
    if (!buffer_.allocate(4 << 20)) std::abort();
    aggregation_.desc.id = 1;
    aggregation_.function = find_aggregate(dif::Action::agg_count);
    aggregation_.words = 1;
  }
  void count(const Key& key) {
    uint64_t* state = key.empty() ? find_keyless_state(buffer_, known_, aggregation_) : buffer_.find(1, bytes_of(key), 1, 0);
    if (state) aggregation_.function->update(aggregation_, state, 0, 1);
  }

 private:
  AggregationBuffer buffer_;
  EnabledAggregation aggregation_;
  KeylessState known_;
};

class DtraceWay {
 public:
  DtraceWay() : buckets_(4096) {}
  void count(const Key& key) {
    const std::span<const std::byte> bytes = bytes_of(key);
    uint32_t hash = 1;  // the aggregation's
    for (std::byte byte : bytes) {
      hash += std::to_integer<uint32_t>(byte);
      hash += hash << 10;
      hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    ChainNode*& bucket = buckets_[hash % buckets_.size()];
    for (ChainNode* entry = bucket; entry; entry = entry->next)
      if (entry->hash == hash && entry->key.size() * 8 == bytes.size() && is_same(entry->key, bytes))
        return update_(entry->state);
    entries_.push_back(std::make_unique<ChainNode>(ChainNode{bucket, hash, key, 0}));
    bucket = entries_.back().get();
    update_(bucket->state);
  }

 private:
  struct ChainNode {
    ChainNode* next;
    uint32_t hash;
    Key key;
    uint64_t state;
  };
  static bool is_same(const Key& key, std::span<const std::byte> bytes) {
    const auto* at = reinterpret_cast<const std::byte*>(key.data());
    for (std::byte byte : bytes)
      if (byte != *at++) return false;
    return true;
  }
  static void add_one(uint64_t& state) { state++; }

  void (*volatile update_)(uint64_t&) = add_one;
  std::vector<ChainNode*> buckets_;
  std::vector<std::unique_ptr<ChainNode>> entries_;
};

class UnorderedMap {
 public:
  void count(const Key& key) {
    const std::string_view text(reinterpret_cast<const char*>(key.data()), key.size() * 8);
    auto found = states_.find(text);
    if (found == states_.end()) found = states_.emplace(text, 0).first;
    found->second++;
  }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, uint64_t, Hash, std::equal_to<>> states_;
};

template <class Table>
void aggregate(benchmark::State& state, Key (*make)(size_t)) {
  std::vector<Key> keys;
  for (size_t i = 0; i < kKeys; i++) keys.push_back(make(i * 7919 % kKeys));
  Table table;
  for (auto _ : state)
    for (const Key& key : keys) table.count(key);
  state.counters["ns"] = benchmark::Counter(static_cast<double>(state.iterations() * kKeys) * 1e-9,
                                            benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

[[maybe_unused]] const bool kRegistered = [] {
  constexpr std::pair<const char*, Key (*)(size_t)> kCases[] = {
      {"count", no_key}, {"integer", integer_key}, {"string_12", string_key}, {"stack_20", stack_key}};
  for (const auto& [name, make] : kCases) {
    benchmark::RegisterBenchmark(fmt::format("aggregate/{}/dvm", name).c_str(), aggregate<Dvm>, make);
    benchmark::RegisterBenchmark(fmt::format("aggregate/{}/dtrace", name).c_str(), aggregate<DtraceWay>, make);
    benchmark::RegisterBenchmark(fmt::format("aggregate/{}/unordered_map", name).c_str(), aggregate<UnorderedMap>, make);
  }
  return true;
}();

}  // namespace
}  // namespace dvm::runtime

BENCHMARK_MAIN();
