#pragma once
// The room of a thread for the keys of aggregations. It is empty when the consumer has collected them; updates of keys without
// room are records. Tested by tests/unit/runtime/agent_ways_test.cpp.

#include <algorithm>
#include <cmath>

#include "runtime/agent/inside/clause_steps.h"
#include "runtime/instrument/agent/text_key.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

// Updates of aggregations with keys that the thread computes.
struct KeyedUpdates {
  double count = 0;
  double entry_bytes = 0;   // in the memory of the thread, of one key of each
  double record_bytes = 0;  // of the records of all
  double share = 0;         // of those without room
};

// Strings have `string` bytes, stacks so many frames.
inline void add_update(KeyedUpdates& to, const SiteAggregation& aggregation, const Probe& probe, double string, double frames) {
  double words = 0;
  for (const SiteValue& key : aggregation.keys) {
    const bool is_text = key.frames == 0 && key.type.kind == dif::TypeKind::string;
    const auto text = is_text ? text_key_of(*key.difo, &probe, aggregation.strsize) : std::nullopt;
    if (key.frames != 0)
      words += std::min<double>(frames, key.frames) + 2;  // the process, and 0 at the end
    else if (!is_text)
      words++;
    else if (text && text->kind != TextKey::Kind::constant)
      words += std::ceil(std::min<double>(string, text->most + 1.0) / sizeof(uint64_t));
  }
  if (words == 0) return;
  to.count++;
  to.entry_bytes += sizeof(inside::ArenaEntry) + (words + aggregation.words) * sizeof(uint64_t);
  to.record_bytes += sizeof(inside::RecordHead) + sizeof(inside::UpdateRecord) + words * sizeof(uint64_t);
}

// The share of updates without room. keys: of each aggregation, in random order. firings: from one collection to the next.
inline double share_without_room(const KeyedUpdates& all, double keys, double firings) {
  if (all.count == 0) return 0;
  const double room =
      std::min((inside::kArenaBytes - sizeof(inside::Arena)) / all.entry_bytes, inside::kArenaBuckets / all.count);
  if (keys <= room) return 0;
  const double until_full = keys * std::log(keys / (keys - room));
  return firings > until_full ? (1 - until_full / firings) * (1 - room / keys) : 0;
}

}  // namespace dvm::runtime
