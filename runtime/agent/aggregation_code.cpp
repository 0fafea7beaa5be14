#include "runtime/agent/aggregation_code.h"

#include <optional>
#include <utility>

#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/lookup_code.h"
#include "runtime/agent/stack_code.h"
#include "runtime/agent/text_code.h"

namespace dvm::runtime {

void AggregationCode::add(const AgentClause& aggregation, uint64_t address, bool has_time) {
  const StateFound how = how_found(aggregation);
  if (how == StateFound::plain) {
    code_.read(Register::rax, Register::rsp, in_workspace(offsetof(inside::Workspace, side)));
    return add_plain_count(code_, aggregation.clause.clause);
  }
  if (how == StateFound::here) return add_found(aggregation, address, has_time);
  if (how == StateFound::by_call)
    add_find(aggregation, address);
  else
    add_keys(aggregation, address, false), add_update_value(aggregation), call_aggregate(address);
  land_lost();
}

// In %rax; 0: it has none.
void AggregationCode::add_update_value(const AgentClause& aggregation) {
  if (aggregation.value.empty())
    code_.add({0x31, 0xc0});  // xor %eax, %eax
  else
    add_value(aggregation.value);
}

// With the value in %rax, and the key in the arena.
void AggregationCode::call_aggregate(uint64_t address) {
  store_workspace(Register::rbx, offsetof(inside::Workspace, lane));
  store_workspace(Register::rbp, offsetof(inside::Workspace, arena));
  code_.load(Register::rdi, address);
  load_workspace(Register::rsi);
  code_.add({0x48, 0x89, 0xc2});  // mov %rax, %rdx
  code_.load(Register::rcx, place_.context_at);
  call(place_.entries.aggregate);
  restore_pointers();
}

// Into the arena, where its words begin at a place that is known unless a string comes before.
void AggregationCode::add_keys(const AgentClause& aggregation, uint64_t address, bool is_last_found) {
  clear_workspace(offsetof(inside::Workspace, key_words));
  for (size_t i = 0; i < aggregation.keys.size(); i++) {
    const AgentKey& key = aggregation.keys[i];
    const bool is_last = i + 1 == aggregation.keys.size();
    if (!key.code.empty()) add_value(key.code);
    if (is_integer(key))
      add_integer();
    else if (is_last && is_last_found)
      return call_for_key(key, address, place_.entries.find);
    else
      add_by_call(key, address + offsetof(inside::ThreadAggregation, keys) + i * sizeof(inside::SiteKey));
  }
}

void AggregationCode::add_integer() {
  code_.read(Register::rcx, Register::rsp, in_workspace(offsetof(inside::Workspace, key_words)));
  code_.add({0x48, 0x89, 0x44, 0xcd, offsetof(inside::Arena, key)});  // mov %rax, key(%rbp,%rcx,8)
  code_.add({0x48, 0xff, 0x84, 0x24}, static_cast<size_t>(in_workspace(offsetof(inside::Workspace, key_words))));  // incq
}

// first: the argument of the entry.
void AggregationCode::call_for_key(const AgentKey& key, uint64_t first, uint64_t entry) {
  store_workspace(Register::rbp, offsetof(inside::Workspace, arena));
  store_workspace(Register::rbx, offsetof(inside::Workspace, lane));
  code_.load(Register::rdi, first);
  load_workspace(Register::rsi);
  if (is_stack(key))
    code_.add_address(Register::rdx, Register::rsp, 0);
  else
    code_.add({0x48, 0x89, 0xc2});  // mov %rax, %rdx
  code_.load(Register::rcx, place_.context_at);
  frame_.load_stack_pointer(Register::r8);
  call(entry);
  restore_pointers();
}

bool AggregationCode::land_lost() {
  for (const size_t jump : lost_) code_.land(jump);
  return !std::exchange(lost_, {}).empty();
}

void AggregationCode::leave_if(unsigned char condition, const AgentKey& key) {
  (is_stack(key) ? lost_ : failures_).push_back(code_.jump_ahead({0x0f, condition}));
}

void AggregationCode::add_by_call(const AgentKey& key, uint64_t address) {
  call_for_key(key, address, place_.entries.key);
  code_.add({0x84, 0xc0});  // test %al, %al
  leave_if(kEqual, key);
}

// Behind agent_find, with what it returns in %rax. Returns the jump of a key that has no room.
size_t AggregationCode::check_found(const AgentClause& aggregation) {
  code_.add({0x48, 0x83, 0xf8, inside::kNoRoom});  // cmp $kNoRoom, %rax
  leave_if(kBelow, aggregation.keys.back());
  return code_.jump_ahead({0x0f, kEqual});
}

std::optional<std::vector<size_t>> AggregationCode::add_key_code(const AgentClause& aggregation) {
  if (has_stack_code(aggregation)) return add_integers(aggregation), add_stack(code_, aggregation, place_);
  if (words_of_text(aggregation) == 0) return std::nullopt;
  add_integers(aggregation);
  add_value(aggregation.keys.back().code);
  return add_text(code_, aggregation, place_);
}

void AggregationCode::add_find(const AgentClause& aggregation, uint64_t address) {
  Miss miss{{}, 0, address, 0, true, &aggregation};
  auto longer = add_key_code(aggregation);
  if (longer) {
    longs_.push_back({std::move(*longer), code_.bytes().size(), misses_.size()});
    restore_pointers();
  } else {
    add_keys(aggregation, address, true);
    miss.from = {check_found(aggregation)};
  }
  if (!aggregation.value.empty()) {
    store_workspace(Register::rax, offsetof(inside::Workspace, state));
    add_value(aggregation.value);
  }
  add_update_of_state(aggregation.clause);
  miss.back = code_.bytes().size();
  misses_.push_back(std::move(miss));
}

void AggregationCode::add_long(const Long& one) {
  Miss& miss = misses_[one.miss];
  for (const size_t jump : one.from) code_.land(jump);
  code_.add({0x4c, 0x89, 0xc0});  // mov %r8, %rax: the address of a string
  put_in_workspace(offsetof(inside::Workspace, key_words), static_cast<uint32_t>(miss.unvalued->keys.size() - 1));
  call_for_key(miss.unvalued->keys.back(), miss.address, place_.entries.find);
  miss.from.push_back(check_found(*miss.unvalued));
  jump_back(one.back);
  if (land_lost()) jump_back(miss.back);
}

// The keys before the last one, which are integers.
void AggregationCode::add_integers(const AgentClause& aggregation) {
  for (uint32_t i = 0; i + 1 < aggregation.keys.size(); i++) {
    add_value(aggregation.keys[i].code);
    code_.store(Register::rax, Register::rbp, key_at(i));
  }
}

// Its address is in %rax if that holds no value, else in the workspace.
void AggregationCode::add_update_of_state(const inside::ThreadAggregation& clause) {
  using inside::SiteFunction;
  const auto function = static_cast<SiteFunction>(clause.function);
  if (function == SiteFunction::count) return code_.add({0x48, 0xff, 0x00});  // incq (%rax)
  const bool is_here = is_updated_here(clause);
  code_.read(is_here ? Register::rcx : Register::rdi, Register::rsp, in_workspace(offsetof(inside::Workspace, state)));
  if (function == SiteFunction::sum) return code_.add({0x48, 0x01, 0x01});  // add %rax, (%rcx)
  is_here ? add_quantize(clause, Register::rcx, 0) : call_update(clause);
}

// dif::quantize_bucket() of a value that is not negative is 127 minus its leading zeros.
void AggregationCode::add_quantize(const inside::ThreadAggregation& clause, Register from, size_t states) {
  constexpr unsigned char kSign = 0x88;
  constexpr size_t kLast = (dif::kQuantizeZero + 64) * sizeof(uint64_t);
  code_.add({0x48, 0x85, 0xc0});  // test %rax, %rax
  const size_t negative = code_.jump_ahead({0x0f, kSign});
  code_.add({0xf3, 0x48, 0x0f, 0xbd, 0xc0});  // lzcnt %rax, %rax
  code_.add({0x48, 0xf7, 0xd8});              // neg %rax
  const auto with = static_cast<unsigned char>(0xc0 | static_cast<unsigned>(from));
  code_.add({0x48, 0xff, 0x84, with}, states + kLast);  // incq states + kLast(%from,%rax,8)
  negatives_.push_back({negative, code_.bytes().size(), from, states, clause});
}

void AggregationCode::add_negative(const Negative& one) {
  code_.land(one.from);
  frame_.keep_aside(kRdi | kRsi);
  code_.add_address(Register::rdi, one.base, static_cast<int32_t>(one.states));
  call_update(one.clause);
  frame_.put_back(kRdi | kRsi);
  jump_back(one.back);
}

void AggregationCode::call_update(const inside::ThreadAggregation& clause) {
  code_.add({0x48, 0x89, 0xc6});  // mov %rax, %rsi
  call(place_.entries.updates[clause.function]);
  restore_pointers();
}

// The value is kept in %r8 meanwhile, if there are keys.
void AggregationCode::add_found(const AgentClause& aggregation, uint64_t address, bool has_time) {
  const auto key_words = static_cast<uint32_t>(aggregation.keys.size());
  for (uint32_t i = 0; i < key_words; i++) {
    add_value(aggregation.keys[i].code);
    code_.store(Register::rax, Register::rbp, key_at(i));
  }
  if (!aggregation.value.empty()) add_value(aggregation.value, has_time);
  Miss miss{{}, 0, address, key_words, !aggregation.value.empty()};
  const bool is_kept = key_words != 0 && miss.has_value;
  if (is_kept) code_.add({0x49, 0x89, 0xc0});  // mov %rax, %r8
  miss.from = add_lookup(code_, aggregation.clause, key_words);
  if (is_kept) code_.add({0x4c, 0x89, 0xc0});  // mov %r8, %rax
  add_update(aggregation.clause, key_words);
  miss.back = code_.bytes().size();
  misses_.push_back(std::move(miss));
}

void AggregationCode::add_update(const inside::ThreadAggregation& clause, uint32_t key_words) {
  using inside::SiteFunction;
  const auto function = static_cast<SiteFunction>(clause.function);
  const size_t states = state_of_entry(key_words);
  const Register position = position_register(key_words);
  const auto at = static_cast<unsigned char>(position), with = static_cast<unsigned char>(0x05 | at << 3);  // (%rbp,%at)
  if (function == SiteFunction::count) return code_.add({0x48, 0xff, 0x84, with}, states);  // incq states(%rbp,%at)
  if (function == SiteFunction::sum) return code_.add({0x48, 0x01, 0x84, with}, states);    // add %rax, states(%rbp,%at)
  if (is_updated_here(clause)) {
    code_.add({0x48, 0x01, static_cast<unsigned char>(0xe8 | at)});  // add %rbp, %at
    return add_quantize(clause, position, states);
  }
  code_.add({0x48, 0x8d, 0xbc, with}, states);  // lea states(%rbp,%at), %rdi
  call_update(clause);
}

void AggregationCode::add_miss(const Miss& miss) {
  for (const size_t jump : miss.from) code_.land(jump);
  if (miss.unvalued == nullptr) put_in_workspace(offsetof(inside::Workspace, key_words), miss.key_words);
  if (miss.unvalued != nullptr)
    add_update_value(*miss.unvalued);
  else if (!miss.has_value)
    code_.add({0x31, 0xc0});  // xor %eax, %eax
  else if (miss.key_words != 0)
    code_.add({0x4c, 0x89, 0xc0});  // mov %r8, %rax
  frame_.keep_aside(kCallRegisters);
  call_aggregate(miss.address);
  frame_.put_back(kCallRegisters);
  if (miss.key_words == 0 && miss.unvalued == nullptr) code_.load(Register::rcx, place_.context.data);  // keeps_rcx()
  jump_back(miss.back);
}

void AggregationCode::add_rare() {
  for (const Long& one : longs_) add_long(one);
  for (const Miss& miss : misses_) add_miss(miss);
  for (const Negative& one : negatives_) add_negative(one);
}

}  // namespace dvm::runtime
