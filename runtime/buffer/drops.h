#pragma once
// How much was lost, by kind and CPU. Made from runtime/buffer/drops.def.

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

namespace dvm::runtime {

enum class Drop : uint8_t {
#define DVM_DROP(name, tag, per_cpu, what, where, text) name,
#include "runtime/buffer/drops.def"
};

struct DropInfo {
  Drop id;
  std::string_view name, tag;
  bool per_cpu;
  std::string_view what, where;
};

inline constexpr bool drop_yes = true, drop_no = false;
inline constexpr std::array kDrops = {
#define DVM_DROP(name, tag, per_cpu, what, where, text) DropInfo{Drop::name, #name, #tag, drop_##per_cpu, what, where},
#include "runtime/buffer/drops.def"
};

class Drops {
 public:
  // Kinds that are not counted by CPU are counted for CPU 0.
  void add(Drop kind, uint64_t count, size_t cpu = 0) {
    std::vector<uint64_t>& counts = by_kind_[static_cast<size_t>(kind)];
    if (counts.size() <= cpu) counts.resize(cpu + 1);
    counts[cpu] += count;
  }
  Drops& operator+=(const Drops& more) {
    for (const DropInfo& kind : kDrops)
      for (size_t cpu = 0; cpu < more.of(kind.id).size(); cpu++) add(kind.id, more(kind.id, cpu), cpu);
    return *this;
  }
  uint64_t operator()(Drop kind, size_t cpu) const {
    const std::vector<uint64_t>& counts = of(kind);
    return cpu < counts.size() ? counts[cpu] : 0;
  }
  const std::vector<uint64_t>& of(Drop kind) const { return by_kind_[static_cast<size_t>(kind)]; }
  uint64_t total(Drop kind) const { return std::accumulate(of(kind).begin(), of(kind).end(), uint64_t{0}); }

 private:
  std::array<std::vector<uint64_t>, kDrops.size()> by_kind_;
};

}  // namespace dvm::runtime
