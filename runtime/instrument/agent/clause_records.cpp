#include "runtime/instrument/agent/clause_records.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "runtime/instrument/uprobe/record.h"

namespace dvm::runtime {
namespace {

uint64_t word_at(std::span<const std::byte> bytes, size_t at) {
  uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

}  // namespace

uint32_t ClauseRecords::add(KnownRecord known) {
  all_.push_back(std::move(known));
  return static_cast<uint32_t>(all_.size() - 1);
}

std::optional<ClauseRecords::Found> ClauseRecords::read(std::span<std::byte> bytes, uint32_t number) {
  if (number >= all_.size()) return {};
  KnownRecord& known = all_[number];
  const size_t begin = known.value_bytes();
  if (bytes.size() < begin + sizeof(uint64_t)) return {};
  const uint64_t cookie = cookie_of(word_at(bytes, begin));
  const bool is_its = std::find(std::begin(known.cookies), std::end(known.cookies), cookie) != std::end(known.cookies);
  if (cookie == 0 || !is_its) return {};
  size_t at = sizeof(inside::ClauseRecordHead);
  for (vm::VariableValue& one : known.variables) one.value = word_at(bytes, std::exchange(at, at + sizeof(uint64_t)));
  Found found{{known.epid, known.variables}, {}, bytes.subspan(begin), known.ends_run, known.is_seen};
  if (const uint64_t time = known.has_time ? word_at(bytes, at) : 0; time != 0) found.time = time;
  if (known.has_fault) found.clause.unreadable = word_at(bytes, begin - sizeof(uint64_t));
  return found;
}

}  // namespace dvm::runtime
