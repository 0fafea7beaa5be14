// Tested by tests/unit/instrument/steady_memory_test.cpp.

#include "runtime/agent/steady_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/clock.h"
#include "common/file_descriptor.h"
#include "runtime/agent/guard_regions.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMs = 1'000'000, kShortest = 50 * kMs, kLongest = 5000 * kMs;
constexpr uint64_t kShare = 20;        // of the time, proposals take at most one part in so many
constexpr unsigned kMostOutdated = 4;  // doubles the pause at most so often
constexpr size_t kMostHopeless = 16;
constexpr uint64_t kSmallPage = 4096;

// Calls after which no memory is steady, as memory_taken() has them (inside/taking.h).
struct EndingCall {
  uint64_t number;
  std::string_view name;
};
constexpr EndingCall kEnding[] = {
    {SYS_mprotect, "mprotect to make code of memory"},
    {SYS_pkey_mprotect, "pkey_mprotect"},
    {SYS_shmat, "shmat with SHM_EXEC"},
    {SYS_personality, "personality"},
    {SYS_clone, "clone with CLONE_VM, and not for a thread"},
    {SYS_clone3, "clone3 by syscall"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_io_uring_enter, "io_uring_enter"},
};

using inside::SteadyMemory;
using inside::SteadyTable;

// False: it cannot be read.
bool read_text(const std::string& path, std::string& text) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  size_t size = 0;
  ssize_t count = 0;
  do {
    if (text.size() < size + (64 << 10)) text.resize(2 * size + (64 << 10));
    count = read(file.get(), text.data() + size, text.size() - size);
    size += count > 0 ? static_cast<size_t>(count) : 0;
  } while (count > 0);
  text.resize(size);
  return count == 0 && size > 0;
}

// What a table in the process says; the process may have written anything.
std::vector<AddressRange> ranges_of(const SteadyTable& table) {
  std::vector<AddressRange> ranges;
  for (uint64_t i = 0; i < std::min(table.count, inside::kMostSteady); i++)
    if (table.ranges[i].begin < table.ranges[i].end) ranges.push_back({table.ranges[i].begin, table.ranges[i].end});
  return ranges;
}

// False: it cannot be read. None is in use: no ranges.
bool read_active(const AgentMemory& memory, uint64_t address, uint64_t state, std::vector<AddressRange>& ranges) {
  ranges.clear();
  const uint64_t number = state & inside::kTableBits;
  if (number != 1 && number != 2) return true;
  SteadyTable table;
  if (!memory.read_object(address + offsetof(SteadyMemory, tables) + (number - 1) * sizeof table, table)) return false;
  ranges = ranges_of(table);
  return true;
}

AddressRange pages_of(const inside::MemoryRange& range) {
  const uint64_t end = std::min(range.end, ~uint64_t{0} - kSmallPage) + kSmallPage - 1;
  return {range.begin & ~(kSmallPage - 1), end & ~(kSmallPage - 1)};
}

std::vector<AddressRange> joined(std::vector<AddressRange> ranges) {
  join_ranges(ranges);
  return ranges;
}

AddressRange around(const std::vector<AddressRange>& ranges, uint64_t address) {
  for (const AddressRange& one : ranges)
    if (one.begin <= address && address < one.end) return one;
  return {address & ~(kSmallPage - 1), (address | (kSmallPage - 1)) + 1};
}

}  // namespace

SteadyProposals::SteadyProposals(pid_t pid, uint64_t address, std::vector<AddressRange> own, FindUnwatched find_unwatched)
    : address_(address), own_(std::move(own)), find_unwatched_(std::move(find_unwatched)), faults_(pid) {
  static_assert(sizeof(Head) == offsetof(SteadyMemory, tables));
  join_ranges(own_);
}

void SteadyProposals::leave_out(const AddressRange& own) {
  own_.push_back(own);
  join_ranges(own_);
}

void SteadyProposals::refresh(const AgentMemory& memory, uint64_t now) {
  if (!problem_.empty() || now < earliest_) return;
  Head head;
  if (!memory.read_object(address_, head)) return;
  if (head.is_off != 0) return void(problem_ = why_off(memory));
  if (!is_due(memory, head, now)) return;
  outdated_ = number_ == 0 || (head.state & inside::kTableBits) == number_ ? 0 : std::min(outdated_ + 1, kMostOutdated);
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  if (now >= next_) hopeless_.clear();
  const Outcome outcome = propose(memory, head, now);
  const uint64_t took = read_clock(CLOCK_MONOTONIC) - begin;
  if (outcome == Outcome::again) return void(earliest_ = now + took);
  earliest_ = now + std::max(kShortest << outdated_, kShare * took);
  if (outcome == Outcome::later) return;
  misses_ = head.misses;
  pause_ = outcome == Outcome::useful ? kShortest : std::clamp(2 * pause_, kShortest, kLongest);
  next_ = std::max(earliest_, now + pause_);
}

std::string SteadyProposals::why_off(const AgentMemory& memory) const {
  uint64_t by = 0;
  if (!memory.read_object(address_ + offsetof(SteadyMemory, ended_by), by) || by == 0)
    return "it has restricted its system calls, or has no membarrier(2) for it";
  const auto known = std::find_if(std::begin(kEnding), std::end(kEnding), [&](const auto& one) { return one.number == by - 1; });
  const std::string_view name = known == std::end(kEnding) ? "" : known->name;
  return fmt::format("it has called {}", name.empty() ? fmt::format("system call {}", by - 1) : std::string(name));
}

// Not if the last proposal is not yet in use, or if nothing is wanted since.
bool SteadyProposals::is_due(const AgentMemory& memory, const Head& head, uint64_t now) const {
  if (head.proposed != 0) return false;
  if (number_ == 0) return true;
  if (head.misses == misses_) return false;
  if (now >= next_) return true;
  std::vector<AddressRange> active;
  if (!read_active(memory, address_, head.state, active)) return false;
  return std::any_of(std::begin(head.wanted), std::end(head.wanted), [&](uint64_t address) {
    return address != 0 && !is_in_any(hopeless_, address) && !is_in_any(active, address);
  });
}

SteadyProposals::Outcome SteadyProposals::propose(const AgentMemory& memory, const Head& head, uint64_t now) {
  if (!see_takers(memory, head) || !faults_.look(now)) return Outcome::later;
  if (!faults_.found().empty()) return turn_off(memory, faults_.found()), Outcome::later;
  const bool shows_keys = faults_.may_have_keys();
  if (!read_text(faults_.folder() + (shows_keys ? "/smaps" : "/maps"), text_)) return Outcome::later;
  maps_ = read_maps_text(text_);
  if (shows_keys && !maps_.has_keys) faults_.note_no_keys();  // reading smaps takes 10 ms for each GiB in memory
  if (const Outcome checked = check_code(memory); checked != Outcome::useful) return checked;
  std::vector<AddressRange> chosen;
  if (!choose(head, chosen)) return Outcome::later;
  const Outcome outcome = compare(head, chosen);
  const bool is_new = number_ == 0 || !outside_of(joined(chosen), joined(active_)).empty();
  if (is_new && !write(memory, head, chosen)) return Outcome::later;
  return outcome;
}

// Reads what a proposal depends on, in the order that makes it right: the state, the calls that run, and the table in use. The
// mappings come last. False: they are changing.
bool SteadyProposals::see_takers(const AgentMemory& memory, const Head& head) {
  uint64_t state = 0;
  inside::MemoryTaker takers[inside::kMostTakers];
  uint64_t unnamed = 0;
  if (!memory.read_object(address_, state) || state != head.state) return false;
  if (!memory.read_object(address_ + offsetof(SteadyMemory, unnamed), unnamed) || unnamed != 0) return false;
  if (!memory.read_object(address_ + offsetof(SteadyMemory, takers), takers)) return false;
  taken_.clear();
  for (const inside::MemoryTaker& taker : takers) {
    if (taker.thread == inside::kTakerClaimed) return false;
    if (taker.thread == 0) continue;
    for (const inside::MemoryRange& range : taker.ranges) taken_.push_back(pages_of(range));
  }
  join_ranges(taken_);
  return read_active(memory, address_, head.state, active_);
}

// useful: goes on. again: all is proven, but that took time.
SteadyProposals::Outcome SteadyProposals::check_code(const AgentMemory& memory) {
  const auto is_known = [&](std::string_view line) { return proven_.find(line) != proven_.end(); };
  if (std::all_of(maps_.code.begin(), maps_.code.end(), is_known)) return Outcome::useful;
  std::vector<MemoryMapping> mappings;
  for (std::string_view rest = text_; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (auto mapping = mapping_of(line)) mappings.push_back(*std::move(mapping));
  }
  if (const std::string why = find_unwatched_(mappings); !why.empty()) return turn_off(memory, why), Outcome::later;
  proven_.clear();
  proven_.insert(maps_.code.begin(), maps_.code.end());
  return Outcome::again;
}

// Ranges in use have no guard regions: what would install one has cut them.
bool SteadyProposals::choose(const Head& head, std::vector<AddressRange>& chosen) const {
  SteadyWishes wishes{{}, maps_.heap, active_};
  for (const uint64_t address : head.wanted)
    if (address != 0) wishes.wanted.push_back(address);
  const auto all = outside_of(outside_of(joined(maps_.plain), own_), taken_);
  chosen = choose_ranges(all, wishes, inside::kMostSteady);
  const auto fresh = outside_of(joined(chosen), joined(active_));
  auto without_guards = fresh;
  if (!leave_out_guards(faults_.folder(), guards_shown(), without_guards)) return false;
  const auto guards = outside_of(fresh, joined(without_guards));
  if (!guards.empty()) chosen = choose_ranges(outside_of(joined(chosen), guards), wishes, inside::kMostSteady);
  return true;
}

// useful: there are wanted addresses that were not in use. Notes those that cannot be.
SteadyProposals::Outcome SteadyProposals::compare(const Head& head, const std::vector<AddressRange>& chosen) {
  bool is_useful = number_ == 0;
  for (const uint64_t address : head.wanted) {
    if (address == 0 || is_in_any(active_, address) || is_in_any(taken_, address) || is_in_any(hopeless_, address)) continue;
    if (is_in_any(chosen, address)) {
      is_useful = true;
      continue;
    }
    if (hopeless_.size() == kMostHopeless) hopeless_.erase(hopeless_.begin());
    hopeless_.push_back(around(maps_.others, address));
  }
  return is_useful ? Outcome::useful : Outcome::useless;
}

// Only if no call that takes memory has begun since, although the process would find that out, too.
bool SteadyProposals::write(const AgentMemory& memory, const Head& head, const std::vector<AddressRange>& chosen) {
  uint64_t state = 0;
  if (!memory.read_object(address_, state) || state != head.state) return false;
  // If none is in use, readers may still look at the one proposed last.
  const uint64_t in_use = (state & inside::kTableBits) != 0 ? state & inside::kTableBits : number_;
  const uint64_t number = in_use == 1 ? 2 : 1;
  SteadyTable table;
  for (const AddressRange& one : chosen) table.ranges[table.count++] = {one.begin, one.end};
  if (!memory.write_object(address_ + offsetof(SteadyMemory, tables) + (number - 1) * sizeof table, table)) return false;
  // If the process sees this word when it is half written, it is smaller, and so outdated, or without a number.
  const uint64_t proposed = (state & ~inside::kTableBits) | number;
  if (!memory.write_object(address_ + offsetof(SteadyMemory, proposed), proposed)) return false;
  number_ = number;
  return true;
}

// Readers look at the flag. Calls that take memory still cut it out of the tables, for readers that have looked before.
void SteadyProposals::turn_off(const AgentMemory& memory, std::string_view why) {
  memory.write_object(address_ + offsetof(SteadyMemory, is_off), uint64_t{1});
  problem_ = why;
}

}  // namespace dvm::runtime
