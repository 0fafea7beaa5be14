// The code that runs inside of a traced process, in the thread that fires. It is compiled and linked by itself
// (runtime/agent.cmake), may lie at any address, and has no data of its own. It begins with CodeEntries. A stub calls agent_enter
// with a Site in %rdi, its own %rdi pushed before, and 128 bytes, which a leaf function may use, left free below that.
//
// It must not harm the thread that it runs in:
// - no call of anything in the process, no lock, no vector register (-mgeneral-regs-only), less than a KiB of stack;
// - memory at addresses that come from the process is read by process_vm_readv(2), which cannot fault;
// - a signal handler may interrupt it anywhere and fire itself, or never come back; another task may share its memory.

#define DVM_KEEPS_REGISTERS gnu::no_caller_saved_registers
#define DVM_RARELY [[gnu::noinline, DVM_KEEPS_REGISTERS]]

#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/inside/clause_record.h"
#include "runtime/agent/inside/clause_steps.h"
#include "runtime/agent/inside/ended.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/frames.h"
#include "runtime/agent/inside/lanes.h"
#include "runtime/agent/inside/read.h"
#include "runtime/agent/inside/record.h"
#include "runtime/agent/inside/tails.h"
#include "runtime/agent/inside/taking.h"
#include "runtime/agent/inside/time.h"
#include "runtime/agent/inside/unwind.h"
#include "runtime/agent/inside/watch.h"

namespace dvm::runtime::inside {
namespace {

constexpr long kGetPid = 39, kGetParent = 110, kGetTid = 186, kClockGetTime = 228;
constexpr uint64_t kForkedCookie = uint64_t{0xffff} << 32;  // of a process that was forked (uprobe/record.h)
constexpr uint64_t kReused = 256 * 1024, kReusedSixteenths = 3, kAlwaysReused = 768 * 1024;  // bytes, and part, of a ring

[[gnu::noinline]] void read_stack(const ThreadFiring& firing, const RecordStep& step) {
  const uint64_t begin = firing.saved[kStackWord] & ~uint64_t{511};
  word(firing.record + static_cast<uint64_t>(step.value)) = read_memory(firing.pid, begin, firing.record + step.at, step.most);
}

// Return addresses by frame pointers, as long as those ascend; from the captured bytes of the stack as far as those go.
[[gnu::noinline]] void follow_chain(const ThreadFiring& firing, const RecordStep& step) {
  const uint64_t begin = firing.saved[kStackWord] & ~uint64_t{511};
  const uint64_t bytes = word(firing.record + static_cast<uint64_t>(step.value));
  uint64_t pointer = firing.saved[kFrameWord];
  uint64_t count = 0;
  for (uint64_t frame[2]; count < step.most; pointer = frame[0]) {
    const bool is_captured = pointer >= begin && bytes >= sizeof frame && pointer - begin <= bytes - sizeof frame;
    if (is_captured) {
      const uint64_t at = firing.record + step.from + (pointer - begin);
      frame[0] = word(at), frame[1] = word(at + 8);
    } else if (read_memory(firing.pid, pointer, reinterpret_cast<uint64_t>(frame), sizeof frame) != sizeof frame) {
      break;
    }
    count++;
    word(firing.record + step.at + 8 * count) = frame[1];
    if (frame[0] <= pointer) break;
  }
  word(firing.record + step.at) = count;
}

// Its length in bytes, a word that the kernel would use, and program counters. read_frames() makes other words before these.
[[gnu::noinline]] void read_counters(const ThreadFiring& firing, const RecordStep& step) {
  auto* to = reinterpret_cast<volatile uint64_t*>(firing.record + step.at);
  const SiteKey key{0, KeyKind::stack, step.most, static_cast<int32_t>(step.value)};
  const uint32_t words = read_frames(firing.context, firing.lane, key, firing.saved, const_cast<uint64_t*>(to));
  const uint32_t counters = words == 0 ? 0 : words - 2;
  for (uint32_t i = counters; i != 0; i--) to[i + 1] = to[i];
  to[0] = counters * sizeof(uint64_t);
  to[1] = 0;
}

[[gnu::noinline]] uint64_t time_of_thread() {
  uint64_t time[2] = {0, 0};
  call(kClockGetTime, 3 /* CLOCK_THREAD_CPUTIME_ID */, reinterpret_cast<long>(time));
  return time[0] * 1'000'000'000 + time[1];
}

// dvm asks for what a slot (`from`) has not. All others are in programs that make calls.
[[gnu::noinline]] void read_answer(const ThreadFiring& firing, const RecordStep& step) {
  const bool is_absent = step.from != 0 && is_muted(firing.context);
  if (is_absent) word(firing.record + step.from) = kAbsent;
  word(firing.record + step.at) = is_absent ? 0 : static_cast<uint64_t>(call(step.value));
}

[[gnu::always_inline]] inline uint32_t run(ThreadFiring& firing, const RecordProgram& program, bool may_cut) {
  const auto* step = reinterpret_cast<const RecordStep*>(&program + 1);
  uint32_t end = program.most;
  for (const RecordStep* last = step + program.steps; step != last; step++) {
    uint64_t& to = word(firing.record + step->at);
    if (step->kind == RecordStep::Kind::saved) {
      to = widen(firing.saved[step->base] >> step->shift, *step);
    } else if (step->kind == RecordStep::Kind::xmm) {
      to = widen(read_vector(step->base), *step);
    } else if (step->kind == RecordStep::Kind::kept) {
      to = variable_of(firing, step->base);
    } else if (step->kind == RecordStep::Kind::keep) {
      if (!firing.is_cut || may_cut)
        variable_of(firing, step->base) = word(firing.record + step->from) + static_cast<uint64_t>(step->value);
    } else if (step->kind == RecordStep::Kind::constant) {
      to = static_cast<uint64_t>(step->value);
    } else if (step->kind == RecordStep::Kind::thread) {
      to = static_cast<uint64_t>(firing.pid) << 32 | firing.tid;
    } else if (step->kind == RecordStep::Kind::slot) {
      const uint32_t its = read_slot(firing, *step);
      if (program.cut_at == step->at) end = its;
    } else if (step->kind == RecordStep::Kind::memory) {
      to = read_operand(firing, *step);
    } else if (step->kind == RecordStep::Kind::stack) {
      read_stack(firing, *step);
    } else if (step->kind == RecordStep::Kind::chain) {
      follow_chain(firing, *step);
    } else if (step->kind == RecordStep::Kind::frames) {
      read_counters(firing, *step);
    } else if (step->kind == RecordStep::Kind::name) {
      name_thread(firing.record + step->at);
    } else if (step->kind == RecordStep::Kind::answer) {
      read_answer(firing, *step);
    } else {
      to = time_of_thread();
    }
  }
  return end;
}

// Room for a record of so many bytes; 0: there is none. Moves head past the end of the ring if it does not fit before that, or to
// use less memory: if dvm has read all, and enough of the ring lies behind. Then it moves tail as well (LaneReader::used_from),
// so that the whole ring is free before dvm reads again. A firing may do so and leave no record. A forked child that is late
// (is_in_child) does not.
[[gnu::always_inline]] inline uint64_t reserve(const Context& context, uint64_t pid, Lane& lane, uint64_t ring, uint64_t bytes,
                                               uint64_t& head) {
  const uint64_t size = context.ring_bytes;
  head = load(lane.head);
  const uint64_t at = head & (size - 1), left = size - at;
  uint64_t tail = load(lane.tail);
  const bool begins_anew = head == tail && (at >= kAlwaysReused || (at >= kReused && at >= size / 16 * kReusedSixteenths));
  if (begins_anew && load(armed_page(context).pid) == pid && take(lane.tail, head + left, tail)) tail = head + left;
  const uint64_t rest = begins_anew || tail == head + left || at + bytes > size ? left : 0;
  if (head + rest + bytes - tail > size) return 0;
  if (rest != 0) word(ring + at) = 0;
  head += rest;
  return ring + (head & (size - 1));
}

// Takes the lane for a firing with these saved words, unless it is taken. inside/ended.h has the reason for the order.
[[gnu::always_inline]] inline bool take_lane(Lane& lane, uint16_t armed, const uint64_t* saved) {
  uint64_t turns = load(lane.turns);
  if ((turns & 1) != 0) return false;
  const auto frame = reinterpret_cast<uint64_t>(saved);
  if (armed != kAlone) {
    if (!take(lane.turns, turns + 1, turns)) return false;
    __atomic_store_n(&lane.frame, frame, __ATOMIC_RELEASE);
  } else {
    __atomic_store_n(&lane.frame, frame, __ATOMIC_RELEASE);
    asm volatile("incq %0" : "+m"(lane.turns) : : "memory", "cc");
  }
  return true;
}

[[gnu::always_inline]] inline void give_back(Lane& lane) {
  __atomic_store_n(&lane.turns, load(lane.turns) + 1, __ATOMIC_RELEASE);
  __atomic_store_n(&lane.frame, uint64_t{0}, __ATOMIC_RELEASE);
}

// A signal handler that interrupted the firing may have forked. The child has the stack of the parent, and goes on where it was,
// but the lane is not its own.
[[gnu::always_inline]] inline bool is_in_child(const Context& context, const ThreadFiring& firing) {
  return static_cast<int32_t>(load(armed_page(context).pid)) != firing.pid;
}

[[gnu::always_inline]] inline uint64_t ring_of(const Context& context, const Lane& lane) {
  return context.data + rings_at(context.lanes) + static_cast<uint64_t>(&lane - lanes_of(context)) * context.ring_bytes;
}

// Writes the record, and publishes it unless something in it is cut and a larger one would not be. False: it is not.
[[gnu::noinline]] bool write_record(const Context& context, Lane& lane, uint64_t ring, ThreadFiring& firing, uint64_t cookie,
                                    const RecordProgram& program, bool may_cut) {
  uint32_t low, high, cpu;
  asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(cpu));
  uint64_t head = 0;
  const uint32_t most = most_value_bytes(firing.clause) + ((program.most + 7U) & ~7U);
  const uint64_t to = reserve(context, static_cast<uint64_t>(firing.pid), lane, ring, sizeof(RecordHead) + most, head);
  if (to == 0) {
    lane.full++;
    return true;
  }
  const uint64_t values = to + sizeof(RecordHead);
  const uint32_t before = firing.clause != nullptr ? write_values(context, *firing.clause, *firing.workspace, values) : 0;
  firing.record = values + before;
  firing.is_cut = false;
  word(firing.record) = cookie | uint64_t{cpu & 0xfff} << 48;
  const uint32_t length = before + run(firing, program, may_cut);
  if (is_in_child(context, firing)) return true;
  if (firing.is_cut && !may_cut) return false;
  word(to) = length;
  const bool is_seen = firing.clause != nullptr && firing.clause->is_seen != 0;
  word(to + 8) = is_seen ? firing.workspace->seen_at : uint64_t{high} << 32 | low;
  __atomic_store_n(&lane.head, head + sizeof(RecordHead) + ((length + 7U) & ~7U), __ATOMIC_RELEASE);
  return true;
}

[[gnu::always_inline]] inline void write_one(const Context& context, Lane& lane, uint64_t ring, ThreadFiring& firing,
                                             const RecordPrograms& programs) {
  const auto& program = *reinterpret_cast<const RecordProgram*>(programs.program);
  if (program.makes_calls != 0 && is_muted(context)) {
    __atomic_fetch_add(&reinterpret_cast<DataHeader*>(context.data)->muted, 1, __ATOMIC_RELAXED);
    return;
  }
  const bool is_only = programs.larger_program == 0;
  if (write_record(context, lane, ring, firing, programs.cookie, program, is_only)) return;
  write_record(context, lane, ring, firing, programs.larger_cookie,
               *reinterpret_cast<const RecordProgram*>(programs.larger_program), true);
}

// By the thread control block; 0: not known.
[[gnu::always_inline]] inline uint32_t number_of_thread(const Context& context) {
  const uint64_t thread = thread_pointer();
  return context.thread_offset != 0 && thread != 0 ? *reinterpret_cast<const uint32_t*>(thread + context.thread_offset) : 0;
}

// In a forked child whose page is still empty. False: dvm has disarmed the process, or children are not followed. One that was
// not forked by its C library has the number of its parent's thread in its thread control block.
[[gnu::noinline]] bool take_up(const Context& context, ArmedPage& page, DataHeader& header) {
  if (context.follows == 0 || load(header.restricted) != 0) return false;
  if (!take(page.pid, static_cast<uint64_t>(call(kGetPid)))) return false;
  const bool is_known = number_of_thread(context) == static_cast<uint32_t>(call(kGetTid));
  __atomic_store_n(&page.armed, is_known ? kShared : kAsked, __ATOMIC_RELEASE);
  return true;
}

[[gnu::always_inline]] inline VariablesIn variables_in(const Context& context, ArmedPage& page, const DataHeader& header) {
  if (context.follows != 0) return header.variables;  // another process may have ended the run
  if (page.variables == VariablesIn::nowhere) page.variables = header.variables;
  return page.variables;
}

// A record that tells dvm of a new process, as those of the kernel do.
[[gnu::noinline]] void announce(const Context& context, Lane& lane, uint64_t ring, uint64_t pid) {
  constexpr uint64_t kBytes = 3 * sizeof(uint64_t);
  uint64_t head = 0;
  const uint64_t to = reserve(context, pid, lane, ring, sizeof(RecordHead) + kBytes, head);
  if (to == 0) return;
  word(to) = kBytes;
  word(to + 8) = __builtin_ia32_rdtsc();
  word(to + 16) = kForkedCookie;
  word(to + 24) = static_cast<uint64_t>(call(kGetParent));
  word(to + 32) = pid;
  __atomic_store_n(&lane.head, head + sizeof(RecordHead) + kBytes, __ATOMIC_RELEASE);
}

// In the ring. Its key is in the arena.
DVM_RARELY void write_update(const Context& context, uint64_t pid, Lane& lane, uint64_t ring, const UpdateRecord& update,
                             const Arena& arena, uint32_t key_words) {
  uint64_t head = 0;
  const auto bytes = static_cast<uint32_t>(sizeof update + key_words * sizeof(uint64_t));
  const uint64_t to = reserve(context, pid, lane, ring, sizeof(RecordHead) + bytes, head);
  if (to == 0) {
    lane.full++;
    return;
  }
  *reinterpret_cast<RecordHead*>(to) = {bytes, __builtin_ia32_rdtsc()};
  *reinterpret_cast<UpdateRecord*>(to + sizeof(RecordHead)) = update;
  auto* key = reinterpret_cast<volatile uint64_t*>(to + sizeof(RecordHead) + sizeof update);
  for (uint32_t i = 0; i < key_words; i++) key[i] = arena.key[i];
  __atomic_store_n(&lane.head, head + sizeof(RecordHead) + bytes, __ATOMIC_RELEASE);
}

// Of the firing, which has it already if it is not 0. Not before that of the thread's last one, though lines differ a little.
[[gnu::always_inline]] inline void set_time(const DataHeader& header, Lane& lane, uint64_t& time) {
  if (time != 0) return;
  const uint64_t now = time_on(current_line(header), __builtin_ia32_rdtsc());
  uint64_t last = 0;
  do {
    last = load(lane.time);
    time = now < last ? last : now;
  } while (!take(lane.time, time, last));  // a signal handler that comes in between may fire
}

// True: the run ends. The page takes its word from the header, so that is first.
[[gnu::noinline]] bool record_clause(const Context& context, Lane& lane, uint64_t ring, ThreadFiring firing,
                                     const Workspace& workspace, const ClauseRecord& clause) {
  firing.clause = &clause, firing.workspace = &workspace;
  const uint64_t head = lane.head;
  write_one(context, lane, ring, firing, clause.programs);
  if (clause.ends_run == 0 || lane.head == head) return false;
  reinterpret_cast<DataHeader*>(context.data)->variables = VariablesIn::nowhere;
  __atomic_thread_fence(__ATOMIC_RELEASE);
  armed_page(context).variables = VariablesIn::nowhere;
  return true;
}

// False: a value or a key cannot be had.
[[gnu::always_inline]] inline bool run_aggregation(const Context& context, uint64_t ring, const ThreadFiring& firing,
                                                   Workspace& workspace, const ThreadAggregation& clause) {
  if (is_plain_count(clause)) return count_plainly(*workspace.lane, clause.clause, workspace.side), true;
  uint32_t key_words = 0;
  const KeyRead read = make_key(clause, context, *workspace.arena, firing.saved, workspace, key_words);
  if (read == KeyRead::muted) return true;
  if (read == KeyRead::fault) return false;
  const uint64_t value = clause.value != 0 ? evaluate(clause.value, firing.saved, workspace) : 0;
  if (workspace.failed != 0) return false;
  if (!aggregate(clause, *workspace.arena, key_words, value))
    write_update(context, workspace.pid, *workspace.lane, ring, {.clause = clause.clause, .value = value}, *workspace.arena,
                 key_words);
  return true;
}

// The words of a string, made in the arena as those of a key are. 0: it cannot be read.
[[gnu::noinline]] uint32_t make_text(const Context& context, const ThreadFiring& firing, Workspace& workspace,
                                     const TextAssignment& text) {
  const uint64_t address = text.from.code != 0 ? evaluate(text.from.code, firing.saved, workspace) : 0;
  if (workspace.failed != 0) return 0;
  const uint32_t count =
      read_key(context, workspace.lane, text.from, firing.saved, address, firing.saved[kStackWord], workspace.arena->key);
  if (count == 0 && text.from.kind == KeyKind::string) workspace.unreadable = address;
  return count;
}

// False: its string cannot be read, and the variable keeps what it has.
[[gnu::noinline]] bool run_assignment(const Context& context, const ThreadFiring& firing, Workspace& workspace,
                                      const TextAssignment& text) {
  if (text.count != 0) return assign_text(context, workspace, text.variable, text.words, text.count), true;
  if (text.from.kind == KeyKind::text && workspace.variables[text.from.variable] == 0)  // NULL
    return workspace.variables[text.variable] = 0, true;
  const uint32_t count = make_text(context, firing, workspace, text);
  if (count != 0) assign_text(context, workspace, text.variable, workspace.arena->key, count);
  if (text.is_tried != 0) workspace.failed = workspace.unreadable = 0;
  return count != 0 || text.is_tried != 0;
}

// Leads back to the step `see`.
[[gnu::always_inline]] inline const ClauseStep* before_see(const ClauseStep* step) {
  while (step->kind != ClauseStep::Kind::see) step--;
  return step - 1;
}

// False: nothing has happened, and dvm shall run the clauses, which need it, or of which a value or a key cannot be had. No step
// before such a value has an effect, unless its clause ends with a fault_record.
[[gnu::noinline]] bool run_at_site(const Context& context, Lane& lane, uint64_t ring, const ThreadFiring& firing,
                                   const Firer& firer) {
  auto& header = *reinterpret_cast<DataHeader*>(context.data);
  const uint64_t number = static_cast<uint64_t>(&lane - reinterpret_cast<Lane*>(&header + 1));
  Workspace workspace;
  workspace.pid = static_cast<uint64_t>(int64_t{firing.pid});
  workspace.tid = firing.tid;
  workspace.time = workspace.failed = workspace.unreadable = 0;
  workspace.lane = &lane;
  workspace.side = side_of(lane);
  workspace.arena = &arena_of(header, context, lane, workspace.side);
  workspace.variables = reinterpret_cast<ThreadVariables*>(context.variables)[number].values;
  for (uint32_t i = 0; i < firer.locals; i++) workspace.locals[i] = 0;
  const auto* step = reinterpret_cast<const ClauseStep*>(firer.steps);
  for (const ClauseStep* const end = step + firer.step_count; step < end; step++) {
    if (step->kind == ClauseStep::Kind::time) {
      set_time(header, lane, workspace.time);
    } else if (step->kind == ClauseStep::Kind::aggregate) {
      if (is_in_child(context, firing)) return true;
      const auto& clause = *reinterpret_cast<const ThreadAggregation*>(step->address);
      const bool is_done = run_aggregation(context, ring, firing, workspace, clause);
      if (!is_done && !leave_to_record(step, workspace)) return false;
    } else if (step->kind == ClauseStep::Kind::assign_text || step->kind == ClauseStep::Kind::try_text) {
      if (is_in_child(context, firing)) return true;
      const auto& text = *reinterpret_cast<const TextAssignment*>(step->address);
      const bool is_done = step->kind == ClauseStep::Kind::try_text ? make_text(context, firing, workspace, text) != 0
                                                                    : run_assignment(context, firing, workspace, text);
      if (!is_done && !leave_to_record(step, workspace)) return false;
    } else if (step->kind == ClauseStep::Kind::record) {
      return false;
    } else if (step->kind == ClauseStep::Kind::clause_record) {
      const auto& clause = *reinterpret_cast<const ClauseRecord*>(step->address);
      if (record_clause(context, lane, ring, firing, workspace, clause)) return true;
    } else if (step->kind == ClauseStep::Kind::fault_record) {
      if (workspace.failed == 0) continue;
      record_clause(context, lane, ring, firing, workspace, *reinterpret_cast<const ClauseRecord*>(step->address));
      workspace.failed = workspace.unreadable = 0;
    } else if (step->kind == ClauseStep::Kind::retry) {
      if (workspace.again != 0) step = before_see(step);
    } else {
      const uint64_t value = evaluate(step->address, firing.saved, workspace);
      if (workspace.failed != 0) {
        if (leave_to_record(step, workspace)) continue;
        return false;
      }
      if (value == 0 && step->kind == ClauseStep::Kind::predicate) step += step->skip;
    }
  }
  return true;
}

}  // namespace

extern "C" [[gnu::used]] void agent_fire(const Site* site, uint64_t* saved) {
  const Context& context = site->context;
  ArmedPage& page = armed_page(context);
  auto& header = *reinterpret_cast<DataHeader*>(context.data);
  uint16_t armed = load(page.armed);
  const bool is_new = armed == kDisarmed;
  if (site->watch == Watch::fork && load(page.pid) == 0) part_from_parent(context, header);
  note_taking(*site, saved);
  if (is_new && !take_up(context, page, header)) return watch_disarmed(*site, saved, page, header);
  if (site->watch != Watch::nothing && watch_call(*site, saved, page, header)) return;
  if (site->firers == 0 && !is_new) return;
  armed = load(page.armed);
  uint32_t tid = armed == kAsked ? 0 : number_of_thread(context);
  if (tid == 0 && !is_muted(context)) tid = static_cast<uint32_t>(call(kGetTid));
  Lane* lane = tid == 0 ? nullptr : find_lane(context, header, tid);
  if (lane == nullptr) {
    __atomic_fetch_add(&header.homeless, site->counted, __ATOMIC_RELAXED);
    return;
  }
  if (!take_lane(*lane, armed, saved) && !take_from_ended(context, *lane, saved)) {
    __atomic_fetch_add(&lane->nested, site->counted, __ATOMIC_RELAXED);
    return;
  }
  const uint64_t ring = ring_of(context, *lane);
  if (is_new) announce(context, *lane, ring, page.pid);
  ThreadFiring firing{context, lane, static_cast<int32_t>(page.pid), tid, saved, 0, false, nullptr, nullptr};
  saved[16] = site->address;
  const auto* firer = reinterpret_cast<const Firer*>(site + 1);
  TailCalls& tails = tails_of(context, *lane);
  bool is_tail = false;
  for (uint32_t i = 0; i < site->firers; i++) {
    if (firer[i].tail == Tail::leaves) {
      lane->full += note_tail(context, tails, firer[i].function, saved[kStackWord]);
      continue;
    }
    is_tail |= firer[i].tail == Tail::returns;
    if (firer[i].tail == Tail::returns && !has_tail(tails, firer[i].function, saved[kStackWord])) continue;
    const VariablesIn where = firer[i].has_variables != 0 ? variables_in(context, page, header) : VariablesIn::thread;
    if (where == VariablesIn::nowhere) continue;
    const bool is_here = firer[i].steps != 0 && where == VariablesIn::thread;
    if (!is_here || !run_at_site(context, *lane, ring, firing, firer[i]))
      write_one(context, *lane, ring, firing, firer[i].programs);
  }
  if (is_in_child(context, firing)) return;
  if (is_tail) forget_tails(tails, saved[kStackWord]);
  give_back(*lane);
}

// Functions that the code of a site calls (site_code.cpp). They keep all registers but their arguments.

extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] void agent_aggregate(const ThreadAggregation* clause, Workspace* workspace,
                                                                   uint64_t value, const Context* context) {
  const auto key_words = static_cast<uint32_t>(workspace->key_words);
  if (aggregate(*clause, *workspace->arena, key_words, value)) return;
  write_update(*context, context->own_pid, *workspace->lane, ring_of(*context, *workspace->lane),
               {.clause = clause->clause, .value = value}, *workspace->arena, key_words);
}

// Appends a string at the address, or the stack of the registers saved there. False: it cannot be read.
extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] bool agent_key(const SiteKey* key, Workspace* workspace, uint64_t address,
                                                             const Context* context, uint64_t stack_pointer) {
  uint64_t* to = workspace->arena->key + workspace->key_words;
  const uint32_t words =
      read_key(*context, workspace->lane, *key, reinterpret_cast<const uint64_t*>(address), address, stack_pointer, to);
  workspace->key_words += words;
  return words != 0;
}

// Appends the last part of a key, as agent_key does, and finds the state of the key.
extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] uint64_t agent_find(const ThreadAggregation* clause, Workspace* workspace,
                                                                  uint64_t address, const Context* context,
                                                                  uint64_t stack_pointer) {
  Arena& arena = *workspace->arena;
  const uint64_t before = workspace->key_words;
  const uint32_t words = read_key(*context, workspace->lane, clause->keys[clause->key_count - 1],
                                  reinterpret_cast<const uint64_t*>(address), address, stack_pointer, arena.key + before);
  if (words == 0) return kUnreadable;
  workspace->key_words = before + words;
  uint64_t* state = find_state(arena, *clause, static_cast<uint32_t>(before) + words);
  return state != nullptr ? reinterpret_cast<uint64_t>(state) : kNoRoom;
}

extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] void agent_time(Workspace* workspace, const Context* context) {
  set_time(*reinterpret_cast<DataHeader*>(context->data), *workspace->lane, workspace->time);
}

// Where a record of so many bytes with its head may be written; 0: the firing is lost.
extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] uint64_t agent_reserve(Workspace* workspace, uint64_t bytes,
                                                                     const Context* context) {
  const uint64_t to = reserve(*context, context->own_pid, *workspace->lane, workspace->ring, bytes, workspace->head);
  if (to == 0) workspace->lane->full++;
  return to;
}

// Of code that a handler has interrupted; 0: it is not dvm's.
extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] uint64_t agent_frame(uint64_t counter, FrameBases* bases, const OwnMemory* own) {
  return find_frame(*own, counter, *bases);
}

#define DVM_UPDATE(name)                                                                                    \
  extern "C" [[gnu::used, DVM_KEEPS_REGISTERS]] void agent_update_##name(uint64_t* state, uint64_t value) { \
    dif::update_##name(dif::IntegerWords{state}, value, uint64_t{1});                                       \
  }
#include "vm/dif/updates.def"

}  // namespace dvm::runtime::inside

#include "runtime/agent/inside/enter.h"
#include "runtime/agent/inside/tail_calls.h"
