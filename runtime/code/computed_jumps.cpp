// Covered by tests/unit/code/computed_jumps_test.cpp.

#include "runtime/code/computed_jumps.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "runtime/code/register_values.h"

namespace dvm::runtime {
namespace {

constexpr size_t kBefore = 192;                               // bytes before a jump that are read
constexpr uint64_t kBehindBase = 65535, kBeforeBase = 32768;  // the reach of entries of two bytes
constexpr size_t kMostReaches = size_t{1} << 20, kMostBases = 4096;

// Of notrack, bnd and other prefixes that indirect jumps may have.
bool is_prefix(unsigned char byte) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf2:
    case 0xf3:
      return true;
    default:
      return (byte & 0xf0) == 0x40;
  }
}

// An indirect jump or call by a register, or by a place of the stack.
bool is_indirect(CodeBytes code) {
  if (code.size() < 2 || code[0] != 0xff) return false;
  const unsigned kind = code[1] & 0x38U, mode = code[1] & 0xc0U;
  if (kind != 0x20 && kind != 0x10) return false;
  return mode == 0xc0 || ((code[1] & 7) == 4 && code.size() > 2 && code[2] == 0x24);
}

// True if one of the last instructions may push a register, or change the word that %rsp points to.
bool may_set_return(CodeBytes code) {
  constexpr size_t kBack = 8;
  const CodeBytes last = code.last(std::min(code.size(), kBack));
  for (size_t i = 0; i < last.size(); i++)
    if ((last[i] & 0xf8) == 0x50 || (i > 0 && last[i] == 0x24 && (last[i - 1] & 0xc7) == 0x04)) return true;
  return false;
}

class ComputedFinder {
 public:
  ComputedFinder(const ComputedSource& source, size_t& work)
      : source_(source), work_(work), addresses_{source.is_fixed, source.pointer} {}

  std::vector<JumpReach> find() {
    const CodeBytes code = source_.code;
    find_popped();
    const std::array<bool, 256> may_begin_base = base_bytes();
    for (size_t at = 0; at < code.size() && is_bounded(); at++) {
      at = next_base(at, may_begin_base);
      if (at < code.size() && has_base(at)) look_behind(at);
    }
    if (!is_bounded()) return {{0, UINT64_MAX}};
    return merged();
  }

 private:
  static constexpr size_t kMostPrefixes = 13;
  static constexpr unsigned char kCall = 0xe8;

  bool is_bounded() const {
    return !leads_anywhere_ && bases_.size() < kMostBases && reaches_.size() < kMostReaches && work_ > 0;
  }
  void spend() { work_ -= work_ > 0 ? 1 : 0; }

  // Calls that lead to a `pop`, which takes the address behind the call.
  void find_popped() {
    constexpr size_t kLength = 5;
    const CodeBytes code = source_.code;
    for (size_t at = 0; at + kLength <= code.size() && is_bounded(); at++) {
      const void* call = std::memchr(code.data() + at, kCall, code.size() - kLength - at + 1);
      if (call == nullptr) break;
      at = static_cast<size_t>(static_cast<const unsigned char*>(call) - code.data());
      const size_t behind = at + kLength, to = behind + static_cast<size_t>(int64_t{distance_at(at + 1)});
      if (to >= code.size() || !is_pop(code.subspan(to))) continue;
      spend();
      addresses_.popped.emplace_back(source_.address + to, source_.address + behind);
    }
    std::ranges::sort(addresses_.popped);
  }
  static bool is_pop(CodeBytes code) {
    const bool has_prefix = code.size() > 1 && (code[0] & 0xf0) == 0x40;
    return (code[has_prefix ? 1 : 0] & 0xf8) == 0x58;
  }
  int32_t distance_at(size_t at) const {
    int32_t distance = 0;
    if (at + sizeof distance <= source_.code.size()) std::memcpy(&distance, source_.code.data() + at, sizeof distance);
    return distance;
  }

  // The first bytes of what has_base() looks for, other than a `pop`.
  std::array<bool, 256> base_bytes() const {
    std::array<bool, 256> bytes{};
    for (const unsigned one : {0x8dU, 0x8bU, unsigned{kCall}}) bytes[one] = true;
    for (unsigned one = 0xb8; one <= 0xbf; one++) bytes[one] = source_.is_fixed;
    bytes[0xc7] = source_.is_fixed;
    return bytes;
  }

  // The next place from there on that has_base() must see: all code of a large file is read so.
  size_t next_base(size_t from, const std::array<bool, 256>& may_begin) {
    const PoppedCalls& popped = addresses_.popped;
    while (next_popped_ < popped.size() && popped[next_popped_].first < source_.address + from) next_popped_++;
    const size_t end = next_popped_ < popped.size() ? popped[next_popped_].first - source_.address : source_.code.size();
    const unsigned char* const code = source_.code.data();
    while (from < end && !may_begin[code[from]]) from++;
    return from;
  }

  // The jumps that may take the address.
  void look_behind(size_t base) {
    const CodeBytes code = source_.code.first(std::min(source_.code.size(), base + kBefore + kMostPrefixes + 1));
    for (looked_to_ = std::max(looked_to_, base); looked_to_ < code.size() && is_bounded(); looked_to_++) {
      const unsigned char first = code[looked_to_];
      const bool is_return = first == 0xc3 || first == 0xc2;
      if (is_return || (first == 0xff && is_indirect(source_.code.subspan(looked_to_)))) look_at(looked_to_, is_return);
    }
  }

  // True if here may stand the opcode of an instruction that takes an address.
  bool has_base(size_t at) const {
    const CodeBytes rest = source_.code.subspan(at);
    const PoppedCalls& popped = addresses_.popped;
    if (next_popped_ < popped.size() && popped[next_popped_].first == source_.address + at) return true;
    constexpr size_t kLoad = 6, kNextCall = 5;
    if (rest.size() > 1 && rest[0] == 0x8d && (rest[1] & 0xc7) == 0x05) return true;
    if (rest.size() >= kNextCall && rest[0] == kCall && distance_at(at + 1) == 0) return true;
    if (rest.size() >= kLoad && rest[0] == 0x8b && (rest[1] & 0xc7) == 0x05)
      if (source_.pointer(source_.address + at + kLoad + static_cast<uint64_t>(int64_t{distance_at(at + 2)}))) return true;
    const bool is_long = rest[0] == 0xc7;
    if (!source_.is_fixed || (!is_long && (rest[0] & 0xf8) != 0xb8)) return false;
    uint64_t value = 0;
    uint32_t low = 0;
    const size_t begin = is_long ? 2 : 1;
    if (rest.size() >= begin + sizeof low) std::memcpy(&low, rest.data() + begin, sizeof low);
    if (rest.size() >= begin + sizeof value) std::memcpy(&value, rest.data() + begin, sizeof value);
    return is_loaded(low) || is_loaded(value) || is_loaded(static_cast<uint64_t>(int64_t{static_cast<int32_t>(low)}));
  }
  bool is_loaded(uint64_t address) const {
    if (address < source_.first || address > source_.last) return false;  // as most operands do
    return source_.is_code(address) || !source_.data(address).empty();
  }

  // Bytes before the opcode may be its prefixes, or the end of the instruction before it.
  void look_at(size_t opcode, bool is_return) {
    const CodeBytes code = source_.code;
    for (size_t at = opcode;; at--) {
      if (!is_return || may_set_return(code.first(at))) look_from(at);
      if (at == 0 || opcode - at == kMostPrefixes || !is_prefix(code[at - 1])) return;
    }
  }

  void look_from(size_t at) {
    Operated jump;
    spend();
    if (!jump.decode(source_.code.subspan(at))) return;
    const size_t begin = at - std::min(at, kBefore);
    look_along(jump, at, begin);
    // Data may lie between a call and its `pop`, and decoding it does not end there.
    if (const auto popped = last_popped(begin, at)) look_along(jump, at, *popped);
  }

  std::optional<size_t> last_popped(size_t begin, size_t end) const {
    const auto after = std::ranges::lower_bound(addresses_.popped, source_.address + end, {}, &PoppedCalls::value_type::first);
    if (after == addresses_.popped.begin() || after[-1].first < source_.address + begin) return std::nullopt;
    return after[-1].first - source_.address;
  }

  // By the instructions from about `begin` on to the jump.
  void look_along(const Operated& jump, size_t at, size_t begin) {
    RegisterValues registers(addresses_, work_);
    uint64_t behind = source_.address + at;
    const std::vector<Operated>& before = instructions_before(source_.code.subspan(begin, at - begin));
    for (const Operated& one : before) behind -= one.instruction.length;
    for (const Operated& one : before) {
      if (!is_bounded()) return;
      registers.run(one, behind += one.instruction.length);
    }
    const AddressValue value = registers.target(jump);
    if (!value.is_computed) return;
    leads_anywhere_ |= value.is_anywhere;
    const bool is_jump = jump.instruction.mnemonic == ZYDIS_MNEMONIC_JMP && jump.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER;
    for (const uint64_t base : value.bases) {
      const bool is_own = is_jump && source_.lie_in_one_function(source_.address + at, base);
      const bool is_usual = value.has_table(base) || (!value.tables.empty() && !source_.is_code(base));
      const bool is_seen = !is_returned_to(base) && (is_own || is_usual);
      if (!is_seen && bases_.insert(base).second) add(base);
    }
    for (const auto& [base, behind_base] : value.tables)
      if (behind_base > 0 && tables_.insert({base, behind_base}).second)
        add_entries(base, base + static_cast<uint64_t>(behind_base));
  }

  // The address behind a call, which no instruction has as an operand.
  bool is_returned_to(uint64_t address) const {
    constexpr uint64_t kLength = 5;
    const uint64_t offset = address - source_.address;
    return offset >= kLength && offset <= source_.code.size() && source_.code[offset - kLength] == kCall;
  }

  // The instructions that end where the jump begins. It is not known where the first one begins, but decoders soon agree on that.
  // Nothing is decoded twice: what an attempt has decoded that failed leads to the same end.
  const std::vector<Operated>& instructions_before(CodeBytes code) {
    std::bitset<kBefore> is_decoded;
    for (size_t begin = 0; begin < code.size(); begin++) {
      before_.clear();
      size_t at = begin;
      for (Operated one; at < code.size() && !is_decoded[at]; at += one.instruction.length) {
        is_decoded[at] = true;
        spend();
        if (!one.decode(code.subspan(at))) break;
        before_.push_back(one);
      }
      if (at == code.size()) return before_;
    }
    before_.clear();
    return before_;
  }

  void add(uint64_t base) {
    if (source_.is_code(base)) {
      reaches_.push_back({base - std::min(base, kBeforeBase), base + kBehindBase});
      return;
    }
    const CodeBytes entries = source_.data(base);
    constexpr size_t kMostEntries = 1024, kMostScale = 8;
    for (size_t i = 0; i < std::min(kMostEntries, entries.size() / 2); i++) {
      int16_t distance;
      std::memcpy(&distance, entries.data() + 2 * i, sizeof distance);
      add_target(base + static_cast<uint64_t>(int64_t{distance}));
      add_target(base + static_cast<uint16_t>(distance));
    }
    for (size_t i = 0; i < std::min(kMostEntries, entries.size()); i++)
      for (size_t scale = 1; scale <= kMostScale; scale *= 2) {
        add_target(base + entries[i] * scale);
        add_target(base + static_cast<uint64_t>(int64_t{static_cast<int8_t>(entries[i])}) * scale);
      }
  }
  // Entries of four bytes, until several in a row lead nowhere.
  void add_entries(uint64_t base, uint64_t table) {
    constexpr size_t kMostUnused = 4;
    const CodeBytes entries = source_.data(table);
    size_t unused = 0;
    for (size_t i = 0; i < entries.size() / 4 && unused < kMostUnused && is_bounded(); i++) {
      int32_t distance;
      std::memcpy(&distance, entries.data() + 4 * i, sizeof distance);
      const uint64_t target = base + static_cast<uint64_t>(int64_t{distance});
      add_target(target);
      unused = source_.is_code(target) ? 0 : unused + 1;
    }
  }
  void add_target(uint64_t target) {
    spend();
    if (source_.is_code(target) && reaches_.size() < kMostReaches) reaches_.push_back({target, target});
  }

  // Ascending and apart.
  std::vector<JumpReach> merged() {
    std::ranges::sort(reaches_, {}, &JumpReach::first);
    std::vector<JumpReach> apart;
    for (const JumpReach& one : reaches_) {
      if (apart.empty() || one.first > apart.back().last)
        apart.push_back(one);
      else
        apart.back().last = std::max(apart.back().last, one.last);
    }
    return apart;
  }

  const ComputedSource& source_;
  size_t& work_;
  AddressSource addresses_;
  size_t next_popped_ = 0;
  size_t looked_to_ = 0;          // by look_behind()
  std::vector<Operated> before_;  // kept for its memory
  std::set<uint64_t> bases_;
  std::set<std::pair<uint64_t, int64_t>> tables_;  // as AddressValue has them
  std::vector<JumpReach> reaches_;
  bool leads_anywhere_ = false;  // a jump to one of too many addresses
};

}  // namespace

bool is_reached(std::span<const JumpReach> reaches, uint64_t begin, uint64_t last) {
  const auto next = std::ranges::upper_bound(reaches, begin, {}, &JumpReach::last);
  return next != reaches.end() && next->first <= last;
}

std::vector<JumpReach> find_computed_jumps(const ComputedSource& source, size_t& work) {
  return ComputedFinder(source, work).find();
}

}  // namespace dvm::runtime
