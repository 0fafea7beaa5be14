#pragma once
// The memory that dvm adds to a traced process, and its layout. dvm writes it, the code in fire.cpp runs on it inside of the
// process. Only fixed-size fields and addresses of the process; nothing but watched.h is included here.
//
//   code mapping   readable, executable. CodeHeader | fire.cpp | sites, programs, stubs ...
//   armed page     readable, writable, private, wiped in a forked child (MADV_WIPEONFORK): ArmedPage
//   semaphores     behind it, readable, writable, private; a forked child has a copy: Semaphores
//   data mapping   a memfd, shared with dvm, so that it outlives the process. DataHeader | lanes | ThreadVariables of each lane |
//                  a ring for each lane | two arenas for each lane | TailCalls of each lane | ThreadTexts of each lane | Globals
//                  | LoadTurns
//
// In a forked child the armed page is zero, so stubs do nothing. If children are followed, the first stub of the child arms the
// page and stores the child's id; the child uses the lanes of its parent. The process may overwrite the data mapping at any time,
// so dvm reads it by pread(2), uses no address from it, and checks every length.

#include <cstdint>

#include "runtime/agent/inside/watched.h"

namespace dvm::runtime::inside {

inline constexpr uint64_t kCodeMagic = 0x31746e6567616d76;  // "vmagent1"
inline constexpr uint32_t kSavedWords = 21;                 // of struct pt_regs
inline constexpr uint32_t kStackWord = 19;                  // the stack pointer
inline constexpr uint32_t kGuardWord = 20;                  // holds kGuard as long as the firing lasts
inline constexpr uint32_t kGuard = 0x2b;

// The side on which clauses with thread-local variables run, and all clauses of a script that may end at a firing. At first it is
// `nowhere`: these clauses do nothing, as if their probes were off. A firing that ends the run sets it back to this.
enum class VariablesIn : uint16_t { nowhere, thread, dvm };

// How a stub finds and takes the lane of its thread. If the agent is disarmed, it does nothing.
//
// - kAlone   By the thread id in the thread control block, with plain instructions.
//            No other task uses the lane at that time: each thread has its own block, and the parent of a vfork(2) child, which
//            shares the block, does not run. Only signal handlers of the thread can interrupt, and they give the lane back before
//            they return. Before dvm relies on a lane being free, it makes all running threads of the process execute a memory
//            barrier: membarrier(2).
// - kShared  By the same id, with a locked instruction. It is not known whether the above holds.
// - kAsked   By the id that the kernel returns. A task may share the block of another task that runs at the same time, or may
//            have no block.
inline constexpr uint16_t kDisarmed = 0, kAlone = 1, kShared = 2, kAsked = 3;

// The outcome if a thread wanted to unmap the lanes.
inline constexpr uint64_t kLanesUnmapped = 1, kLanesKept = 2;

struct ArmedPage {
  // The code of a site compares both at once.
  uint16_t armed = kDisarmed;
  VariablesIn variables = VariablesIn::nowhere;  // copy of DataHeader::variables

  uint64_t muted = 0;  // the process has restricted its system calls, so stubs make none, which could end it
  uint64_t pid = 0;    // of the process in its PID namespace; 0: a forked child in which no stub has run yet
  uint64_t unused = 0;
  uint64_t leavers = 0;     // threads that have waited until the lanes of the process can be unmapped
  uint64_t lanes_left = 0;  // kLanesUnmapped or kLanesKept, by the first of them
  uint64_t asked = 0;  // kLeaving: the first of them waits until dvm or its guard writes kAbandoned: all code is restored, and
                       // only threads that wait use the lanes
};

// Converts ticks of the TSC to ns of CLOCK_MONOTONIC: the ticks, times 2^kTickBits, are multiplied by the rate, and the upper
// half of the product is added to `begin`.
inline constexpr unsigned kTickBits = 3, kRateBits = 64 - kTickBits;
struct ClockLine {
  uint64_t rate = 0;   // ns per tick, times 2^kRateBits
  uint64_t begin = 0;  // the time of tick 0, which may be negative
};

// At the beginning of the data mapping.
struct DataHeader {
  uint64_t homeless = 0;  // firings lost because no lane was free
  uint64_t muted = 0;     // firings lost because their records need system calls
  // Not 0: a process may have restricted its system calls. Its children then make none, not even to ask for their ids.
  uint64_t restricted = 1;
  uint64_t clock_number = 0;  // grows with each published line; the low byte is the offset of the current one in `clock`
  ClockLine clock[2];
  VariablesIn variables = VariablesIn::nowhere;  // of all processes that have these lanes
  uint64_t leaving = 0;   // kLeaving: a thread that is about to change memory of dvm, or to lock all, waits for restored code
  uint64_t searched = 0;  // TSC at the last search that found no lane of an ended thread
  uint64_t mark = 0;      // different in each data mapping of the process
  // Sets of signals. Threads wait to install handlers for `handled`. No instruction under a jump can raise `unraised`.
  uint64_t handled = 0, unraised = ~uint64_t{0};
  uint64_t becoming = 0;  // the thread that is about to execute a program, and waits until dvm holds it; 0: none
  uint64_t held = 0;      // the thread that dvm holds. Written by dvm
};
inline constexpr uint64_t kLeaving = 1, kAbandoned = 2;
// DataHeader::clock_number of the nth line.
constexpr uint64_t clock_number(uint64_t n) { return n << 8 | n % 2 * sizeof(ClockLine); }
constexpr uint64_t number_of_line(uint64_t clock_number) { return clock_number >> 8; }
static_assert(sizeof(DataHeader) == 128);

struct MemoryRange {
  uint64_t begin = 0, end = 0;
};

// The first aggregations of a script may count without entries in the arena.
inline constexpr uint32_t kPlainCounts = 8;

// The channel of one thread. The thread writes all fields, unless noted otherwise.
struct Lane {
  uint64_t owner = 0;  // id of the thread in its PID namespace; 0: free
  uint64_t turns = 0;  // how often the lane was taken or given back; odd while a firing is written
  uint64_t head = 0;   // bytes written since the beginning

  uint64_t full = 0;    // firings lost because the ring was full
  uint64_t nested = 0;  // firings lost because a signal handler or another thread fired while the lane was taken

  uint64_t asked_pointer = 0, asked_thread = 0;  // stack pointer and thread pointer, if the stack is not known
  uint64_t frame = 0;                            // address of the saved words of the firing that has taken the lane; 0: unknown

  uint64_t tail = 0;   // bytes read. Written by dvm, and by the thread if it leaves the rest of an empty ring unused
  uint64_t arena = 0;  // the arena in use, 0 or 1. dvm writes it too
  uint64_t time = 0;   // of the last firing that needed the time; never decreases
  // The stack of the thread, which ends at its thread pointer. Memory above its stack pointer is not unmapped. Written by dvm.
  MemoryRange stack{};
  uint64_t retiring = 0;  // odd while dvm frees the lane; then no thread may take it over. Written by dvm
  // The thread pointer and the id of a thread whose rseq area is registered, as the kernel has confirmed.
  uint64_t restartable = 0, restartable_thread = 0;
  // Counts without keys, by the number of the clause; one word for each arena. They never decrease, even if the lane changes
  // owner.
  uint64_t counts[kPlainCounts][2]{};
};
static_assert(sizeof(Lane) == 256);

// Thread-local variables of the script, by number. They are as long as a lane, so that all are as far from the lane of their
// thread.
inline constexpr uint32_t kMostVariables = 32;
struct ThreadVariables {
  uint64_t values[kMostVariables]{};
};
static_assert(sizeof(ThreadVariables) == sizeof(Lane));
constexpr uint64_t from_lane_to_variables(uint64_t lanes) { return lanes * sizeof(Lane); }

// Strings of the first of these variables: their characters, the NUL, and zeros. A variable whose value is 0 has no string.
inline constexpr uint32_t kMostTexts = 16;
inline constexpr uint32_t kMostTextBytes = 256;  // of a string, without its NUL
inline constexpr uint32_t kTextWords = kMostTextBytes / 8 + 1;
struct ThreadTexts {
  uint64_t words[kMostTexts][kTextWords]{};
};

// A function that was left by a jump to another one, which will return in its place (tails.h).
struct TailCall {
  uint64_t function = 0;  // address
  uint64_t stack_pointer = 0, return_address = 0;
};
inline constexpr uint64_t kMostTailCalls = 85;  // of a thread, at one time
struct TailCalls {
  uint64_t count = 0;
  TailCall calls[kMostTailCalls]{};
};
static_assert(sizeof(TailCalls) == 2048);

// A ring consists of such heads, each followed by its record, padded to 8 bytes. length 0: the ring is unused up to its end.
struct RecordHead {
  uint64_t length = 0;  // of the record, in bytes
  uint64_t time = 0;    // TSC
};

// The aggregations of a thread. dvm reads and empties an arena while the thread uses the other one. The entries follow this
// header.
inline constexpr uint32_t kArenaBytes = 64 * 1024;
inline constexpr uint32_t kArenaBuckets = 1024;
inline constexpr uint32_t kMostKeyWords = 128;  // of a key
struct Arena {
  uint64_t used = 0;                  // bytes of the entries
  uint64_t key[kMostKeyWords]{};      // of the current firing
  uint32_t buckets[kArenaBuckets]{};  // 1 + the offset of an entry; 0: free
};

// An entry. The words of its key follow, then those of its state.
struct ArenaEntry {
  uint32_t clause = 0;
  uint32_t words = 0;  // of the state
  uint32_t key_words = 0;
  uint32_t reserved = 0;
};

// A key that the thread computes. An integer is one word. A string is its characters, its NUL, and zeros up to a whole word. A
// stack is the process id, program counters, and 0. A text is the string of a thread-local variable. Keys that are constant at a
// site are left out.
enum class KeyKind : uint32_t { integer, string, name, stack, text };
struct SiteKey {
  uint64_t code = 0;  // of the value, or of the address of the string
  KeyKind kind = KeyKind::integer;
  uint32_t most = 0;       // the most characters or frames; the rest is cut
  int32_t return_at = -1;  // of a stack: offset of the return address from the stack pointer; -1: the function has a frame
  uint32_t variable = 0;   // of a text: number of the variable
};

// Global variables of the script, by number, as 64-bit integers. A variable that threads change is the sum of two words, so that
// dvm and the threads may change it at the same time.
inline constexpr uint32_t kMostGlobals = 512;
struct Globals {
  uint64_t values[kMostGlobals]{};   // dvm writes these, threads only read them
  uint64_t changes[kMostGlobals]{};  // threads write these
};

// Offsets in the data mapping of the first ThreadVariables, ring, arena, TailCalls and ThreadTexts, of Globals and of LoadTurns;
// then the size of the mapping.
constexpr uint64_t variables_at(uint64_t lanes) { return sizeof(DataHeader) + from_lane_to_variables(lanes); }
constexpr uint64_t rings_at(uint64_t lanes) { return variables_at(lanes) + lanes * sizeof(ThreadVariables); }
constexpr uint64_t arenas_at(uint64_t lanes, uint64_t ring_bytes) { return rings_at(lanes) + lanes * ring_bytes; }
constexpr uint64_t tails_at(uint64_t lanes, uint64_t ring_bytes) {
  return arenas_at(lanes, ring_bytes) + lanes * 2 * uint64_t{kArenaBytes};
}
constexpr uint64_t texts_at(uint64_t lanes, uint64_t ring_bytes) {
  return tails_at(lanes, ring_bytes) + lanes * sizeof(TailCalls);
}
constexpr uint64_t globals_at(uint64_t lanes, uint64_t ring_bytes) {
  return texts_at(lanes, ring_bytes) + lanes * sizeof(ThreadTexts);
}
constexpr uint64_t loads_at(uint64_t lanes, uint64_t ring_bytes) { return globals_at(lanes, ring_bytes) + sizeof(Globals); }
constexpr uint64_t data_bytes(uint64_t lanes, uint64_t ring_bytes) { return loads_at(lanes, ring_bytes) + sizeof(LoadTurns); }

// The data for the code of a clause, besides the saved registers. `lane` and the following fields are for functions of fire.cpp.
inline constexpr uint32_t kMostLocals = 16;
struct Workspace {
  uint64_t pid;
  uint64_t tid;
  uint64_t time;                 // of the firing; set by the step `time`
  uint64_t* variables;           // of the thread
  uint64_t failed;               // not 0: a value cannot be computed in the thread
  uint64_t unreadable;           // address of a string that cannot be read; 0: none
  uint64_t locals[kMostLocals];  // clause-local variables
  Lane* lane;
  Arena* arena;
  uint64_t key_words;  // of the key in the arena
  uint64_t ring;       // address of the lane's ring
  uint64_t state;      // address of the state of the key
  uint64_t head;       // of the ring, while a record is written
  TailCalls* tails;
  uint64_t side;     // number of the arena
  uint64_t changes;  // word of Globals::changes that the code is about to change, as it was read
  uint64_t aside;    // word of Globals::values of the same variable; then the content of a register

  // The global variable that several steps use as one atomic step: its value before the firing changes it, and now.
  uint64_t earlier, seen;
  uint64_t again;    // not 0: another thread has changed it meanwhile, so this firing has not
  uint64_t seen_at;  // TSC of the step `see`, if records have it
};

// The addresses of the RecordProgram that makes a record, and of one for longer strings and copies; 0: there is none.
struct RecordPrograms {
  uint64_t cookie = 0, program = 0;
  uint64_t larger_cookie = 0, larger_program = 0;
};

struct RecordStep {
  enum class Kind : uint8_t { constant, vtime, thread, name, saved, xmm, kept, keep, memory, stack, chain, frames, slot, answer };
  Kind kind = Kind::constant;
  uint8_t base = 0, index = 0, scale = 1;  // of memory: words of struct pt_regs, or 0xff; base of xmm: its number
  // Of a value: bytes, and position of the lowest bit. Size is, of a slot, bytes beyond those that the word `by` says.
  uint8_t size = 8, shift = 0;
  uint8_t is_signed = 0, is_string = 0;
  uint32_t at = 0;  // offset in the record
  // Offset in the record. For a slot: of the word with its address; for `keep`: of the word; for a chain: of the stack's bytes.
  uint32_t from = 0;
  uint32_t by = 0;    // of a slot: offset in the record of the word with its size; 0: none
  uint32_t most = 0;  // of a slot or stack: the most bytes; of a chain or frames: their largest number

  // constant: its value. answer: the number of the system call, without arguments, that returns it.
  // memory: the displacement. keep: the number to add.
  // stack, chain: the offset in the record of the length of the stack. frames: SiteKey::return_at.
  int64_t value = 0;
};
static_assert(sizeof(RecordStep) == 32);

// A program that makes a record. Its steps follow.
struct RecordProgram {
  uint32_t steps = 0;
  uint32_t most = 0;         // bytes of the longest record
  uint32_t cut_at = 0;       // offset of the last slot, at whose end the record may end; 0: all records have `most` bytes
  uint32_t makes_calls = 0;  // it makes system calls
};

// A return probe of a function that leaves by jumps has sites at these jumps, and at the `ret` instructions of the functions that
// they lead to:
//
//   leaves   A jump. It only notes that the function is left.
//   returns  A `ret` in a target of a jump. The probe fires if the function was left and this is its return.
enum class Tail : uint32_t { nothing, leaves, returns };

// One probe at a site.
struct Firer {
  RecordPrograms programs;
  uint64_t steps = 0;  // the address of ClauseSteps; 0: a record is written for each firing
  uint32_t step_count = 0;
  uint16_t locals = 0;         // number of clause-local variables that the steps use
  uint16_t has_variables = 0;  // the steps use thread-local variables
  uint64_t function = 0;       // of a tail: address of the function that is left
  Tail tail = Tail::nothing;
  uint32_t reserved = 0;
};

// The data that all sites of a process share.
struct Context {
  uint64_t armed = 0;          // the address of the armed page
  uint64_t data = 0;           // of the data mapping
  uint64_t variables = 0;      // of the first table of variables
  uint64_t tails = 0;          // of the first TailCalls
  uint64_t lane = 0;           // of the first Lane
  int32_t pid = 0;             // as dvm knows it
  uint32_t thread_offset = 0;  // offset of the thread id from the thread pointer; 0: not known
  uint32_t lanes = 0;          // a power of two
  uint32_t ring_bytes = 0;     // of each lane, a power of two
  uint64_t follows = 0;        // forked children fire as well
  uint64_t lasting = 0;        // the address of LastingMemory
  uint64_t own = 0;            // of OwnMemory
  uint64_t own_pid = 0;        // in the PID namespace of the process, which may be below dvm's
  uint64_t rseq = 0;           // offset of a thread's rseq area from its thread pointer
  uint64_t rseq_bytes = 0;     // size of the area, as it was registered
  uint64_t restart = 0;        // the address of the descriptor of the sequence that reads steady memory; 0: there is none
};

// Memory that may be read by plain loads, because it stays mapped as long as the process runs. Its ranges follow.
struct LastingMemory {
  MemoryRange stack{};  // of the first thread; memory above its stack pointer stays mapped while it runs on this stack
  uint64_t ranges = 0;
};

// The memory that dvm has added to the process, and code of files in which jumps lie. It follows the CodeHeader of its first code
// mapping.
inline constexpr uint64_t kMostOwn = 150, kMostCode = 48, kOwnAt = 128;
struct OwnMemory {
  uint64_t count = 0;
  MemoryRange ranges[kMostOwn]{};
  uint64_t code_count = 0;
  MemoryRange code[kMostCode]{};
};

// Memory of files that instructions under jumps address. It follows OwnMemory. kFileDataSignal stands for it in DataHeader.
inline constexpr uint64_t kMostWatched = 40;
inline constexpr uint64_t kFileDataSignal = uint64_t{1} << 63;
struct WatchedMemory {
  uint64_t count = 0;
  MemoryRange ranges[kMostWatched]{};
};

// A semaphore that dvm has raised, for one site. It is lowered only if the jump of the site is still in the code. Otherwise the
// file is no longer mapped, and the memory may belong to another one.
enum class SemaphoreState : uint32_t { off, raising, raised, wanted, lowering };  // wanted: is to be lowered
struct Semaphore {
  uint64_t counter = 0;   // address of the semaphore, of 16 bits
  uint64_t jump = 0;      // of the jump
  uint32_t distance = 0;  // the bytes behind the opcode of the jump
  SemaphoreState state = SemaphoreState::off;
  uint64_t distance_bytes = 0;
};
inline constexpr uint8_t kShortJump = 0xeb;  // has a distance of one byte
inline constexpr uint64_t kSemaphoreBytes = 64 * 4096;
inline constexpr uint64_t kMostSemaphores = kSemaphoreBytes / sizeof(Semaphore) - 1;
struct Semaphores {
  uint64_t count = 0, reserved[3]{};
  Semaphore all[kMostSemaphores]{};
};
constexpr uint64_t semaphores_at(uint64_t armed_page) { return armed_page + 4096; }
static_assert(sizeof(Semaphore) == 32 && sizeof(Semaphores) <= kSemaphoreBytes);

// The unwind information of a code mapping: pieces of code, ascending, and the FDE of each. Offsets are from its beginning.
struct FrameEntry {
  uint32_t begin = 0, end = 0, fde = 0;
};
// Its entries follow.
struct FrameTable {
  uint64_t count = 0;
};

// The place of a site beside a system call that may take away steady memory (steady.h).
//
//   begins           The instruction that sets %rax, before the call. All arguments are set.
//   begins_function  The beginning of a watched function that makes the call.
//   ends             Behind the call.
//   starts, started  Before and behind a call that may start a task with the memory and the thread pointer of its thread.
enum class Taking : uint32_t { nothing, begins, begins_function, ends, starts, started };

// A stub passes this to agent_enter. Its firers follow.
struct Site {
  Context context;
  uint64_t address = 0;  // of the instruction that is probed
  uint64_t jump = 0;     // of the jump that leads to the stub
  uint32_t firers = 0;
  Watch watch = Watch::nothing;
  uint64_t counted = 0;  // firings that are lost if the lane cannot be taken; of a tail call, only the jump counts
  Taking taking = Taking::nothing;
  uint32_t number = 0;  // of the system call that begins here
};

// Offsets of the functions in the code of fire.cpp, at the beginning of that code. The functions preserve all registers except
// %rax; agent_enter preserves all except %rdi.
inline constexpr uint32_t kUpdateFunctions = 6;
inline constexpr uint64_t kUnreadable = 0, kNoRoom = 1;  // results of agent_find instead of an address
struct CodeEntries {
  uint64_t enter = 0, aggregate = 0, key = 0, find = 0, time = 0, reserve = 0, steady = 0, leave = 0, returns = 0, forget = 0;
  uint64_t frame = 0, frames_begin = 0, frames_end = 0;  // the .eh_frame section of this code
  uint64_t steady_begin = 0, steady_end = 0, steady_abort = 0;
  uint64_t updates[kUpdateFunctions]{};  // by the rows of updates.def
};

// At the beginning of a code mapping.
struct CodeHeader {
  uint64_t magic = kCodeMagic;
  uint64_t armed = 0;         // address of the armed word
  int32_t pid = 0;            // the traced process, not a child that it has forked
  int32_t tracer = 0;         // the process that traces
  uint64_t patches = 0;       // 0: the patches were taken off
  uint64_t tracer_began = 0;  // start time of the tracer, in the kernel's ticks

  uint64_t table = 0;       // address of the patches
  uint64_t table_size = 0;  // number of entries; it does not change

  uint64_t bytes = 0;  // of the code mapping; 0: written by a version that does not unmap
  uint64_t data = 0;   // the address of the data mapping
  uint64_t data_bytes = 0;
  uint32_t lanes = 0;
  uint32_t tracer_space = 0;  // number of the tracer's PID namespace; 0: not known
  uint64_t frames = 0;        // the address of the FrameTable; 0: there is none
  uint64_t semaphores = 0;    // the address of Semaphores; 0: there is none
};

// relay: comes after all patches that jump to it. unwinder: is restored last, once no thread is interrupted in code of the agent.
enum class PatchKind : uint8_t { site, relay, unwinder };

// A replaced instruction sequence. `before` is restored only if the code has the bytes `after`.
struct Patch {
  uint64_t address = 0;
  uint8_t before[7]{}, length = 5;
  uint8_t after[7]{};
  PatchKind kind = PatchKind::site;
};

}  // namespace dvm::runtime::inside
