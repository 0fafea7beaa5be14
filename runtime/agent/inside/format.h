#pragma once
// The memory that dvm adds to a traced process, and its layout. dvm writes it, the code in fire.cpp runs on it inside of the
// process. Only fixed-size fields and addresses of the process; nothing else is included here.
//
//   code mapping   readable, executable. CodeHeader | fire.cpp | sites, programs, stubs ...
//   armed page     readable, writable, private, wiped in a forked child (MADV_WIPEONFORK): ArmedPage
//   data mapping   a memfd, shared with dvm, so that it outlives the process. DataHeader | lanes | a ring for each lane | two
//                  arenas for each lane | a table of thread-local variables for each lane | TailCalls of each lane | Globals
//
// A forked child finds the armed page zero, so its stubs do nothing; or, where children are followed, the first of them arms the
// page and says who the child is. It uses the lanes of its parent's process. Everything in the data mapping may be overwritten by
// the process at any time: dvm reads it by pread(2), takes no address from it, and no length without a check.

#include <cstdint>

namespace dvm::runtime::inside {

inline constexpr uint64_t kCodeMagic = 0x31746e6567616d76;  // "vmagent1"
inline constexpr uint32_t kSavedWords = 21;                 // of struct pt_regs
inline constexpr uint32_t kStackWord = 19;                  // of these the stack pointer
inline constexpr uint32_t kGuardWord = 20;                  // of these the one that has this value as long as the firing lasts
inline constexpr uint32_t kGuard = 0x2b;

// The side on which clauses with thread-local variables run, and all clauses of a script that ends at a firing; at first none:
// they do nothing, as if their probes were not on. A firing that ends the run makes that so again.
enum class VariablesIn : uint64_t { nowhere, thread, dvm };

// A stub does nothing, or finds and takes the lane of its thread:
//
// - kAlone   By the number in the thread control block, and by plain instructions. No other task uses the lane meanwhile: each
//            thread has a block of its own, and the parent of a child by vfork(2), which has the same, does not run. Only signal
//            handlers of the thread come in between, and what they take they give back first. Before dvm trusts that a lane is
//            free, it lets all running threads of the process go through a memory barrier: membarrier(2).
// - kShared  By the same number, and by a locked instruction. It is not known whether the above holds.
// - kAsked   By the number that the kernel tells. A task was started that has the block of another one, and runs beside it; or
//            one may have no block.
inline constexpr uint64_t kDisarmed = 0, kAlone = 1, kShared = 2, kAsked = 3;

struct ArmedPage {
  uint64_t armed = kDisarmed;
  uint64_t muted = 0;  // the process has restricted its system calls: a stub makes none, which could end it
  uint64_t pid = 0;    // whose page it is; 0: of a forked child that no stub has seen yet
  VariablesIn variables = VariablesIn::nowhere;  // that of the header, once it says so
};

// From ticks of the TSC to ns of CLOCK_MONOTONIC: the ticks, times 2^kTickBits, are multiplied by the rate. The upper half of the
// product is added to the beginning.
inline constexpr unsigned kTickBits = 3, kRateBits = 64 - kTickBits;
struct ClockLine {
  uint64_t rate = 0;   // ns a tick, times 2^kRateBits
  uint64_t begin = 0;  // the time of tick 0, which may be negative
};

// At the begin of the data mapping.
struct DataHeader {
  uint64_t homeless = 0;  // firings lost since no lane was free
  uint64_t muted = 0;     // firings lost since their records need system calls
  uint64_t restricted =
      1;  // a process may have restricted its system calls: its children make none, not even to say who they are
  uint64_t clock_number = 0;  // kLineStep for each line that dvm has published; that bit says which one is in use
  ClockLine clock[2];
  VariablesIn variables = VariablesIn::nowhere;  // of all processes that have these lanes
  uint64_t leaving = 0;   // a thread waits until the code is restored, since it is about to take away memory of dvm's
  uint64_t searched = 0;  // when the TSC was so, no lane of a thread that is gone was found
  uint64_t mark = 0;      // a number that no other data mapping of the process has
  // Signals, a bit each: those that threads are about to handle, and wait until they are among those that no instruction under a
  // jump can raise.
  uint64_t handled = 0, unraised = ~uint64_t{0};
  uint64_t becoming = 0;  // the thread that is about to execute a program, and waits until dvm holds it; 0: none
  uint64_t held = 0;      // the thread that dvm holds. dvm writes this
};
inline constexpr uint64_t kLineStep = sizeof(ClockLine) / sizeof(uint64_t);
static_assert(sizeof(DataHeader) == 128);

struct MemoryRange {
  uint64_t begin = 0, end = 0;
};

// Clauses that may count without entries in the arena: the first ones.
inline constexpr uint32_t kPlainCounts = 8;

// The channel of one thread. The thread writes all but `tail` and `stack`, which dvm writes.
struct Lane {
  uint64_t owner = 0;   // the thread's number; 0: free
  uint64_t turns = 0;   // times that it was taken, and given back: it is odd while a firing is written
  uint64_t head = 0;    // bytes written since the beginning
  uint64_t full = 0;    // firings lost since the ring was full
  uint64_t nested = 0;  // firings lost since a signal handler or another thread fired while the lane was taken
  uint64_t asked_pointer = 0, asked_thread = 0;  // its stack pointer and its thread pointer, where its stack is not known
  uint64_t frame = 0;                            // the address of the saved words of the firing that has taken it; 0: not known
  uint64_t tail = 0;                             // bytes read
  uint64_t arena = 0;                            // the one that the thread aggregates in: 0 or 1. dvm writes this too
  uint64_t time = 0;                             // of the last firing that has asked for it: the next one is not earlier
  MemoryRange stack{};    // of the thread whose thread pointer is its end; what is above its stack pointer lasts
  uint64_t retiring = 0;  // odd while dvm frees the lane; no thread takes it over then. dvm writes this
  uint64_t padding[2]{};
  // Counts without keys, by the numbers of their clauses: one word for each arena. They only grow, whoever has the lane.
  uint64_t counts[kPlainCounts][2]{};
};
static_assert(sizeof(Lane) == 256);

// Thread-local variables of the script, by their numbers.
inline constexpr uint32_t kMostVariables = 64;
struct ThreadVariables {
  uint64_t values[kMostVariables]{};
};

// A function that was left by a jump to another one, which is to return for it (inside/tails.h).
struct TailCall {
  uint64_t function = 0;  // its address
  uint64_t stack_pointer = 0, return_address = 0;
};
inline constexpr uint64_t kMostTailCalls = 85;  // of a thread, at once
struct TailCalls {
  uint64_t count = 0;
  TailCall calls[kMostTailCalls]{};
};
static_assert(sizeof(TailCalls) == 2048);

// In a ring: this, then the record, padded to 8 bytes. length 0: the rest of the ring up to its end is unused.
struct RecordHead {
  uint64_t length = 0;  // of the record
  uint64_t time = 0;    // of the TSC
};

// What a thread has aggregated. dvm reads an arena, and empties it, while the thread uses the other one. Entries follow, each
// with the words of its state.
inline constexpr uint32_t kArenaBytes = 64 * 1024;
inline constexpr uint32_t kArenaBuckets = 1024;
inline constexpr uint32_t kMostKeyWords = 128;  // of a key
struct Arena {
  uint64_t used = 0;                  // bytes of the entries
  uint64_t key[kMostKeyWords]{};      // of the firing at hand
  uint32_t buckets[kArenaBuckets]{};  // 1 + the position of an entry among these bytes; 0: free
};

// The words of its key follow, then those of its state.
struct ArenaEntry {
  uint32_t clause = 0;
  uint32_t words = 0;  // of the state
  uint32_t key_words = 0;
  uint32_t reserved = 0;
};

// A key that the thread has to find out. An integer is a word; a string is words with its characters, its NUL, and zeros; a
// stack is the number of the process, program counters, and 0. Keys that are constant at a site are not among those of a thread.
enum class KeyKind : uint32_t { integer, string, name, stack };
struct SiteKey {
  uint64_t code = 0;  // of the value, or of the address of the string
  KeyKind kind = KeyKind::integer;
  uint32_t most = 0;       // characters of the string, frames of the stack; more are cut
  int32_t return_at = -1;  // of a stack: where the return address lies, from the stack pointer on; -1: the function has a frame
  uint32_t reserved = 0;
};

// Global variables of the script, by their numbers, as integers of 64 bits. dvm writes them, threads only read them.
inline constexpr uint32_t kMostGlobals = 512;
struct Globals {
  uint64_t values[kMostGlobals]{};
};

// Offsets in the data mapping of the first arena, of the first table of variables, of the first TailCalls, and of Globals; and
// its size.
constexpr uint64_t arenas_at(uint64_t lanes, uint64_t ring_bytes) {
  return sizeof(DataHeader) + lanes * (sizeof(Lane) + ring_bytes);
}
constexpr uint64_t variables_at(uint64_t lanes, uint64_t ring_bytes) {
  return arenas_at(lanes, ring_bytes) + lanes * 2 * uint64_t{kArenaBytes};
}
constexpr uint64_t tails_at(uint64_t lanes, uint64_t ring_bytes) {
  return variables_at(lanes, ring_bytes) + lanes * sizeof(ThreadVariables);
}
constexpr uint64_t globals_at(uint64_t lanes, uint64_t ring_bytes) {
  return tails_at(lanes, ring_bytes) + lanes * sizeof(TailCalls);
}
constexpr uint64_t data_bytes(uint64_t lanes, uint64_t ring_bytes) { return globals_at(lanes, ring_bytes) + sizeof(Globals); }

// What the code of a clause sees, beside the saved registers; the lane and what follows is for functions of fire.cpp.
inline constexpr uint32_t kMostLocals = 16;
struct Workspace {
  uint64_t pid;
  uint64_t tid;
  uint64_t time;                 // of the firing, once a step has asked for it
  uint64_t* variables;           // of the thread
  uint64_t failed;               // not 0: a value cannot be computed there, so dvm shall run the clauses
  uint64_t locals[kMostLocals];  // clause-local variables
  Lane* lane;
  Arena* arena;
  uint64_t key_words;  // of the key in the arena
  uint64_t ring;       // the address of that of the lane
  uint64_t state;      // the address of that of the key
  uint64_t head;       // of the ring, where a record is written
  TailCalls* tails;    // of the lane
  uint64_t side;       // the number of the arena
};

// Constants of lquantize(): base, limit, step; of llquantize(): factor, low, high, steps.
struct UpdateShape {
  int64_t parameters[4]{};
  uint64_t words = 0;  // of the state of a key

  bool operator==(const UpdateShape&) const = default;
};

// An aggregation in the thread: `@[keys] = function(value)`. Its DIF is machine code at these addresses, 0 where it has none:
// a function of the saved registers and the Workspace.
inline constexpr uint32_t kMostKeys = 8;
struct ThreadAggregation {
  uint64_t value = 0;
  SiteKey keys[kMostKeys]{};
  uint32_t key_count = 0;
  uint32_t clause = 0;    // its number, as dvm knows it
  uint32_t function = 0;  // a SiteFunction
  uint32_t words = 0;     // of the state of a key
  uint64_t initial = 0;   // of each word
  UpdateShape shape{};
};

// What the clauses of a probe do in the thread, one step after another. record: dvm shall run all clauses; clause_record: the
// actions of this one.
struct ClauseStep {
  enum class Kind : uint32_t { predicate, evaluate, aggregate, time, record, clause_record };
  Kind kind = Kind::predicate;
  uint32_t skip = 0;     // of a predicate that is false: steps of the clause, which are left out
  uint64_t address = 0;  // of the code; of a ThreadAggregation; of a ClauseRecord
};

// How a record is made: a RecordProgram, and one for longer strings and copies. Addresses; 0: there is none.
struct RecordPrograms {
  uint64_t cookie = 0, program = 0;
  uint64_t larger_cookie = 0, larger_program = 0;
};

// Begins a record by which dvm runs the actions of one clause. Values follow, then the record itself.
inline constexpr uint32_t kClauseMark = ~uint32_t{0} - 1;
struct ClauseRecordHead {
  uint32_t number = 0;  // of the ClauseRecord, as dvm knows it
  uint32_t mark = kClauseMark;
};
struct ClauseRecord {
  RecordPrograms programs;
  uint32_t number = 0;
  uint32_t count = 0;     // of values
  uint64_t ends_run = 0;  // the clause calls exit(): no thread fires any more
  // Which ones: the numbers of thread-local variables, those of clause-local variables behind kMostVariables, and kTimeValue.
  uint8_t values[kMostVariables + kMostLocals + 8]{};
};
inline constexpr uint8_t kTimeValue = kMostVariables + kMostLocals;

// Begins a record that holds one value to be aggregated, since the arena had no room for its keys. No cookie is like it.
// The words of the key follow.
inline constexpr uint32_t kUpdateMark = ~uint32_t{0};
struct UpdateRecord {
  uint32_t clause = 0;
  uint32_t mark = kUpdateMark;
  uint64_t value = 0;
};

struct RecordStep {
  enum class Kind : uint8_t { constant, time_of_thread, thread, name, saved, memory, stack, chain, frames, slot, answer };
  Kind kind = Kind::constant;
  uint8_t base = 0, index = 0, scale = 1;  // of memory: words of struct pt_regs, or 0xff
  uint8_t size = 8, shift = 0;             // of saved, memory: bytes, and bits up
  uint8_t is_signed = 0, is_string = 0;
  uint32_t at = 0;    // in the record
  uint32_t from = 0;  // of a slot: where the word lies in the record that its address starts from; of a chain: the stack's bytes
  uint32_t by = 0;    // of a slot: where the word lies that gives its size; 0: none
  uint32_t most = 0;  // of a slot, a stack: bytes; of a chain, frames: how many
  // The constant; of an answer: the number of a system call without arguments, which gives it; the distance of memory; of a
  // stack, a chain: where in the record the stack's length lies; of frames: return_at as in SiteKey.
  int64_t value = 0;
};
static_assert(sizeof(RecordStep) == 32);

// How a record is made. Its steps follow.
struct RecordProgram {
  uint32_t steps = 0;
  uint32_t most = 0;         // bytes of the longest record
  uint32_t cut_at = 0;       // of a record that may end with its last slot: where that lies; 0: all have `most` bytes
  uint32_t makes_calls = 0;  // system calls
};

// A function that leaves by jumps to others has a return probe at all of them: what a firing of it does.
//
//   leaves   at the jump: notes that the function is left
//   returns  at a `ret` behind a jump: the probe fires if the function was left and its return address is at hand
enum class Tail : uint32_t { nothing, leaves, returns };

// One probe at a site.
struct Firer {
  RecordPrograms programs;
  uint64_t steps = 0;  // the address of ClauseSteps; 0: a record is written for each firing
  uint32_t step_count = 0;
  uint16_t locals = 0;         // clause-local variables that the steps use: the first ones
  uint16_t has_variables = 0;  // the steps use thread-local variables
  uint64_t function = 0;       // of a tail: its address
  Tail tail = Tail::nothing;
  uint32_t reserved = 0;
};

// What all sites of a process have in common.
struct Context {
  uint64_t armed = 0;      // the address of the armed page
  uint64_t data = 0;       // of the data mapping
  uint64_t variables = 0;  // of the first table of variables
  uint64_t tails = 0;      // of the first TailCalls
  uint64_t lane = 0;       // of the first Lane
  int32_t pid = 0;
  uint32_t thread_offset = 0;  // of the thread's number from its thread pointer; 0: not known
  uint32_t lanes = 0;          // a power of two
  uint32_t ring_bytes = 0;     // of each lane, a power of two
  uint64_t follows = 0;        // forked children fire as well
  uint64_t lasting = 0;        // the address of LastingMemory
  uint64_t own = 0;            // of OwnMemory
};

// Memory that may be read by a plain load, since nothing takes it away while the process runs. Its ranges follow.
struct LastingMemory {
  MemoryRange stack{};  // of the first thread; what is above its stack pointer lasts as long as that lies there
  uint64_t ranges = 0;
};

// What dvm has added to the process: behind the CodeHeader of its first code mapping.
inline constexpr uint64_t kMostOwn = 200, kOwnAt = 128;
struct OwnMemory {
  uint64_t count = 0;
  MemoryRange ranges[kMostOwn]{};
};

// Behind that: memory of files that instructions under jumps address. The signal that stands for it in DataHeader.
inline constexpr uint64_t kMostWatched = 40;
inline constexpr uint64_t kFileDataSignal = uint64_t{1} << 63;
struct WatchedMemory {
  uint64_t count = 0;
  MemoryRange ranges[kMostWatched]{};
};

// Unwind information of a code mapping, whose addresses count from its begin: code, ascending, and the FDE of each piece.
struct FrameEntry {
  uint32_t begin = 0, end = 0, fde = 0;
};
// Its entries follow.
struct FrameTable {
  uint64_t count = 0;
};

// A function of the C library by which a process may restrict its system calls, start a task that shares a thread's lane, change
// the thread pointer, take away memory of dvm's, or execute another program (exec). fork: the place where a forked child begins.
// unwind: that of libgcc which finds unwind information. sigaction: a handler may come to see the address of an instruction
// under a jump.
enum class Watch : uint32_t {
  nothing,
  prctl,
  syscall,
  clone,
  arch_prctl,
  exec,
  fork,
  unwind,
  sigaction,
  mmap,
  mprotect,
  munmap,
  mremap,
  madvise
};

// A stub hands this over. Its firers follow.
struct Site {
  Context context;
  uint64_t address = 0;  // of the instruction that is probed
  uint64_t jump = 0;     // of the jump that leads here
  uint32_t firers = 0;
  Watch watch = Watch::nothing;
  uint64_t counted = 0;  // firers that count as lost if the lane cannot be taken: of a function that was left, the jump does
};

// At the begin of fire.cpp as dvm has it: where its functions lie from there on. They keep all registers but %rax, except
// agent_enter, which keeps all but %rdi.
inline constexpr uint32_t kUpdateFunctions = 6;
inline constexpr uint64_t kUnreadable = 0, kNoRoom = 1;  // in place of the state that agent_find has found
struct CodeEntries {
  uint64_t enter = 0, aggregate = 0, key = 0, find = 0, time = 0, reserve = 0, leave = 0, returns = 0, forget = 0;
  uint64_t frame = 0, frames_begin = 0, frames_end = 0;  // the .eh_frame section of this code
  uint64_t updates[kUpdateFunctions]{};                  // by the rows of updates.def
};

// At the begin of a code mapping.
struct CodeHeader {
  uint64_t magic = kCodeMagic;
  uint64_t armed = 0;         // the address of the armed word
  int32_t pid = 0;            // the process that is traced, not a child that it has forked
  int32_t tracer = 0;         // the process that traces
  uint64_t patches = 0;       // 0: they were taken off
  uint64_t tracer_began = 0;  // when that was started, as the kernel counts
  uint64_t table = 0;         // the address of the patches
  uint64_t table_size = 0;    // as long as the mapping lasts
  uint64_t bytes = 0;         // of the code mapping; 0: written by a dvm that unmapped nothing
  uint64_t data = 0;          // the address of the data mapping
  uint64_t data_bytes = 0;
  uint32_t lanes = 0;
  uint32_t reserved = 0;
  uint64_t frames = 0;  // the address of the FrameTable; 0: there is none
};

// relay: comes after all patches that jump to it. unwinder: is put back when nothing of the agent's code is interrupted any more.
enum class PatchKind : uint8_t { site, relay, unwinder };

// A replaced instruction sequence. `before` is put back as long as `after` is there.
struct Patch {
  uint64_t address = 0;
  uint8_t before[7]{}, length = 5;
  uint8_t after[7]{};
  PatchKind kind = PatchKind::site;
};

}  // namespace dvm::runtime::inside
