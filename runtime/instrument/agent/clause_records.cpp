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

// Reads the variables. Returns where the record itself begins; nothing: a string is longer than any, or is not there as a whole.
std::optional<size_t> read_variables(std::span<const std::byte> bytes, KnownRecord& known) {
  size_t at = sizeof(inside::ClauseRecordHead), end = known.value_bytes();
  for (vm::VariableValue& one : known.variables) {
    one.value = word_at(bytes, std::exchange(at, at + sizeof(uint64_t)));
    if (!one.is_text) continue;
    if (one.value > inside::kTextWords || one.value > (bytes.size() - end) / sizeof(uint64_t)) return {};
    one.text = bytes.subspan(end, one.value * sizeof(uint64_t));
    end += one.text.size();
  }
  return end;
}

}  // namespace

uint32_t ClauseRecords::add(KnownRecord known) {
  all_.push_back(std::move(known));
  return static_cast<uint32_t>(all_.size() - 1);
}

std::optional<ClauseRecords::Found> ClauseRecords::read(std::span<std::byte> bytes, uint32_t number) {
  if (number >= all_.size()) return {};
  KnownRecord& known = all_[number];
  const size_t values = known.value_bytes();
  if (bytes.size() < values) return {};
  const auto begin = read_variables(bytes, known);
  if (!begin || bytes.size() < *begin + sizeof(uint64_t)) return {};
  const uint64_t cookie = cookie_of(word_at(bytes, *begin));
  const bool is_its = std::find(std::begin(known.cookies), std::end(known.cookies), cookie) != std::end(known.cookies);
  if (cookie == 0 || !is_its) return {};
  Found found{{known.epid, known.variables}, {}, bytes.subspan(*begin), known.ends_run, known.is_seen};
  const size_t behind = sizeof(inside::ClauseRecordHead) + known.variables.size() * sizeof(uint64_t);
  if (const uint64_t time = known.has_time ? word_at(bytes, behind) : 0; time != 0) found.time = time;
  if (known.has_fault) found.clause.unreadable = word_at(bytes, values - sizeof(uint64_t));
  return found;
}

}  // namespace dvm::runtime
