// Tested by tests/unit/instrument/steady_choice_test.cpp.

#include "runtime/agent/steady_choice.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace dvm::runtime {
namespace {

constexpr std::string_view kNoFile = " 00000000 00:00 0";  // behind the access

bool is_in_range(const AddressRange& range, uint64_t address) { return range.begin <= address && address < range.end; }

// Of a line such as "55d0-55e0 rw-p 00000000 00:00 0   [heap]".
struct MapsHead {
  AddressRange range;
  std::string_view access, rest;

  bool parse(std::string_view line) {
    const char* const end = line.data() + line.size();
    const auto first = std::from_chars(line.data(), end, range.begin, 16);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
    const auto second = std::from_chars(first.ptr + 1, end, range.end, 16);
    constexpr std::ptrdiff_t kAccess = 5;  // with the blank before
    if (second.ec != std::errc() || end - second.ptr < kAccess || *second.ptr != ' ') return false;
    access = {second.ptr + 1, kAccess - 1};
    rest = {second.ptr + kAccess, static_cast<size_t>(end - second.ptr - kAccess)};
    return true;
  }
  bool is_code() const { return access[2] == 'x'; }
  std::string_view name() const {
    const size_t at = rest.find_first_not_of(' ', kNoFile.size());
    return at == std::string_view::npos ? std::string_view{} : rest.substr(at);
  }
  bool is_plain() const {
    if (access[0] != 'r' || is_code() || access[3] != 'p' || !rest.starts_with(kNoFile)) return false;
    if (rest.size() > kNoFile.size() && rest[kNoFile.size()] != ' ') return false;
    return name().empty() || name() == "[heap]" || name().starts_with("[anon:");
  }
};

bool has_word(std::string_view line, std::string_view word) {
  for (size_t at; (at = line.find(word)) != std::string_view::npos; line.remove_prefix(at + 1))
    if (at > 0 && line[at - 1] == ' ' && (at + word.size() == line.size() || line[at + word.size()] == ' ')) return true;
  return false;
}

bool has_key(std::string_view line) {
  constexpr std::string_view kKey = "ProtectionKey:";
  return line.starts_with(kKey) && line.substr(kKey.size()).find_first_not_of(" 0") != std::string_view::npos;
}

// A line of smaps by which a mapping may fault. ss: the kernel unmaps a shadow stack when its thread ends.
bool may_fault(std::string_view line) {
  constexpr std::string_view kFlagsLine = "VmFlags:";
  if (has_key(line)) return true;
  if (!line.starts_with(kFlagsLine)) return false;
  constexpr std::string_view kFaulting[] = {"um", "uw", "ui", "ss", "io", "pf"};
  return std::any_of(std::begin(kFaulting), std::end(kFaulting), [&](std::string_view flag) { return has_word(line, flag); });
}

}  // namespace

MapsText read_maps_text(std::string_view text) {
  MapsText found;
  bool is_plain = false;  // the mapping to which the line belongs, which is then the last one
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    MapsHead head;
    if (!line.empty() && line[0] >= 'A' && line[0] <= 'Z') {  // of smaps
      found.has_keys |= has_key(line);
      if (is_plain && may_fault(line)) is_plain = false, found.others.push_back(found.plain.back()), found.plain.pop_back();
      continue;
    }
    if (!head.parse(line)) continue;
    is_plain = head.is_plain();
    (is_plain ? found.plain : found.others).push_back(head.range);
    if (is_plain && head.name() == "[heap]") found.heap = head.range;
    if (head.is_code()) found.code.push_back(line);
  }
  return found;
}

void join_ranges(std::vector<AddressRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  size_t count = 0;
  for (const AddressRange& one : ranges) {
    if (one.begin >= one.end) continue;
    if (count > 0 && one.begin <= ranges[count - 1].end)
      ranges[count - 1].end = std::max(ranges[count - 1].end, one.end);
    else
      ranges[count++] = one;
  }
  ranges.resize(count);
}

std::vector<AddressRange> outside_of(const std::vector<AddressRange>& ranges, const std::vector<AddressRange>& others) {
  std::vector<AddressRange> left;
  auto other = others.begin();
  for (AddressRange rest : ranges) {
    while (other != others.end() && other->end <= rest.begin) other++;
    for (auto cut = other; cut != others.end() && cut->begin < rest.end; cut++) {
      if (rest.begin < cut->begin) left.push_back({rest.begin, cut->begin});
      rest.begin = std::max(rest.begin, cut->end);
    }
    if (rest.begin < rest.end) left.push_back(rest);
  }
  return left;
}

bool is_in_any(const std::vector<AddressRange>& ranges, uint64_t address) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const AddressRange& one) { return is_in_range(one, address); });
}

std::vector<AddressRange> choose_ranges(std::vector<AddressRange> ranges, const SteadyWishes& wishes, size_t most) {
  struct Ranked {
    size_t rank;
    AddressRange range;
  };
  const auto rank_of = [&](const AddressRange& range) {
    for (size_t i = 0; i < wishes.wanted.size(); i++)
      if (is_in_range(range, wishes.wanted[i])) return i;
    if (range.begin < wishes.heap.end && wishes.heap.begin < range.end) return wishes.wanted.size();
    size_t rank = wishes.wanted.size() + 1;
    for (const AddressRange& one : wishes.active) {
      if (one.begin < range.end && range.begin < one.end) return rank;
      rank++;
    }
    return rank;
  };
  std::vector<Ranked> ranked;
  ranked.reserve(ranges.size());
  for (const AddressRange& range : ranges) ranked.push_back({rank_of(range), range});
  const auto is_better = [](const Ranked& a, const Ranked& b) {
    const uint64_t a_size = a.range.end - a.range.begin, b_size = b.range.end - b.range.begin;
    if (a.rank != b.rank) return a.rank < b.rank;
    return a_size != b_size ? a_size > b_size : a.range.begin < b.range.begin;
  };
  const auto chosen = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(most, ranked.size()));
  std::partial_sort(ranked.begin(), chosen, ranked.end(), is_better);
  ranges.clear();
  for (auto one = ranked.begin(); one != chosen; one++) ranges.push_back(one->range);
  return ranges;
}

}  // namespace dvm::runtime
