#pragma once
// Actions in probe context: the functions record_* that the rows of actions.def name. They are templates on the policy
// (policy.h).
//
// Each function evaluates its DIFOs in order and stops at the first fault. The room for the record is already reserved, so
// nothing else can fail.

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "common/hot.h"
#include "common/kernel_address.h"
#include "runtime/probe/aggregate.h"
#include "runtime/probe/context.h"
#include "runtime/probe/policy.h"

namespace dvm::runtime {

template <class Policy>
bool evaluate(FireLevel& level, const ValueCode& value, uint64_t& result) noexcept {
  result = Policy::run(value, level);
  return level.fault.id == dif::Fault::none;
}

inline ActionTally& tally_of(FireLevel& level, const ActionCode& action) noexcept {
  return level.tallies->actions[action.number];
}

// Stores a stack that a variable keeps. Its addresses are noted now, because the process may have ended when they are resolved.
inline bool store_kept_stack(FireLevel& level, const ValuePlan& value, uint64_t address, std::byte* to) noexcept {
  if (!level.state.copy_bytes(address, {to, value.size})) return false;
  uint64_t pid = 0, frame = 0;
  std::memcpy(&pid, to, sizeof(pid));
  for (size_t at = sizeof(pid); at < value.size; at += sizeof(frame)) {
    std::memcpy(&frame, to + at, sizeof(frame));
    if (frame == 0) break;
    level.context.addresses.note(static_cast<int32_t>(pid), frame);
  }
  return true;
}

// Stores the pid, then the program counters of a stack or the address of a symbol. For the kernel, the pid is kKernelPid.
inline bool store_made(FireLevel& level, const ValuePlan& value, uint64_t result, std::byte* to) noexcept {
  if (value.is_kept) return store_kept_stack(level, value, result, to);
  const vm::Firing& firing = *level.firing;
  const bool is_of_kernel = dif::is_of_kernel(value.made_by);
  const int32_t pid = is_of_kernel ? kKernelPid : firing.pid;
  const auto word = static_cast<uint64_t>(pid);
  std::memset(to, 0, value.size);
  std::memcpy(to, &word, sizeof(word));
  if (dif::is_symbol(value.made_by)) {
    const uint64_t address = is_of_kernel ? with_top_bit(result) : result;
    std::memcpy(to + sizeof(word), &address, sizeof(address));
    level.context.addresses.note(pid, address);
    return true;
  }
  const std::span<const uint64_t> stack = is_of_kernel ? firing.kernel_stack : firing.user_stack();
  if (stack.empty()) return true;
  const size_t bytes = std::min(value.size - sizeof(word), stack.size_bytes());
  std::memcpy(to + sizeof(word), stack.data(), bytes);
  for (const uint64_t frame : stack.first(bytes / sizeof(uint64_t))) level.context.addresses.note(pid, frame);
  return true;
}

// Stores the low bytes of an integer. The common sizes are separate cases, because a copy of unknown size would be a call.
inline void store_integer(uint64_t integer, uint32_t size, std::byte* to) noexcept {
  switch (size) {
    case 8:
      return void(std::memcpy(to, &integer, 8));
    case 4:
      return void(std::memcpy(to, &integer, 4));
    default:
      std::memcpy(to, &integer, size);
  }
}

// Writes a value in the form that the consumer reads.
inline bool store_value(FireLevel& level, const ValuePlan& value, uint64_t result, std::byte* to) noexcept {
  if (value.made_by != dif::Action::expression) return store_made(level, value, result, to);
  if (value.type.kind == dif::TypeKind::string) {
    to[value.size - 1] = std::byte{0};
    if (result == 0 && value.may_be_null) return to[0] = std::byte{0}, true;
    return level.state.copy_string(result, {to, value.size - 1});
  }
  if (value.type.kind == dif::TypeKind::bytes) return level.state.copy_bytes(result, {to, value.size});
  store_integer(result, value.size, to);
  return true;
}

// The bytes of a stored value that are priced by size.
inline size_t sized_bytes(const ValuePlan& value, const std::byte* at) noexcept {
  if (value.made_by != dif::Action::expression || !value.type.by_ref()) return 0;
  if (value.type.kind != dif::TypeKind::string) return value.size;
  return ::strnlen(reinterpret_cast<const char*>(at), value.size - 1) + 1;
}

// Writes a value into the record.
template <class Policy>
bool keep_value(FireLevel& level, const ValueCode& value, uint64_t result, std::byte* record) noexcept {
  if (!store_value(level, value, result, record + value.offset)) return false;
  if constexpr (Policy::counts) level.tallies->actions[value.action].bytes += sized_bytes(value, record + value.offset);
  return true;
}

template <class Policy>
bool record_values(FireLevel& level, const ActionCode& action, std::byte* record) noexcept {
  for (const ValueCode& value : action.values) {
    uint64_t result = 0;
    if (!evaluate<Policy>(level, value, result)) return false;
    if (value.size != 0 && !keep_value<Policy>(level, value, result, record)) return false;
  }
  return true;
}

// Evaluates all values of an action. The result is that of the last one.
template <class Policy>
bool evaluate_all(FireLevel& level, const ActionCode& action, uint64_t& result) noexcept {
  for (const ValueCode& value : action.values)
    if (!evaluate<Policy>(level, value, result)) return false;
  return true;
}

template <class Policy>
bool record_expression(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  uint64_t result = 0;
  return evaluate_all<Policy>(level, action, result);
}

template <class Policy>
bool record_exit(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  uint64_t status = 0;
  if (!evaluate_all<Policy>(level, action, status)) return false;
  level.context.exit_status = static_cast<int>(status);
  level.context.activity = Activity::draining;
  return true;
}

// The argument of speculate(), commit() or discard(). An invalid id is a fault.
template <class Policy>
bool speculation_of(FireLevel& level, const ActionCode& action, uint64_t& id) noexcept {
  id = 0;
  if (!evaluate_all<Policy>(level, action, id)) return false;
  if (level.context.speculations.has(id)) return true;
  level.state.set_fault(dif::Fault::illop);
  return false;
}

// Ends the clause without a fault if the speculation does not accept records.
template <class Policy>
bool record_speculate(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  uint64_t id = 0;
  if (!speculation_of<Policy>(level, action, id)) return false;
  if (!level.context.speculations.enter(id, level.firing->cpu)) return false;
  level.speculation = id;
  return true;
}

// The record of the clause itself is neither committed nor discarded, but lost.
template <class Policy>
bool record_commit(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  uint64_t id = 0;
  if (!speculation_of<Policy>(level, action, id)) return false;
  FireContext& context = level.context;
  context.order.reach(level.firing->timestamp);
  context.speculations.commit(id, level.firing->cpu, context.cpus, context.order);
  level.speculation = 0;
  return true;
}

template <class Policy>
bool record_discard(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  uint64_t id = 0;
  if (!speculation_of<Policy>(level, action, id)) return false;
  level.context.speculations.discard(id, level.firing->cpu);
  level.speculation = 0;
  return true;
}

// Widens an integer to 64 bits by its type, as in keys.
inline uint64_t widen(const dif::DataType& type, uint64_t value) noexcept {
  unsigned shift = type.size >= 8 || type.size == 0 ? 0 : 64 - 8 * type.size;
  return type.is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value << shift) >> shift) : value << shift >> shift;
}

// tracemem(): copies as many bytes as the size argument says, or all. Fills the rest with zeros.
template <class Policy>
bool record_tracemem(FireLevel& level, const ActionCode& action, std::byte* record) noexcept {
  uint64_t address = 0, wanted = 0;
  const ValueCode& bytes = action.values[0];
  if (action.values.size() > 1) {
    if (!evaluate<Policy>(level, action.values[1], wanted)) return false;
    wanted = widen(action.values[1].type, wanted);
    (void)store_value(level, action.values[1], wanted, record + action.values[1].offset);
  }
  if (!evaluate<Policy>(level, bytes, address)) return false;
  const size_t size = wanted != 0 && wanted < bytes.size ? static_cast<size_t>(wanted) : bytes.size;
  std::memset(record + bytes.offset, 0, bytes.size);
  return level.state.copy_bytes(address, {record + bytes.offset, size});
}

// A failed destructive action is a fault.
inline bool done_or_fault(FireLevel& level, bool is_done) noexcept {
  if (!is_done) level.state.set_fault(dif::Fault::illop);
  return is_done;
}

template <class Policy>
bool record_stop(FireLevel& level, const ActionCode&, std::byte*) noexcept {
  return done_or_fault(level, level.host.signal(SIGSTOP));
}

template <class Policy>
bool record_raise(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  const ValueCode& number = action.values.front();
  uint64_t result = 0;
  if (!evaluate<Policy>(level, number, result)) return false;
  return done_or_fault(level, level.host.signal(static_cast<int64_t>(widen(number.type, result))));
}

template <class Policy>
bool record_chill(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  const ValueCode& time = action.values.front();
  uint64_t result = 0;
  if (!evaluate<Policy>(level, time, result)) return false;
  return done_or_fault(level, level.context.chill.spin(widen(time.type, result)));
}

// Ends a stack in a key by a zero. Returns its bytes, the zero included.
inline size_t end_stack(const ValuePlan& value, std::byte* key) noexcept {
  std::memset(key + value.size, 0, sizeof(uint64_t));
  size_t at = sizeof(uint64_t);
  for (uint64_t word = 1; word != 0; at += sizeof(word)) std::memcpy(&word, key + at, sizeof(word));
  return at;
}

// Pads a key with zeros to a multiple of 8 bytes. Returns the new size.
inline size_t pad_key(std::byte* key, size_t size) noexcept {
  const size_t padded = (size + 7) & ~size_t{7};
  std::memset(key + size, 0, padded - size);
  return padded;
}

// Writes a key other than a string of an expression. Separate, so that the path for strings saves no registers.
[[gnu::noinline]] inline size_t write_made_key(FireLevel& level, const ValuePlan& value, uint64_t result,
                                               std::byte* to) noexcept {
  if (!value.type.by_ref()) {
    uint64_t word = widen(value.type, result);
    std::memcpy(to, &word, sizeof(word));
    return sizeof(word);
  }
  if (!store_value(level, value, result, to)) return 0;
  return dif::is_stack(value.made_by) ? end_stack(value, to) : pad_key(to, value.size);
}

// Writes a key at `to`. Returns its bytes, a multiple of 8; 0: a fault.
inline size_t write_key(FireLevel& level, const ValuePlan& value, uint64_t result, std::byte* to) noexcept {
  if (value.type.kind != dif::TypeKind::string || value.made_by != dif::Action::expression)
    return write_made_key(level, value, result, to);
  if (result == 0 && value.may_be_null) return std::memset(to, 0, sizeof(uint64_t)), sizeof(uint64_t);
  return level.state.copy_string_in_words(result, value.size - 1, to);
}

template <class Policy>
size_t append_key(FireLevel& level, const ValueCode& value, uint64_t result, std::byte* to) noexcept {
  const size_t added = write_key(level, value, result, to);
  if constexpr (Policy::counts)
    if (added != 0) level.tallies->actions[value.action].bytes += sized_bytes(value, to);
  return added;
}

// Makes the key of the action in the level, and adds its size to `bytes`. False: a fault.
template <class Policy>
bool make_key(FireLevel& level, const ActionCode& action, size_t& bytes) noexcept {
  for (unsigned i = 0; i < action.key_count; i++) {
    uint64_t result = 0;
    if (!evaluate<Policy>(level, action.values[i], result)) return false;
    const size_t added = append_key<Policy>(level, action.values[i], result, level.key + bytes);
    if (added == 0) return false;
    bytes += added;
  }
  return true;
}

inline uint64_t* find_state(AggregationBuffer& buffer, const EnabledAggregation& aggregation,
                            std::span<const std::byte> key) noexcept {
  return buffer.find(aggregation.desc.id, key, aggregation.words, aggregation.function->initial);
}

// Separate, so that the common path saves no registers.
[[gnu::noinline, gnu::cold]] inline uint64_t* find_keyless_again(AggregationBuffer& buffer, KeylessState& known,
                                                                 const EnabledAggregation& aggregation) noexcept {
  known.state = find_state(buffer, aggregation, {});
  known.generation = known.state ? buffer.generation() : 0;
  return known.state;
}

inline uint64_t* find_keyless_state(AggregationBuffer& buffer, KeylessState& known,
                                    const EnabledAggregation& aggregation) noexcept {
  return known.generation == buffer.generation() ? known.state : find_keyless_again(buffer, known, aggregation);
}

inline uint64_t* find_keyless_state(FireContext& context, const EnabledAggregation& aggregation) noexcept {
  return find_keyless_state(context.aggregations, context.keyless[aggregation.number], aggregation);
}

[[gnu::noinline]] inline uint64_t* find_keyed_again(FireContext& context, const EnabledAggregation& aggregation,
                                                    std::span<const std::byte> key) noexcept {
  return context.aggregations.find_again(context.recent[aggregation.number], aggregation.desc.id, key, aggregation.words,
                                         aggregation.function->initial);
}

inline uint64_t* find_keyed_state(FireContext& context, const EnabledAggregation& aggregation,
                                  std::span<const std::byte> key) noexcept {
  const RecentEntry& recent = context.recent[aggregation.number];
  return context.aggregations.is_entry(recent, key) ? recent.state : find_keyed_again(context, aggregation, key);
}

// All aggregating functions: evaluates the keys, the value and the increment, and only then looks up and updates the state.
template <class Policy>
DVM_HOT bool record_aggregation(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  size_t key_bytes = 0;
  if (!make_key<Policy>(level, action, key_bytes)) return false;
  uint64_t arguments[2] = {0, 1};
  for (size_t i = action.key_count; i < action.values.size(); i++) {
    uint64_t& argument = arguments[i - action.key_count];
    if (!evaluate<Policy>(level, action.values[i], argument)) return false;
    argument = widen(action.values[i].type, argument);
  }
  FireContext& context = level.context;
  uint64_t* state = action.key_count == 0 ? find_keyless_state(context, *action.aggregation)
                                          : find_keyed_state(context, *action.aggregation, {level.key, key_bytes});
  if (state == nullptr) return level.cpu->aggregation_drops++, true;
  action.aggregation->function->update(*action.aggregation, state, static_cast<int64_t>(arguments[0]),
                                       static_cast<int64_t>(arguments[1]));
  return true;
}

// A fast path for the most common aggregation, @ = count().
template <class Policy>
bool record_keyless_count(FireLevel& level, const ActionCode& action, std::byte*) noexcept {
  if (uint64_t* state = find_keyless_state(level.context, *action.aggregation))
    ++*state;
  else
    level.cpu->aggregation_drops++;
  return true;
}

// The column `record` of an action without work in probe context.
template <class Policy>
inline constexpr RecordAction record_none = nullptr;

// The function of an action or aggregating function; null: it has no work in probe context.
template <class Policy>
RecordAction record_function(dif::Action kind) {
  if (dif::find_aggregation(kind)) return record_aggregation<Policy>;
  switch (kind) {
#define DVM_ACTION(number, name, arguments, when, keeps, record, ...) \
  case dif::Action::name:                                             \
    return record_##record<Policy>;
#include "vm/dif/actions.def"
    default:
      return nullptr;
  }
}

}  // namespace dvm::runtime
