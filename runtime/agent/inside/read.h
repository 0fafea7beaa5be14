#pragma once
// How code in a traced thread reads the memory of the process, whose addresses may be anything. Nothing here can fault.
//
//   LastingMemory   plain loads
//   SteadyMemory    plain loads, as long as nothing takes it away (steady_read.h)
//   anything else   process_vm_readv(2), unless the process has restricted its system calls

#include <cstdint>

#include "runtime/agent/inside/calls.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/inside/steady_read.h"

namespace dvm::runtime::inside {

inline constexpr long kReadProcess = 310;
inline constexpr uint64_t kFirstPart = 256;

struct Range {
  uint64_t address, bytes;
};

// Bytes that could be read. Once the first thread of the process has ended, the kernel reads by the numbers of the others only.
// is_refused: true if the process itself could not read the next byte either.
[[gnu::noinline]] inline uint64_t read_memory(int32_t pid, uint64_t from, uint64_t to, uint64_t bytes,
                                              bool* is_refused = nullptr) {
  constexpr long kGetTid = 186, kNoProcess = -3, kBadAddress = -14;
  long by = pid;
  uint64_t done = 0;
  while (done < bytes) {
    const uint64_t in_page = kPage - ((from + done) & (kPage - 1));
    const uint64_t left = bytes - done;
    const Range local{to + done, left < in_page ? left : in_page}, remote{from + done, local.bytes};
    const long read = call(kReadProcess, by, reinterpret_cast<long>(&local), 1, reinterpret_cast<long>(&remote), 1, 0);
    if (const long tid = read == kNoProcess ? call(kGetTid) : by; tid != by) {
      by = tid;
      continue;
    }
    if (is_refused != nullptr) *is_refused = read == kBadAddress;
    if (read <= 0) break;
    done += static_cast<uint64_t>(read);
    if (static_cast<uint64_t>(read) < local.bytes) break;
  }
  return done;
}

DVM_RARELY inline void name_thread(uint64_t to) {
  auto* name = reinterpret_cast<volatile uint64_t*>(to);
  name[0] = 0;
  name[1] = 0;
  call(kPrctl, 16 /* PR_GET_NAME */, static_cast<long>(to));
}

[[gnu::always_inline]] inline bool is_in(const MemoryRange& range, uint64_t address) {
  return address - range.begin < range.end - range.begin;
}

// Bytes from an address on that last; 0: it may vanish. Those below the stack pointer are not looked for on the stack.
[[gnu::always_inline]] inline uint64_t lasting_bytes(const Context& context, uint64_t address, uint64_t stack_pointer) {
  const auto& lasting = *reinterpret_cast<const LastingMemory*>(context.lasting);
  const auto* range = reinterpret_cast<const MemoryRange*>(&lasting + 1);
  for (const auto* end = range + lasting.ranges; range != end; range++)
    if (is_in(*range, address)) return range->end - address;
  const bool is_above = address >= stack_pointer && is_in(lasting.stack, stack_pointer) && is_in(lasting.stack, address);
  return is_above ? lasting.stack.end - address : 0;
}

// Keeps a number of characters of a word. True: it ends the string.
[[gnu::always_inline]] inline bool end_text(uint64_t& characters, uint64_t most) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHighs = 0x8080808080808080;
  if (most < 8) characters &= (uint64_t{1} << 8 * most) - 1;
  const uint64_t zeros = (characters - kOnes) & ~characters & kHighs;
  if (zeros == 0) return false;
  characters &= (zeros & (0 - zeros)) - 1;  // of the bits above, those of the first NUL are none of its own
  return true;
}

// Ends a string in memory of words. Returns how many those are.
[[gnu::always_inline]] inline uint32_t pad_text(volatile char* text, uint64_t characters) {
  for (uint64_t i = characters; i < characters / 8 * 8 + 8; i++) text[i] = 0;
  return static_cast<uint32_t>(characters / 8 + 1);
}

DVM_RARELY inline uint32_t read_text_by_call(const Context& context, uint64_t from, uint64_t* to, uint64_t most) {
  if (is_muted(context)) return 0;
  auto* text = reinterpret_cast<volatile char*>(to);
  for (uint64_t done = 0; done < most;) {
    const uint64_t in_page = kPage - ((from + done) & (kPage - 1));
    uint64_t want = most - done < kFirstPart ? most - done : kFirstPart;
    if (want > in_page) want = in_page;
    if (read_memory(static_cast<int32_t>(armed_page(context).pid), from + done, reinterpret_cast<uint64_t>(to) + done, want) <
        want)
      return 0;
    for (const uint64_t end = done + want; done < end; done++)
      if (text[done] == 0) return pad_text(text, done);
  }
  return pad_text(text, most);
}

// Loads a word of memory that lasts. Its address is a multiple of 8: a program may have let other loads fault, by its
// alignment-check flag.
[[gnu::always_inline]] inline uint64_t load_word(uint64_t address) {
  uint64_t word;
  asm volatile("mov (%1), %0" : "=r"(word) : "r"(address));
  return word;
}

// A string of steady memory. 0: it is not, up to its end.
[[gnu::always_inline]] inline uint32_t read_steady_text(const Context& context, Lane& lane, uint64_t from, uint64_t* to,
                                                        uint64_t most) {
  SteadyWords words(context, lane, from);
  for (uint64_t done = 0;; done += 8) {
    uint64_t word;
    if (!words.read(word)) return 0;
    const bool is_end = end_text(word, most - done);
    to[done / 8] = word;
    if (is_end) return static_cast<uint32_t>(done / 8 + 1);
  }
}

// Words of memory that lasts, from any address.
class LastingWords {
 public:
  explicit LastingWords(uint64_t from) : next_(from & ~uint64_t{7}), shift_(static_cast<unsigned>(from & 7) * 8) {}

  [[gnu::always_inline]] bool read(uint64_t& word) {
    word = load_word(next_) >> shift_;
    next_ += sizeof word;
    if (shift_ != 0) word |= load_word(next_) << (64 - shift_);
    return true;
  }

 private:
  uint64_t next_;
  unsigned shift_;
};

// Stores so many bytes of the words. False: they cannot all be read.
template <class Words>
[[gnu::always_inline]] inline bool store_words(Words& words, uint64_t to, uint64_t bytes) {
  uint64_t word = 0;
  for (; bytes >= sizeof word; bytes -= sizeof word, to += sizeof word) {
    if (!words.read(word)) return false;
    *reinterpret_cast<volatile uint64_t*>(to) = word;
  }
  if (bytes != 0 && !words.read(word)) return false;
  for (; bytes != 0; bytes--, to++, word >>= 8) *reinterpret_cast<volatile unsigned char*>(to) = static_cast<unsigned char>(word);
  return true;
}

// Reads memory as read_memory() does, without a call if it lasts or is steady. A word more may be loaded of what lasts.
[[gnu::noinline]] inline uint64_t read_bytes(const Context& context, Lane& lane, uint64_t stack_pointer, int32_t pid,
                                             uint64_t from, uint64_t to, uint64_t bytes, bool* is_refused = nullptr) {
  if (from >= kPage && lasting_bytes(context, from, stack_pointer) >= bytes + sizeof(uint64_t)) {
    LastingWords lasting(from);
    return store_words(lasting, to, bytes), bytes;
  }
  SteadyWords steady(context, lane, from);
  return store_words(steady, to, bytes) ? bytes : read_memory(pid, from, to, bytes, is_refused);
}

// Stores a string with its NUL, and zeros up to the end of a word. Returns its length with the NUL; 0: it is longer, or cannot
// all be read.
template <class Words>
[[gnu::always_inline]] inline uint64_t store_text(Words& words, uint64_t to, uint64_t most) {
  uint64_t word = 0;
  for (uint64_t done = 0; done + sizeof word <= most && words.read(word); done += sizeof word) {
    const bool is_end = end_text(word, sizeof word);
    *reinterpret_cast<volatile uint64_t*>(to + done) = word;
    if (is_end) return done + (word == 0 ? 0 : 8 - static_cast<uint64_t>(__builtin_clzll(word)) / 8) + 1;
  }
  return 0;
}

// The same, of memory that lasts or is steady.
[[gnu::noinline]] inline uint64_t load_text(const Context& context, Lane& lane, uint64_t stack_pointer, uint64_t from,
                                            uint64_t to, uint64_t most) {
  const uint64_t lasting = lasting_bytes(context, from, stack_pointer);
  if (lasting > sizeof(uint64_t)) {
    LastingWords words(from);
    return store_text(words, to, lasting - sizeof(uint64_t) < most ? lasting - sizeof(uint64_t) : most);
  }
  SteadyWords words(context, lane, from);
  return store_text(words, to, most);
}

// A string of the process as words of a key, cut at so many characters. Returns how many words; 0: it cannot be read.
inline uint32_t read_text(const Context& context, Lane* lane, uint64_t stack_pointer, uint64_t from, uint64_t* to,
                          uint64_t most) {
  if (from < kPage) return 0;
  const uint64_t lasting = lasting_bytes(context, from, stack_pointer);
  const unsigned shift = static_cast<unsigned>(from & 7) * 8;
  uint64_t next = shift != 0 && lasting >= 8 ? load_word(from & ~uint64_t{7}) : 0;
  for (uint64_t done = 0; done + 8 <= lasting; done += 8) {
    uint64_t word = next >> shift;
    next = load_word((from + done + 7) & ~uint64_t{7});
    word = shift == 0 ? next : word | next << (64 - shift);
    const bool is_end = end_text(word, most - done);
    to[done / 8] = word;
    if (is_end) return static_cast<uint32_t>(done / 8 + 1);
  }
  const uint32_t steady = context.restart != 0 ? read_steady_text(context, *lane, from, to, most) : 0;
  return steady != 0 ? steady : read_text_by_call(context, from, to, most);
}

// The name of the thread, in the same way.
inline uint32_t read_name(const Context& context, uint64_t* to, uint64_t most) {
  constexpr uint64_t kLongest = 15;
  if (is_muted(context)) return 0;
  name_thread(reinterpret_cast<uint64_t>(to));
  if (end_text(to[0], most)) return 1;
  end_text(to[1], (most < kLongest ? most : kLongest) - 8);
  return 2;
}

}  // namespace dvm::runtime::inside
