#pragma once
// What must be captured at the moment of firing, worked out from the DIF of the clauses on a probe: which arguments they read and
// which memory of the traced process they will load or copy. The instrument captures exactly that, so a record is as small as the
// clauses allow.
//
// An address is foreseen if it is a word that is known when the probe fires, plus a constant. Such a word is an argument or was
// itself loaded from memory at a foreseen address, by way of at most kMostPointers words; the address of a variable of the
// program is known altogether, and starts from no word, or 0:
//
//   copyinstr(arg0), stringof((char *)arg0)              arg0 ──────────────────────────> string
//   ((struct list *)arg0)->next->key                     arg0 ─ + 8 ─> word ─ + 0 ──────> bytes
//   copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8))         arg1 ─ + 8 ─> word ────────────> string
//   `counter, stringof(`title)                           0 ─ + its address ─> bytes, or word ─> string
//   copyin(((struct iovec *)copyin(arg1, 16))->iov_base, arg1 ─ + 0 ─> word ────────────> bytes, at most
//          ((struct iovec *)copyin(arg1, 16))->iov_len)  arg1 ─ + 8 ─> word, so many of them
//
// A size is a constant or such a word: then as many bytes are captured as the word says, but no more than kMostBytes, or than the
// constant c in `n < c ? n : c`. A string is captured up to kMostBytes, however large strsize is. The captured part of a
// larger copy, or of a string without its NUL, is never taken for the whole: the VM then asks for all of it. That, and what
// could not be foreseen (an address that was computed otherwise, further pointers, more than a record may hold), is a late read.
//
// Members of one object that lie near each other are one need. Where a word lies in memory, CaptureNeeds::memory has a need that
// covers it, so every address can be told from the record alone. Nothing here must be right for a clause to be: captured memory
// is found by its address, so a wrong guess is merely of no use.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::runtime {

inline constexpr unsigned kMostPointers = 4;
inline constexpr uint16_t kGoroutineBit = 1 << 10;  // of CaptureNeeds::args
inline constexpr uint16_t kMostFrames = 127;        // the kernel walks no further
inline constexpr uint16_t kKnownFrames = 2;         // at the entry or return of a function the first ones, known without a walk
inline constexpr uint32_t kWhereNeeded = UINT32_MAX;
inline constexpr uint32_t kUsualStackBytes = 4096;
inline constexpr uint32_t kMostBytes = 4096;    // of a string, or of a copy whose size is a word
inline constexpr uint32_t kMostFixed = 16384;   // of a copy whose size is a constant
inline constexpr uint32_t kMostRecord = 16500;  // of all that a record captures

// A 64-bit word that is known when the probe fires: argument `arg` of the probe, or 0; or, `depth` times over, the word in memory
// path[i] bytes after where the one before points to.
struct Word {
  static constexpr uint8_t kZero = 0xff;  // as `arg`

  uint8_t arg = 0;
  uint8_t depth = 0;
  std::array<int64_t, kMostPointers> path{};

  Word(uint8_t argument = 0) : arg(argument) {}  // not explicit: an argument is the usual word
  static Word zero() { return kZero; }
  bool is_argument() const { return depth == 0; }  // or 0
  bool starts_from_zero() const { return arg == kZero; }
  // Of a word in memory: the word that points there, and how far from there it lies.
  Word pointer() const;
  int64_t offset() const { return path[depth - 1u]; }
  // The word in memory at this one plus offset. Only where depth < kMostPointers.
  Word load(int64_t offset) const;
  friend bool operator==(const Word&, const Word&) = default;
};

// Memory at the address base + offset.
struct MemoryNeed {
  Word base;
  bool is_string = false;
  int64_t offset = 0;
  uint32_t size = 0;                  // the most bytes; of a string with its NUL
  std::optional<Word> sized_by = {};  // not more than this word says, either

  // The need that captures a word in memory.
  static MemoryNeed of(const Word& word) { return {word.pointer(), false, word.offset(), 8, {}}; }
  // Whether all that the other would capture is captured by this one.
  bool covers(const MemoryNeed& other) const;
  friend bool operator==(const MemoryNeed&, const MemoryNeed&) = default;
};

struct CaptureNeeds {
  uint16_t args = 0;  // bit n: argN is read; kGoroutineBit: goid
  bool time = false;  // timestamp, walltimestamp
  bool vtime = false;
  bool thread = false;  // pid or tid, or thread-local variables
  bool cpu = false;     // the cpu variable, or anything that is kept in the buffers of a CPU
  bool comm = false;    // execname
  bool error = false;   // errno
  std::vector<MemoryNeed> memory;
  uint16_t frames = 0;     // of the user stack, at most kMostFrames
  uint32_t registers = 0;  // bit n: word n of struct pt_regs (dvm/dif/registers.def)
  // Bytes of the stack itself, to unwind code without frame pointers; 0: frames are found by frame pointers. kWhereNeeded: the
  // usual number, if some code that may be on the stack has none.
  uint32_t stack_bytes = 0;

  // Adds memory, and the words that lead to its address; nothing if there are too many needs. fit_record() limits their total
  // size.
  void add(const MemoryNeed& need);
  CaptureNeeds& operator|=(const CaptureNeeds& other);
  friend bool operator==(const CaptureNeeds&, const CaptureNeeds&) = default;
};

// Cuts and drops needs until they fit into a record. Needs of a fixed size are kept, the smallest first. Strings and copies that
// are sized by a word share the remaining room equally: most are far shorter than their limit, and a captured part only serves
// those.
void fit_record(std::vector<MemoryNeed>& needs);

// What one DIFO reads. strsize: the most characters of a string, without its NUL.
CaptureNeeds needs_of(const dif::Difo& difo, uint32_t strsize);
// What a clause needs, its predicate and all its actions together.
CaptureNeeds needs_of(const dif::EcbDesc& clause, uint32_t strsize);

}  // namespace dvm::runtime
