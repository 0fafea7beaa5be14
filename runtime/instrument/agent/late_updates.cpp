#include "runtime/instrument/agent/late_updates.h"

#include <cstring>

#include "runtime/agent/inside/aggregate.h"

namespace dvm::runtime {

bool LateUpdates::add(std::span<const std::byte> record, const std::vector<KnownClause>& clauses, const StackCheck& check) {
  inside::UpdateRecord update;
  if (record.size() < sizeof update || record.size() % sizeof(uint64_t) != 0) return false;
  std::memcpy(&update, record.data(), sizeof update);
  std::vector<uint64_t> found((record.size() - sizeof update) / sizeof(uint64_t)), key;
  if (!found.empty()) std::memcpy(found.data(), record.data() + sizeof update, record.size() - sizeof update);
  if (update.clause >= clauses.size() || !make_key(clauses[update.clause].keys, found, key, check)) return false;
  const KnownClause& clause = clauses[update.clause];
  const auto [state, is_new] = states_.try_emplace({update.clause, std::move(key)});
  if (is_new) {
    state->second.assign(clause.words, clause.initial);
    bytes_ += state->first.second.size() * sizeof(uint64_t) + clause.words * sizeof(uint64_t);
  }
  inside::update(static_cast<inside::SiteFunction>(clause.function), clause.shape, state->second.data(), update.value);
  return true;
}

void LateUpdates::take(const std::vector<KnownClause>& clauses, const AggregationSource::Visit& visit) {
  for (const auto& [key, words] : states_) visit({clauses[key.first].aggregation, std::as_bytes(std::span(key.second)), words});
  states_.clear();
  bytes_ = 0;
}

}  // namespace dvm::runtime
