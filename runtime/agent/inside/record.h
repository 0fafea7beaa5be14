#pragma once
// Reads memory of the process into records. Part of fire.cpp.

#include "runtime/agent/inside/clause_steps.h"
#include "runtime/agent/inside/lanes.h"
#include "runtime/agent/inside/read.h"

namespace dvm::runtime::inside {

// Lengths of slots (uprobe/record.h).
inline constexpr uint64_t kAbsent = ~uint64_t{0}, kNothingThere = kAbsent - 1;
inline constexpr uint64_t kEndHere = uint64_t{1} << 32, kBeginHere = uint64_t{1} << 33;

[[gnu::always_inline]] inline uint64_t& word(uint64_t address) { return *reinterpret_cast<uint64_t*>(address); }

[[gnu::always_inline]] inline uint64_t widen(uint64_t value, const RecordStep& step) {
  const unsigned spare = 64 - 8U * step.size;
  value <<= spare;
  return step.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> spare) : value >> spare;
}

// The low word of a vector register. No code of the agent changes these, so they are the program's.
[[gnu::noinline]] inline uint64_t read_vector(uint8_t number) {
  uint64_t value = 0;
#define DVM_VECTOR(n) \
  if (number == (n)) asm volatile("movq %%xmm" #n ", %0" : "=r"(value));
  DVM_VECTOR(0)
  DVM_VECTOR(1)
  DVM_VECTOR(2)
  DVM_VECTOR(3)
  DVM_VECTOR(4)
  DVM_VECTOR(5)
  DVM_VECTOR(6)
  DVM_VECTOR(7)
  DVM_VECTOR(8)
  DVM_VECTOR(9)
  DVM_VECTOR(10)
  DVM_VECTOR(11)
  DVM_VECTOR(12)
  DVM_VECTOR(13)
  DVM_VECTOR(14)
  DVM_VECTOR(15)
#undef DVM_VECTOR
  return value;
}

struct ThreadFiring {
  const Context& context;
  Lane* lane;
  int32_t pid;
  uint32_t tid;
  const uint64_t* saved;
  uint64_t record;             // address of the record
  bool is_cut;                 // a string or a copy may be longer than its room
  const ClauseRecord* clause;  // of a record of one clause; else null
  const Workspace* workspace;  // likewise
};

[[gnu::noinline]] inline uint64_t read_operand(const ThreadFiring& firing, const RecordStep& step) {
  const auto saved = [&](uint8_t n) { return n < kSavedWords ? firing.saved[n] : 0; };
  const uint64_t address = saved(step.base) + saved(step.index) * step.scale + static_cast<uint64_t>(step.value);
  uint64_t value = 0;
  const uint64_t bytes = step.size <= 8 ? step.size : 8;
  return read_bytes(firing.context, *firing.lane, firing.saved[kStackWord], firing.pid, address,
                    reinterpret_cast<uint64_t>(&value), bytes) == bytes
             ? widen(value, step)
             : 0;
}

// A thread-local variable. If its clauses run in dvm, the thread keeps the value here that its latest firing has stored.
[[gnu::always_inline]] inline uint64_t& variable_of(const ThreadFiring& firing, uint8_t number) {
  auto* variables = reinterpret_cast<ThreadVariables*>(firing.context.variables);
  return variables[firing.lane - lanes_of(firing.context)].values[number];
}

// Bytes up to and with the NUL; 0: there is none.
[[gnu::always_inline]] inline uint64_t length_of(uint64_t text, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; i++)
    if (*reinterpret_cast<const volatile char*>(text + i) == 0) return i + 1;
  return 0;
}

// Length of a slot if only the first bytes could be read.
[[gnu::always_inline]] inline uint64_t length_of_part(uint64_t bytes, bool is_refused) {
  if (bytes == 0) return is_refused ? kNothingThere : kAbsent;
  return is_refused ? bytes | kEndHere : bytes;
}

// Length of the string with its NUL, which is added if the first `most` bytes have none. If the string can only be read in part,
// its first bytes are kept, because a clause may need no more.
[[gnu::noinline]] inline uint64_t read_string(const ThreadFiring& firing, uint64_t from, uint64_t to, uint64_t most) {
  const uint64_t loaded = load_text(firing.context, *firing.lane, firing.saved[kStackWord], from, to, most);
  if (loaded != 0) return loaded;
  uint64_t done = 0;
  for (uint64_t part = kFirstPart; done < most; part = most) {
    const uint64_t want = most - done < part ? most - done : part;
    bool is_refused = false;
    const uint64_t got =
        read_bytes(firing.context, *firing.lane, firing.saved[kStackWord], firing.pid, from + done, to + done, want, &is_refused);
    if (const uint64_t length = length_of(to, done, done + got)) return length;
    done += got;
    if (got < want) return length_of_part(done, is_refused);
  }
  if (most == 0) return kAbsent;
  *reinterpret_cast<char*>(to + most - 1) = 0;
  return most;
}

// A slot of fixed size may be readable in part: only its first bytes, or only its last ones, which are then stored first. The
// rest is 0. A clause may need no more, because members that several clauses read share one slot.
[[gnu::noinline]] inline uint64_t read_fixed(const ThreadFiring& firing, uint64_t from, uint64_t to, uint64_t most) {
  bool is_refused = false;
  const uint64_t got =
      from < kPage ? 0
                   : read_bytes(firing.context, *firing.lane, firing.saved[kStackWord], firing.pid, from, to, most, &is_refused);
  const uint64_t in_page = kPage - (from & (kPage - 1)), rest = got == 0 && is_refused && in_page < most ? most - in_page : 0;
  const bool has_rest = rest != 0 && read_bytes(firing.context, *firing.lane, firing.saved[kStackWord], firing.pid,
                                                from + in_page, to, rest) == rest;
  for (uint64_t i = has_rest ? rest : got; i < most; i++) *reinterpret_cast<volatile char*>(to + i) = 0;
  if (has_rest) return rest | kBeginHere;
  return got == most ? most : length_of_part(got, is_refused);
}

[[gnu::noinline]] inline uint64_t read_sized(const ThreadFiring& firing, uint64_t from, uint64_t to, uint64_t bytes) {
  bool is_refused = false;
  const uint64_t got =
      read_bytes(firing.context, *firing.lane, firing.saved[kStackWord], firing.pid, from, to, bytes, &is_refused);
  return got == bytes ? bytes : length_of_part(got, is_refused);
}

// Returns the end of what was written.
[[gnu::noinline]] inline uint32_t read_slot(ThreadFiring& firing, const RecordStep& step) {
  const uint64_t to = firing.record + step.at;
  const uint64_t base = word(firing.record + step.from), from = base + static_cast<uint64_t>(step.value);
  const bool is_unreadable = firing.workspace != nullptr && firing.workspace->unreadable == from;  // a step has just tried it
  const uint64_t wanted = step.by != 0 ? word(firing.record + step.by) + step.size : step.most;
  const uint64_t most = wanted < step.most ? wanted : step.most;
  uint64_t length = kAbsent;
  if (step.by == 0 && !step.is_string)
    length = read_fixed(firing, is_unreadable ? 0 : from, to + 8, most);
  else if (from >= kPage && !is_unreadable)
    length = step.is_string ? read_string(firing, from, to + 8, most) : read_sized(firing, from, to + 8, most);
  word(to) = length;
  firing.is_cut |= wanted > most || (step.is_string && length == step.most);
  const uint64_t bytes = length >= kNothingThere ? 0 : length & (kEndHere - 1);
  return static_cast<uint32_t>(step.at + 8 + ((bytes + 7) & ~uint64_t{7}));
}

}  // namespace dvm::runtime::inside
