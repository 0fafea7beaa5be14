#include "runtime/agent/site_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <utility>

#include "runtime/agent/aggregation_code.h"
#include "runtime/agent/lane_code.h"
#include "runtime/agent/lookup_code.h"
#include "runtime/agent/record_code.h"
#include "runtime/agent/site_code_base.h"
#include "runtime/agent/site_frame.h"
#include "runtime/agent/site_needs.h"
#include "runtime/agent/tail_code.h"

namespace dvm::runtime {
namespace {

using Kind = inside::ClauseStep::Kind;

class SiteCoder : SiteCodeBase {
 public:
  SiteCoder(CodeWriter& code, std::span<const AgentFirer> firers, const SitePlace& place, const AddEnd& add_end)
      : SiteCodeBase(code, place, needs_),
        add_end_(add_end),
        firers_(firers),
        context_(place.context),
        frame_(code, place.address, place.keeps_flags || record_flags(firers)),
        lane_(code, place),
        tails_(code, frame_, place),
        aggregations_(code, frame_, place, needs_) {}

  bool make() {
    const std::vector<const MachineCode*> gates = gates_of(firers_);
    const bool runs = context_.thread_offset != 0 && context_.follows == 0 && can_run_all(firers_);
    if (gates.empty() && !runs) return false;
    const bool is_open = !gates.empty() && !add_comparison(gates);
    if (is_open) add_gates(gates);
    is_predicate_true_ = gates.size() == 1;
    if (runs && only_counts(firers_))
      add_count(is_open);
    else if (runs)
      add_run(is_open);
    for (const size_t jump : others_) code_.land(jump);
    if (is_open || runs) frame_.close(changes_);
    return true;
  }

 private:
  // Ends a firing. The first end is followed by the code of the stub, and needs no jump.
  void end() {
    frame_.close(changes_);
    if (end_ != 0) {
      jump_back(end_);
    } else {
      end_ = code_.bytes().size();
      add_end_();
    }
    frame_.note_open();
  }
  // The only gate compares a register, which needs no frame.
  bool add_comparison(const std::vector<const MachineCode*>& gates) {
    const MachineCode::Truth& its = gates.front()->truth;
    const bool is_possible = gates.size() == 1 && its.is_all && (SiteFrame::kReadable & word_bit(its.word)) != 0;
    if (!is_possible || frame_.keeps_flags()) return false;
    code_.compare(SiteFrame::register_of(its.word), its.constant);
    const size_t opened = code_.jump_ahead({0x0f, its.condition});
    end_ = code_.bytes().size();
    add_end_();
    code_.note_frame(0, 0, place_.address);
    code_.land(opened);
    return true;
  }
  void add_gates(const std::vector<const MachineCode*>& gates) {
    needs_ = {};
    for (const MachineCode* gate : gates) needs_.add(*gate);
    needs_.point_to_words();
    changes_ = needs_.changes;
    frame_.open(needs_.reads, changes_);
    std::vector<size_t> opened;
    for (const MachineCode* gate : gates) opened.push_back(jump_if(*gate, true));
    end();
    for (const size_t jump : opened) code_.land(jump);
  }

  static void add_needs_of(const PlainRecord& record, Needs& needs) {
    needs.reads |= record.reads, needs.changes |= kRcx | kRdx | kR8;
  }
  Needs needs_of_all() {
    Needs needs{0, kRcx | kRbx | (is_taken_ ? kRbp : 0)};
    for (const AgentFirer& firer : firers_) {
      if (firer.tail != inside::Tail::nothing) needs.changes |= kCallRegisters;
      if (may_record(firer)) add_needs_of(*record_of(firer), needs);
      for (size_t i = 0; i < firer.steps.size(); i++) {
        const AgentStep& step = firer.steps[i];
        if (is_clause_record(step)) add_needs_of(*record_of(step.record), needs);
        const bool aggregates = step.step.kind == Kind::aggregate, has_time = i != 0 && passes_time(firer, i - 1);
        if (aggregates) needs.add(needs_of(step.aggregation, has_time));
        if (is_time(step)) needs.changes |= kRcx | kRdx | kR8;
        if (!aggregates && !step.code.empty()) needs.add(step.code, has_time);
      }
    }
    needs.point_to_words();
    return needs_ = needs;
  }

  void open(const Needs& needs, bool is_open) {
    if (is_open)
      frame_.extend(needs.reads, needs.changes);
    else
      frame_.open(needs.reads, needs.changes);
    changes_ |= needs.changes;
  }

  // By one instruction. So it does not matter if a signal handler has interrupted a firing, or interrupts this one and fires, or
  // never comes back.
  void add_count(bool is_open) {
    open({0, kRbx}, is_open);
    for (const size_t jump : lane_.find(has_variables())) others_.push_back(jump);
    lane_.find_side();
    add_plain_count(code_, firers_.front().steps.back().aggregation.clause.clause);
    end();
  }

  void add_run(bool is_open) {
    is_taken_ = !only_assigns(firers_);
    const Needs needs = needs_of_all();
    open(needs, is_open);
    find_lane(needs);
    for (const AgentFirer& firer : firers_) add(firer);
    for (const size_t jump : ended_) code_.land(jump);
    if (has_tail(inside::Tail::returns)) tails_.forget();
    if (is_taken_) lane_.give_back(is_data_in_rcx_);
    end();
    aggregations_.add_rare();
    for (const Time& time : times_) add_late(time);
    for (const Full& full : fulls_) add_full(full);
    failures_.insert(failures_.end(), aggregations_.failures().begin(), aggregations_.failures().end());
    if (failures_.empty()) return;
    for (const size_t jump : failures_) code_.land(jump);
    lane_.give_back();
  }

  bool has_variables() const {
    return std::any_of(firers_.begin(), firers_.end(), [](const AgentFirer& one) { return one.has_variables != 0; });
  }

  // %rbx: the lane, %rbp: the arena. An assignment is one instruction too, but no firing that has the lane may find that the
  // variable has changed.
  void find_lane(const Needs& needs) {
    for (const size_t jump : lane_.find_free(has_variables(), is_taken_)) others_.push_back(jump);
    if (is_taken_) lane_.take();
    const bool records = std::any_of(firers_.begin(), firers_.end(),
                                     [](const AgentFirer& one) { return may_record(one) || has_clause_record(one); });
    if (needs.has_workspace || records) store_workspace(Register::rax, offsetof(inside::Workspace, tid));
    if (needs.may_fail) clear_workspace(offsetof(inside::Workspace, failed));
    if (has_tail(inside::Tail::leaves) || has_tail(inside::Tail::returns)) tails_.find();
    if (records) lane_.find_ring(), store_workspace(Register::rax, offsetof(inside::Workspace, ring));
    is_data_in_rcx_ = !records && !has_tail(inside::Tail::leaves) && !has_tail(inside::Tail::returns);
    find_arena();
    if (needs.has_workspace) load_workspace(Register::rsi);
  }
  void find_arena() {
    const bool counts = std::any_of(firers_.begin(), firers_.end(), counts_plainly);
    const bool has_any = std::any_of(firers_.begin(), firers_.end(), has_entries);
    if (counts || has_any) lane_.find_side();
    if (counts) store_workspace(Register::rax, offsetof(inside::Workspace, side));
    if (has_any) lane_.find_arena(is_data_in_rcx_);
  }
  bool has_tail(inside::Tail tail) const {
    return std::any_of(firers_.begin(), firers_.end(), [&](const AgentFirer& one) { return one.tail == tail; });
  }
  // A predicate that is false leads behind its clause.
  void add(const AgentFirer& firer) {
    if (firer.tail == inside::Tail::leaves) return tails_.leave(firer.function);
    std::vector<std::pair<size_t, size_t>> skips;  // the jump, and the step that it leads to
    if (firer.tail == inside::Tail::returns) {
      for (const size_t jump : tails_.jumps_if_not_left(firer.function)) skips.emplace_back(jump, firer.steps.size());
      restore_pointers();
    }
    if (may_know_time(firer)) clear_workspace(offsetof(inside::Workspace, time));
    for (uint32_t i = 0; i < firer.locals; i++) clear_workspace(offsetof(inside::Workspace, locals) + i * sizeof(uint64_t));
    size_t see = 0;  // where the last such step begins
    for (size_t i = is_predicate_true_ ? 1 : 0; i < firer.steps.size(); i++) {
      for (const auto& [jump, to] : skips)
        if (to == i) code_.land(jump);
      is_data_in_rcx_ &= i == 0 || keeps_data(firer.steps[i - 1]);
      if (firer.steps[i].step.kind == Kind::see) see = code_.bytes().size();
      if (is_retry(firer.steps[i])) {
        add_retry(see);
        continue;
      }
      if (is_fault_record(firer.steps[i])) continue;  // agent_enter handles what fails
      if (const AgentClauseRecord& its = firer.steps[i].record; is_clause_record(firer.steps[i])) {
        add_record(*record_of(its), its.record.programs.cookie, &its.record);
        continue;
      }
      if (is_record(firer.steps[i])) {
        add_record(*record_of(firer), firer.cookie);
        skips.emplace_back(code_.jump_ahead({0xe9}), firer.steps.size());
        continue;
      }
      const bool has_time = i != 0 && passes_time(firer, i - 1);
      if (firer.steps[i].step.kind == Kind::predicate)
        skips.emplace_back(jump_if(firer.steps[i].code, false, has_time), i + 1 + firer.steps[i].step.skip);
      else if (is_time(firer.steps[i]))
        add_time(knows_time(firer, i), passes_time(firer, i));
      else
        add(firer.steps[i], has_time);
    }
    if (firer.steps.empty()) add_record(*record_of(firer), firer.cookie);
    for (const auto& [jump, to] : skips)
      if (to >= firer.steps.size()) code_.land(jump);
    is_data_in_rcx_ &= firer.steps.empty() || keeps_data(firer.steps.back());
    is_data_in_rcx_ &= !may_record(firer) && firer.tail == inside::Tail::nothing;
  }
  // Its code does not change %rcx.
  static bool keeps_data(const AgentStep& step) {
    if (is_time(step)) return true;
    if (step.step.kind == Kind::aggregate) return keeps_rcx(step.aggregation);
    const bool only_evaluates = step.step.kind == Kind::predicate || step.step.kind == Kind::evaluate;
    return only_evaluates && (step.code.changes & kRcx) == 0;
  }

  void add_retry(size_t see) {
    code_.add({0x48, 0x83, 0xbc, 0x24}, static_cast<size_t>(in_workspace(offsetof(inside::Workspace, again))));
    code_.add({0});  // cmpq $0, again(%rsp)
    const size_t is_done = code_.jump_ahead({0x0f, kEqual});
    jump_back(see);
    code_.land(is_done);
  }

  // Room in the ring is mostly behind its head, %r8. Near the end, and where the ring is empty or full, agent_reserve finds it.
  void add_record(const PlainRecord& record, uint64_t cookie, const inside::ClauseRecord* clause = nullptr) {
    const uint32_t bytes = record.bytes();
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
    const auto variables = static_cast<int32_t>(inside::from_lane_to_variables(context_.lanes));
    if (clause != nullptr) add_values(code_, *clause, in_workspace(0), variables);
    runtime::add_record(code_, record, cookie, context_.pid, in_workspace(offsetof(inside::Workspace, tid)));
    const size_t in_child = lane_.jump_in_child();
    code_.add_address(Register::r8, Register::r8, static_cast<int32_t>(bytes));
    code_.store(Register::r8, Register::rbx, offsetof(inside::Lane, head));
    if (clause != nullptr && clause->ends_run != 0) ended_.push_back(lane_.end_run());
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
    frame_.keep_aside(kCallRegisters);
    store_workspace(Register::rbx, offsetof(inside::Workspace, lane));
    load_workspace(Register::rdi);
    code_.load(Register::rsi, full.bytes);
    code_.load(Register::rdx, place_.context_at);
    call(place_.entries.reserve);
    frame_.put_back(kCallRegisters);
    restore_pointers();
    code_.add({0x48, 0x89, 0xc1});  // mov %rax, %rcx
    code_.read(Register::r8, Register::rsp, in_workspace(offsetof(inside::Workspace, head)));
    code_.add({0x48, 0x85, 0xc0});  // test %rax, %rax
    const size_t is_lost = code_.jump_ahead({0x0f, kEqual});
    jump_back(full.begin);
    code_.land(is_lost);
    jump_back(full.end);
  }
  void add(const AgentStep& step, bool has_time) {
    // Until its address is known, any other one takes the same number of bytes.
    if (step.step.kind == Kind::aggregate)
      return aggregations_.add(step.aggregation, step.step.address != 0 ? step.step.address : place_.code_at, has_time);
    add_effect(step.code, has_time);
  }

  // A firing has one time. It is agent_time that waits for another line.
  struct Time {
    std::array<size_t, 2> from{};
    size_t back = 0;         // in the code
    bool is_passed = false;  // in %rdx, which is enough
  };
  void add_time(TimeKnown known_before, bool is_passed) {
    if (known_before == TimeKnown::yes) return;
    std::optional<size_t> known;
    if (known_before == TimeKnown::perhaps) {
      code_.add({0x48, 0x83, 0xbc, 0x24}, static_cast<size_t>(in_workspace(offsetof(inside::Workspace, time))));
      code_.add({0});  // cmpq $0, time(%rsp)
      known = code_.jump_ahead({0x0f, kNotEqual});
    }
    Time time{lane_.find_time(is_data_in_rcx_)};
    time.is_passed = is_passed;
    if (!is_passed) store_workspace(Register::rdx, offsetof(inside::Workspace, time));
    time.back = code_.bytes().size();
    times_.push_back(std::move(time));
    if (known) code_.land(*known);
  }
  void add_late(const Time& time) {
    for (const size_t jump : time.from) code_.land(jump);
    clear_workspace(offsetof(inside::Workspace, time));
    store_workspace(Register::rbx, offsetof(inside::Workspace, lane));
    frame_.keep_aside(kCallRegisters);
    load_workspace(Register::rdi);
    code_.load(Register::rsi, place_.context_at);
    call(place_.entries.time);
    frame_.put_back(kCallRegisters);
    restore_pointers();
    if (time.is_passed) code_.read(Register::rdx, Register::rsp, in_workspace(offsetof(inside::Workspace, time)));
    jump_back(time.back);
  }

  const AddEnd& add_end_;
  std::span<const AgentFirer> firers_;
  const inside::Context& context_;
  SiteFrame frame_;
  LaneCode lane_;
  TailCode tails_;
  AggregationCode aggregations_;
  Needs needs_;
  bool is_predicate_true_ = false;  // that of the only clause, since its gate is open
  bool is_taken_ = true;            // the lane
  bool is_data_in_rcx_ = false;     // the address of the data mapping is, however the code that follows is reached
  uint32_t changes_ = 0;            // registers that are kept so far
  size_t end_ = 0;                  // where a firing has ended
  std::vector<size_t> others_;      // jumps: of firings that are left to agent_enter
  std::vector<size_t> ended_;       // jumps: the run ends
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
  high.thread_offset = 1;
  high.armed = high.data = high.variables = high.tails = high.lane = high.own = high.restart = kHighest;
  CodeWriter code(kHighest);
  constexpr inside::MemoryRange kRange{kHighest, kHighest + INT32_MAX};
  constexpr std::array kRanges{kRange, kRange};
  add_site_code(code, firers, {kHighest, high, kHighest, kHighest, {}, true, kRange, kRanges}, [] {});
  return code.bytes().size() + code.frames().size() * kMostRowBytes;
}

}  // namespace dvm::runtime
