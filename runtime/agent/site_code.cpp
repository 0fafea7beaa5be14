#include "runtime/agent/site_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>

#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/lane_code.h"
#include "runtime/agent/lookup_code.h"
#include "runtime/agent/record_code.h"
#include "runtime/agent/site_frame.h"
#include "runtime/agent/site_needs.h"
#include "runtime/agent/stack_code.h"
#include "runtime/agent/tail_code.h"
#include "runtime/agent/text_code.h"

namespace dvm::runtime {
namespace {

using Register = GeneralRegister;
using Kind = inside::ClauseStep::Kind;

class SiteCoder {
 public:
  SiteCoder(CodeWriter& code, std::span<const AgentFirer> firers, const SitePlace& place, const AddEnd& add_end)
      : code_(code),
        add_end_(add_end),
        firers_(firers),
        place_(place),
        context_(place.context),
        frame_(code, place.address, place.keeps_flags || record_flags(firers)),
        lane_(code, place.context),
        tails_(code, frame_, place) {}

  bool make() {
    const std::vector<const MachineCode*> gates = gates_of(firers_);
    const bool runs = context_.thread_offset != 0 && context_.follows == 0 && can_run_all(firers_);
    if (gates.empty() && !runs) return false;
    if (!gates.empty()) add_gates(gates);
    if (runs) add_run(!gates.empty());
    for (const size_t jump : others_) code_.land(jump);
    frame_.close(changes_);
    return true;
  }

 private:
  // Where a firing ends, the code of the stub goes on without a jump the first time.
  void end() {
    frame_.close(changes_);
    if (end_ != 0) return jump_back(end_);
    end_ = code_.bytes().size();
    add_end_();
  }
  void add_value(const MachineCode& value) {
    code_.add(std::span(value.bytes).first(value.bytes.size() - 1));  // without its ret
  }
  void store_workspace(Register reg, size_t offset) { code_.store(reg, Register::rsp, in_workspace(offset)); }
  static int32_t in_workspace(size_t offset) { return SiteFrame::kWorkspace + static_cast<int32_t>(offset); }
  void put_in_workspace(size_t offset, uint32_t value) {  // movq $value, offset(%rsp)
    code_.add({0x48, 0xc7, 0x84, 0x24}, static_cast<size_t>(in_workspace(offset)));
    code_.add({}, value);
  }
  void clear_workspace(size_t offset) { put_in_workspace(offset, 0); }
  static constexpr unsigned char kBelow = 0x82, kEqual = 0x84, kNotEqual = 0x85, kAbove = 0x87;

  void add_gates(const std::vector<const MachineCode*>& gates) {
    Needs needs;
    for (const MachineCode* gate : gates) needs.add(*gate);
    changes_ = needs.changes;
    frame_.open(needs.reads, changes_);
    std::vector<size_t> opened;
    for (const MachineCode* gate : gates) {
      add_value(*gate);
      code_.add({0x48, 0x85, 0xc0});  // test %rax, %rax
      opened.push_back(code_.jump_ahead({0x0f, kNotEqual}));
    }
    end();
    for (const size_t jump : opened) code_.land(jump);
  }

  Needs needs_of_all() {
    Needs needs{0, kRbx | kRbp};
    for (const AgentFirer& firer : firers_) {
      if (firer.tail != inside::Tail::nothing) needs.changes |= kArguments;
      if (may_record(firer)) needs.reads |= record_of(firer)->reads, needs.changes |= kRcx | kRdx | kR8;
      for (const AgentStep& step : firer.steps) {
        const bool aggregates = step.step.kind == Kind::aggregate;
        const Needs its = aggregates ? needs_of(step.aggregation) : Needs{};
        needs.reads |= its.reads, needs.changes |= its.changes, needs.has_workspace |= its.has_workspace;
        if (is_time(step)) needs.changes |= kRcx | kRdx | kRsi | kR8, needs.has_workspace = true;
        if (!aggregates && !step.code.empty()) needs.add(step.code);
      }
    }
    needs_ = needs;
    return needs;
  }

  void add_run(bool is_open) {
    const Needs needs = needs_of_all();
    if (is_open)
      frame_.extend(needs.reads, needs.changes);
    else
      frame_.open(needs.reads, needs.changes);
    changes_ |= needs.changes;
    take_lane(needs);
    for (const AgentFirer& firer : firers_) add(firer);
    if (has_tail(inside::Tail::returns)) tails_.forget();
    lane_.give_back();
    end();
    for (const Long& one : longs_) add_long(one);
    for (const Miss& miss : misses_) add_miss(miss);
    for (const Time& time : times_) add_late(time);
    for (const Full& full : fulls_) add_full(full);
    if (failures_.empty()) return;
    for (const size_t jump : failures_) code_.land(jump);
    lane_.give_back();
  }

  bool has_variables() const {
    return std::any_of(firers_.begin(), firers_.end(), [](const AgentFirer& one) { return one.has_variables != 0; });
  }

  // %rbx: the lane, %rbp: the arena.
  void take_lane(const Needs& needs) {
    for (const size_t jump : lane_.take(has_variables())) others_.push_back(jump);
    const bool records = std::any_of(firers_.begin(), firers_.end(), may_record);
    if (needs.has_workspace || records) store_workspace(Register::rax, offsetof(inside::Workspace, tid));
    if (has_variables()) lane_.find_variables(), store_workspace(Register::rax, offsetof(inside::Workspace, variables));
    if (has_tail(inside::Tail::leaves) || has_tail(inside::Tail::returns)) tails_.find();
    if (records) lane_.find_ring(), store_workspace(Register::rax, offsetof(inside::Workspace, ring));
    if (std::any_of(firers_.begin(), firers_.end(), aggregates)) lane_.find_arena();
    if (needs.has_workspace) load_workspace(Register::rsi);
  }
  bool has_tail(inside::Tail tail) const {
    return std::any_of(firers_.begin(), firers_.end(), [&](const AgentFirer& one) { return one.tail == tail; });
  }
  void load_workspace(Register reg) { code_.add_address(reg, Register::rsp, SiteFrame::kWorkspace); }

  // A predicate that is false leads behind its clause.
  void add(const AgentFirer& firer) {
    if (firer.tail == inside::Tail::leaves) return tails_.leave(firer.function);
    std::vector<std::pair<size_t, size_t>> skips;  // the jump, and the step that it leads to
    if (firer.tail == inside::Tail::returns) {
      for (const size_t jump : tails_.jumps_if_not_left(firer.function)) skips.emplace_back(jump, firer.steps.size());
      restore_pointers();
    }
    if (asks_twice(firer)) clear_workspace(offsetof(inside::Workspace, time));
    for (uint32_t i = 0; i < firer.locals; i++) clear_workspace(offsetof(inside::Workspace, locals) + i * sizeof(uint64_t));
    for (size_t i = 0; i < firer.steps.size(); i++) {
      for (const auto& [jump, to] : skips)
        if (to == i) code_.land(jump);
      if (is_record(firer.steps[i])) {
        add_record(firer);
        skips.emplace_back(code_.jump_ahead({0xe9}), firer.steps.size());
        continue;
      }
      add(firer.steps[i], asks_twice(firer));
      if (firer.steps[i].step.kind != Kind::predicate) continue;
      code_.add({0x48, 0x85, 0xc0});  // test %rax, %rax
      skips.emplace_back(code_.jump_ahead({0x0f, kEqual}), i + 1 + firer.steps[i].step.skip);
    }
    if (firer.steps.empty()) add_record(firer);
    for (const auto& [jump, to] : skips)
      if (to >= firer.steps.size()) code_.land(jump);
  }

  // Room in the ring is mostly behind its head, %r8. Near the end, and where the ring is empty or full, agent_reserve finds it.
  void add_record(const AgentFirer& firer) {
    const auto record = record_of(firer);
    const uint32_t bytes = record->bytes();
    code_.read(Register::r8, Register::rbx, offsetof(inside::Lane, head));
    code_.read(Register::rcx, Register::rbx, offsetof(inside::Lane, tail));
    code_.add({0x49, 0x39, 0xc8});  // cmp %rcx, %r8
    Full full{{code_.jump_ahead({0x0f, kEqual})}};
    code_.add_address(Register::rax, Register::r8, static_cast<int32_t>(bytes));
    code_.add({0x48, 0x29, 0xc8});                 // sub %rcx, %rax
    code_.add({0x48, 0x3d}, context_.ring_bytes);  // cmp $ring_bytes, %rax
    full.from.push_back(code_.jump_ahead({0x0f, kAbove}));
    code_.add({0x44, 0x89, 0xc1});                         // mov %r8d, %ecx
    code_.add({0x81, 0xe1}, context_.ring_bytes - 1);      // and $mask, %ecx
    code_.add({0x81, 0xf9}, context_.ring_bytes - bytes);  // cmp
    full.from.push_back(code_.jump_ahead({0x0f, kAbove}));
    code_.add({0x48, 0x03, 0x8c, 0x24}, static_cast<size_t>(in_workspace(offsetof(inside::Workspace, ring))));  // add ring, %rcx
    full.begin = code_.bytes().size();
    runtime::add_record(code_, *record, firer.cookie, context_.pid, in_workspace(offsetof(inside::Workspace, tid)));
    const size_t in_child = lane_.jump_in_child();
    code_.add_address(Register::r8, Register::r8, static_cast<int32_t>(bytes));
    code_.store(Register::r8, Register::rbx, offsetof(inside::Lane, head));
    code_.land(in_child);
    full.end = code_.bytes().size();
    full.bytes = bytes;
    fulls_.push_back(std::move(full));
  }
  struct Full {
    std::vector<size_t> from;
    size_t begin = 0, end = 0;  // of the code that makes the record
    uint32_t bytes = 0;
  };
  void add_full(const Full& full) {
    for (const size_t jump : full.from) code_.land(jump);
    frame_.keep_aside(kArguments);
    store_workspace(Register::rbx, offsetof(inside::Workspace, lane));
    load_workspace(Register::rdi);
    code_.load(Register::rsi, full.bytes);
    code_.load(Register::rdx, place_.context_at);
    call(place_.entries.reserve);
    frame_.put_back(kArguments);
    restore_pointers();
    code_.add({0x48, 0x89, 0xc1});  // mov %rax, %rcx
    code_.read(Register::r8, Register::rsp, in_workspace(offsetof(inside::Workspace, head)));
    code_.add({0x48, 0x85, 0xc0});  // test %rax, %rax
    const size_t is_lost = code_.jump_ahead({0x0f, kEqual});
    jump_back(full.begin);
    code_.land(is_lost);
    jump_back(full.end);
  }
  void jump_back(size_t to) { code_.jump(code_.here() - code_.bytes().size() + to); }
  void add(const AgentStep& step, bool asks_twice) {
    if (is_time(step)) return add_time(asks_twice);
    // As long as it is not known, its address is as long as any.
    if (step.step.kind == Kind::aggregate)
      return add(step.aggregation, step.step.address != 0 ? step.step.address : place_.code_at);
    add_value(step.code);
  }

  void call(uint64_t entry) { code_.call(place_.code_at + entry); }
  // %rdi and %rsi are what values need.
  void restore_pointers() {
    if ((needs_.changes & kRdi) != 0) code_.add_address(Register::rdi, Register::rsp, 0);
    if (needs_.has_workspace) load_workspace(Register::rsi);
  }
  // A firing has one time. It is agent_time that waits for another line.
  struct Time {
    size_t from = 0, back = 0;  // in the code
  };
  void add_time(bool may_be_known) {
    std::optional<size_t> known;
    if (may_be_known) {
      code_.add({0x48, 0x83, 0xbc, 0x24}, static_cast<size_t>(in_workspace(offsetof(inside::Workspace, time))));
      code_.add({0});  // cmpq $0, time(%rsp)
      known = code_.jump_ahead({0x0f, kNotEqual});
    }
    const size_t from = lane_.find_time();
    store_workspace(Register::rax, offsetof(inside::Workspace, time));
    times_.push_back({from, code_.bytes().size()});
    load_workspace(Register::rsi);
    if (known) code_.land(*known);
  }
  void add_late(const Time& time) {
    code_.land(time.from);
    clear_workspace(offsetof(inside::Workspace, time));
    store_workspace(Register::rbx, offsetof(inside::Workspace, lane));
    frame_.keep_aside(kArguments);
    load_workspace(Register::rdi);
    code_.load(Register::rsi, place_.context_at);
    call(place_.entries.time);
    frame_.put_back(kArguments);
    restore_pointers();
    jump_back(time.back);
  }

  void add(const AgentClause& aggregation, uint64_t address) {
    const StateFound how = how_found(aggregation);
    if (how == StateFound::plain) return add_plain_count(code_, aggregation.clause.clause);
    if (how == StateFound::here) return add_found(aggregation, address);
    if (how == StateFound::by_call)
      add_find(aggregation, address);
    else
      add_keys(aggregation, address, false), add_update_value(aggregation), call_aggregate(address);
    land_lost();
  }
  // In %rax; 0: it has none.
  void add_update_value(const AgentClause& aggregation) {
    if (aggregation.value.empty())
      code_.add({0x31, 0xc0});  // xor %eax, %eax
    else
      add_value(aggregation.value);
  }
  // With the value in %rax, and the key in the arena.
  void call_aggregate(uint64_t address) {
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
  void add_keys(const AgentClause& aggregation, uint64_t address, bool is_last_found) {
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
  void add_integer() {
    code_.read(Register::rcx, Register::rsp, in_workspace(offsetof(inside::Workspace, key_words)));
    code_.add({0x48, 0x89, 0x44, 0xcd, offsetof(inside::Arena, key)});  // mov %rax, key(%rbp,%rcx,8)
    code_.add({0x48, 0xff, 0x84, 0x24}, static_cast<size_t>(in_workspace(offsetof(inside::Workspace, key_words))));  // incq
  }
  // first: the argument of the entry.
  void call_for_key(const AgentKey& key, uint64_t first, uint64_t entry) {
    store_workspace(Register::rbp, offsetof(inside::Workspace, arena));
    if (is_stack(key)) store_workspace(Register::rbx, offsetof(inside::Workspace, lane));
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
  bool land_lost() {
    for (const size_t jump : lost_) code_.land(jump);
    return !std::exchange(lost_, {}).empty();
  }
  void leave_if(unsigned char condition, const AgentKey& key) {
    (is_stack(key) ? lost_ : failures_).push_back(code_.jump_ahead({0x0f, condition}));
  }
  void add_by_call(const AgentKey& key, uint64_t address) {
    call_for_key(key, address, place_.entries.key);
    code_.add({0x84, 0xc0});  // test %al, %al
    leave_if(kEqual, key);
  }
  // Behind agent_find, with what it returns in %rax. Returns the jump of a key that has no room.
  size_t check_found(const AgentClause& aggregation) {
    code_.add({0x48, 0x83, 0xf8, inside::kNoRoom});  // cmp $kNoRoom, %rax
    leave_if(kBelow, aggregation.keys.back());
    return code_.jump_ahead({0x0f, kEqual});
  }
  // A string or a stack that the code of the site does not take is left to agent_find.
  struct Long {
    std::vector<size_t> from;
    size_t back = 0;  // in the code
    size_t miss = 0;  // the number of that for its aggregation
  };
  std::optional<std::vector<size_t>> add_key_code(const AgentClause& aggregation) {
    if (has_stack_code(aggregation)) return add_integers(aggregation), add_stack(code_, aggregation, place_);
    if (words_of_text(aggregation) == 0 || place_.lasting.empty()) return std::nullopt;
    add_integers(aggregation);
    add_value(aggregation.keys.back().code);
    return add_text(code_, aggregation, place_);
  }
  void add_find(const AgentClause& aggregation, uint64_t address) {
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
  void add_long(const Long& one) {
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
  void add_integers(const AgentClause& aggregation) {
    for (uint32_t i = 0; i + 1 < aggregation.keys.size(); i++) {
      add_value(aggregation.keys[i].code);
      code_.store(Register::rax, Register::rbp, key_at(i));
    }
  }
  // Its address is in %rax if that holds no value, else in the workspace.
  void add_update_of_state(const inside::ThreadAggregation& clause) {
    using inside::SiteFunction;
    const auto function = static_cast<SiteFunction>(clause.function);
    if (function == SiteFunction::count) return code_.add({0x48, 0xff, 0x00});  // incq (%rax)
    const bool is_sum = function == SiteFunction::sum;
    code_.read(is_sum ? Register::rcx : Register::rdi, Register::rsp, in_workspace(offsetof(inside::Workspace, state)));
    if (is_sum) return code_.add({0x48, 0x01, 0x01});  // add %rax, (%rcx)
    call_update(clause);
  }
  void call_update(const inside::ThreadAggregation& clause) {
    code_.add({0x48, 0x89, 0xc6});  // mov %rax, %rsi
    call(place_.entries.updates[clause.function]);
    restore_pointers();
  }

  // Where the entry in the first bucket is another one, there is none yet, or no room for one, agent_aggregate does it.
  struct Miss {
    std::vector<size_t> from;
    size_t back = 0;  // in the code
    uint64_t address = 0;
    uint32_t key_words = 0;
    bool has_value = false;                 // in %rax, or in %r8 if there are keys
    const AgentClause* unvalued = nullptr;  // the value is yet to be found out, and the key is whole
  };
  // The value is kept in %r8 meanwhile, if there are keys.
  void add_found(const AgentClause& aggregation, uint64_t address) {
    const auto key_words = static_cast<uint32_t>(aggregation.keys.size());
    for (uint32_t i = 0; i < key_words; i++) {
      add_value(aggregation.keys[i].code);
      code_.store(Register::rax, Register::rbp, key_at(i));
    }
    if (!aggregation.value.empty()) add_value(aggregation.value);
    Miss miss{{}, 0, address, key_words, !aggregation.value.empty()};
    const bool is_kept = key_words != 0 && miss.has_value;
    if (is_kept) code_.add({0x49, 0x89, 0xc0});  // mov %rax, %r8
    miss.from = add_lookup(code_, aggregation.clause, key_words);
    if (is_kept) code_.add({0x4c, 0x89, 0xc0});  // mov %r8, %rax
    add_update(aggregation.clause, state_of_entry(key_words));
    miss.back = code_.bytes().size();
    misses_.push_back(std::move(miss));
  }
  void add_update(const inside::ThreadAggregation& clause, size_t states) {
    using inside::SiteFunction;
    const auto function = static_cast<SiteFunction>(clause.function);
    if (function == SiteFunction::count) return code_.add({0x48, 0xff, 0x84, 0x0d}, states);  // incq states(%rbp,%rcx)
    if (function == SiteFunction::sum) return code_.add({0x48, 0x01, 0x84, 0x0d}, states);    // add %rax, states(%rbp,%rcx)
    code_.add({0x48, 0x8d, 0xbc, 0x0d}, states);                                              // lea states(%rbp,%rcx), %rdi
    call_update(clause);
  }
  void add_miss(const Miss& miss) {
    for (const size_t jump : miss.from) code_.land(jump);
    if (miss.unvalued == nullptr) put_in_workspace(offsetof(inside::Workspace, key_words), miss.key_words);
    if (miss.unvalued != nullptr)
      add_update_value(*miss.unvalued);
    else if (!miss.has_value)
      code_.add({0x31, 0xc0});  // xor %eax, %eax
    else if (miss.key_words != 0)
      code_.add({0x4c, 0x89, 0xc0});  // mov %r8, %rax
    frame_.keep_aside(kArguments);
    call_aggregate(miss.address);
    frame_.put_back(kArguments);
    jump_back(miss.back);
  }

  CodeWriter& code_;
  const AddEnd& add_end_;
  std::span<const AgentFirer> firers_;
  const SitePlace& place_;
  const inside::Context& context_;
  SiteFrame frame_;
  LaneCode lane_;
  TailCode tails_;
  Needs needs_;
  uint32_t changes_ = 0;          // registers that are kept so far
  size_t end_ = 0;                // where a firing has ended
  std::vector<size_t> others_;    // jumps: of firings that are left to agent_enter
  std::vector<size_t> failures_;  // of a key that cannot be read, which are left to it too
  std::vector<size_t> lost_;      // of a stack that cannot be read: the aggregation at hand is left out
  std::vector<Long> longs_;
  std::vector<Miss> misses_;
  std::vector<Time> times_;
  std::vector<Full> fulls_;
};

}  // namespace

bool add_site_code(CodeWriter& code, std::span<const AgentFirer> firers, const SitePlace& place, const AddEnd& add_end) {
  return SiteCoder(code, firers, place, add_end).make();
}

size_t site_code_bytes(std::span<const AgentFirer> firers, const inside::Context& context) {
  constexpr uint64_t kHighest = 0x7ffffffff000;  // its constants are the longest
  inside::Context high = context;
  high.thread_offset = 1, high.armed = high.data = high.variables = kHighest;
  CodeWriter code(kHighest);
  constexpr inside::MemoryRange kRange{kHighest, kHighest + INT32_MAX};
  constexpr std::array kRanges{kRange, kRange};
  add_site_code(code, firers, {kHighest, high, kHighest, kHighest, {}, true, kRange, kRanges}, [] {});
  return code.bytes().size();
}

}  // namespace dvm::runtime
