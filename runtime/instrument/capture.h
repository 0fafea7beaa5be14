#pragma once
// The capture analysis. It derives from the DIF of the clauses on a probe which arguments they read, and which memory of the
// traced process they load or copy. The instrument captures exactly that at the firing, so a record is as small as the clauses
// allow.
//
// An address is foreseen if it is a constant plus a word that is known when the probe fires. Such a word is an argument, or was
// itself loaded from memory at a foreseen address; at most kMostPointers words lead to an address. The address of a variable of
// the program is a constant, and starts from the word 0:
//
//   copyinstr(arg0), stringof((char *)arg0)              arg0 ──────────────────────────> string
//   ((struct list *)arg0)->next->key                     arg0 ─ + 8 ─> word ─ + 0 ──────> bytes
//   copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8))         arg1 ─ + 8 ─> word ────────────> string
//   `counter, stringof(`title)                           0 ─ + its address ─> bytes, or word ─> string
//   copyin(((struct iovec *)copyin(arg1, 16))->iov_base, arg1 ─ + 0 ─> word ────────────> bytes, at most
//          ((struct iovec *)copyin(arg1, 16))->iov_len)  arg1 ─ + 8 ─> word, so many of them
//
// A size is a constant or such a word. If it is a word, as many bytes are captured as the word says, but no more than kMostBytes,
// or than the constant c in `n < c ? n : c`. A string is captured up to kMostBytes, however large strsize is. The captured part
// of a larger copy, or of a string without its NUL, is never used as the whole: the VM then reads all of it. Such a read is a
// late read, as is every read that could not be foreseen: the address was computed otherwise, the chain of pointers is longer, or
// the record is full.
//
// The index of fds[] is foreseen if it is a constant, or an argument plus a constant: the open file is captured as memory is
// (captured_file.h).
//
// Members of one object that lie near each other are one need. CaptureNeeds::memory has a need for each word in memory that an
// address starts from, so the record alone tells every address. The needs are a hint: captured memory is looked up by address, so
// a wrong guess costs room in the record but never changes a result.

#include <cstdint>
#include <set>
#include <string>

#include "dvm/dif/program.h"
#include "runtime/instrument/capture_needs.h"
#include "runtime/instrument/known_value.h"

namespace dvm::runtime {

// The needs of one DIFO. strsize: the most characters of a string, without its NUL.
CaptureNeeds needs_of(const dif::Difo& difo, uint32_t strsize);
// The needs of a clause: of its predicate and of all its actions.
CaptureNeeds needs_of(const dif::EcbDesc& clause, uint32_t strsize);
// `variables` are those that are known before the clause, and after it. `late` receives the names of variables with addresses
// that another firing has stored and that are not known at this one. Memory there is a late read. `late` may be null.
using LateVariables = std::set<std::string>;
CaptureNeeds needs_of(const dif::EcbDesc& clause, uint32_t strsize, known::Locals& variables, LateVariables* late = nullptr);

}  // namespace dvm::runtime
