// Covered by tests/unit/code/computed_jumps_test.cpp.

#include "runtime/code/computed_jumps.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr size_t kBefore = 192;                               // bytes before a jump that are read
constexpr uint64_t kBehindBase = 65535, kBeforeBase = 32768;  // the reach of entries of two bytes
constexpr size_t kMostReaches = size_t{1} << 20, kMostBases = 4096;

bool is_any_register(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_REGISTER; }

bool computes(ZydisMnemonic mnemonic) {
  switch (mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_NEG:
    case ZYDIS_MNEMONIC_XOR:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_SHL:
      return true;
    default:
      return false;
  }
}

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

// True if the last instruction pushes a register or stores one where %rsp points.
bool ends_with_push(CodeBytes code) {
  if (code.empty()) return false;
  const size_t last = code.size() - 1;
  if ((code[last] & 0xf8) == 0x50) return true;
  return last >= 2 && code[last] == 0x24 && (code[last - 1] & 0xc7) == 0x04 && (code[last - 2] == 0x89 || code[last - 2] == 0x87);
}

// What registers and the stack hold, by the instructions that lead to a jump.
class Registers {
 public:
  struct Value {
    std::set<uint64_t> bases{};   // addresses that it is made of
    std::set<uint64_t> tables{};  // those of entries of four bytes that it is made of
    bool is_computed = false;

    void add(const Value& other) {
      bases.insert(other.bases.begin(), other.bases.end());
      tables.insert(other.tables.begin(), other.tables.end());
    }
  };

  Registers(bool is_fixed, size_t& work) : is_fixed_(is_fixed), work_(work) {}

  void run(const Operated& one, uint64_t behind) {
    const ZydisDecodedOperand& to = one.operands[0];
    const auto mnemonic = one.instruction.mnemonic;
    if (one.instruction.meta.category == ZYDIS_CATEGORY_CALL) return forget();
    if (exchanges(one)) return std::swap(values_[whole(to.reg.value)], values_[whole(one.operands[1].reg.value)]);
    const bool is_lea = mnemonic == ZYDIS_MNEMONIC_LEA, loads = !is_lea && reads_memory(one);
    Value made;
    if (one.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && is_lea && one.operands[1].mem.base == ZYDIS_REGISTER_RIP)
      made.bases.insert(behind + static_cast<uint64_t>(one.operands[1].mem.disp.value));
    else if (is_fixed_ && mnemonic == ZYDIS_MNEMONIC_MOV && one.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
      made.bases.insert(one.operands[1].imm.value.u);
    else if (computes(mnemonic) || mnemonic == ZYDIS_MNEMONIC_MOV || one.instruction.meta.category == ZYDIS_CATEGORY_CMOV)
      made = sum(one);
    if (loads && !computes(mnemonic)) made = mnemonic == ZYDIS_MNEMONIC_MOV ? stacked(one.operands[1]) : Value{};
    if (mnemonic == ZYDIS_MNEMONIC_POP) made = stacked(-depth_);
    if (loads && mnemonic == ZYDIS_MNEMONIC_MOVSXD) made.tables = sum(one).bases;
    work_ -= std::min(work_, made.bases.size());
    run_on_stack(one);
    for (const ZydisDecodedOperand& operand : one.all())
      if (is_any_register(operand) && is_write(operand)) values_[whole(operand.reg.value)] = &operand == &to ? made : Value{};
  }
  // Where the jump leads.
  Value target(const Operated& jump) const {
    const ZydisDecodedOperand& to = jump.operands[0];
    if (jump.instruction.meta.category == ZYDIS_CATEGORY_RET) return stacked(-depth_);
    return is_any_register(to) ? at(whole(to.reg.value)) : stacked(to);
  }

 private:
  Value at(ZydisRegister reg) const {
    const auto known = values_.find(reg);
    return known == values_.end() ? Value{} : known->second;
  }
  void forget() {
    values_.clear();
    stack_.clear();
  }

  static bool exchanges(const Operated& one) {
    return one.instruction.mnemonic == ZYDIS_MNEMONIC_XCHG && is_any_register(one.operands[0]) &&
           is_any_register(one.operands[1]);
  }
  static bool reads_memory(const Operated& one) {
    return std::any_of(one.all().begin(), one.all().end(),
                       [](const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_MEMORY; });
  }

  // Of what the instruction reads.
  Value sum(const Operated& one) const {
    const bool is_copy = !computes(one.instruction.mnemonic);  // mov, or cmov
    Value made;
    made.is_computed = computes(one.instruction.mnemonic);
    for (const ZydisDecodedOperand& operand : one.all()) {
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        made.add(at(whole(operand.mem.base))), made.add(at(whole(operand.mem.index)));
        if (one.instruction.mnemonic != ZYDIS_MNEMONIC_LEA) made.add(stacked(operand));
      } else if (is_any_register(operand) && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) {
        const Value known = at(whole(operand.reg.value));
        made.add(known);
        made.is_computed |= !is_copy || known.is_computed;
      }
    }
    return made;
  }

  // From where %rsp pointed first.
  std::optional<int64_t> place_of(const ZydisDecodedOperand& operand) const {
    const bool is_place = operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP &&
                          operand.mem.index == ZYDIS_REGISTER_NONE;
    return is_place ? std::optional<int64_t>(operand.mem.disp.value - depth_) : std::nullopt;
  }
  Value stacked(int64_t place) const {
    const auto known = stack_.find(place);
    return known == stack_.end() ? Value{} : known->second;
  }
  Value stacked(const ZydisDecodedOperand& operand) const {
    const auto place = place_of(operand);
    return place ? stacked(*place) : Value{};
  }

  void run_on_stack(const Operated& one) {
    const ZydisMnemonic mnemonic = one.instruction.mnemonic;
    const bool is_push = mnemonic == ZYDIS_MNEMONIC_PUSH;
    const auto grown = mnemonic == ZYDIS_MNEMONIC_POP ? -8 : growth(one);
    const ZydisDecodedOperand& from = one.operands[is_push ? 0 : 1];
    if (!grown) return stack_.clear();
    depth_ += *grown;
    const auto place = is_push ? std::optional<int64_t>(-depth_) : place_of(one.operands[0]);
    if (!place || (!is_push && !is_write(one.operands[0]))) return;
    Value made = is_any_register(from) ? at(whole(from.reg.value)) : Value{};
    if (computes(mnemonic)) {
      made.add(stacked(*place));
      made.is_computed = true;
    }
    stack_[*place] = made;
  }

  std::map<ZydisRegister, Value> values_;
  std::map<int64_t, Value> stack_;  // by place_of()
  int64_t depth_ = 0;               // of the stack since the first instruction
  bool is_fixed_;
  size_t& work_;
};

class ComputedFinder {
 public:
  ComputedFinder(const ComputedSource& source, size_t& work) : source_(source), work_(work) {}

  std::vector<JumpReach> find() {
    const CodeBytes code = source_.code;
    for (size_t at = 0; at < code.size() && is_bounded(); at++) {
      if (has_base(at)) base_at_ = at;
      const bool is_return = code[at] == 0xc3 || code[at] == 0xc2;
      if (!base_at_ || at - *base_at_ > kBefore + kMostPrefixes) continue;
      if (is_return || is_indirect(code.subspan(at))) look_at(at, is_return);
    }
    if (!is_bounded()) return {{0, UINT64_MAX}};
    return merged();
  }

 private:
  static constexpr size_t kMostPrefixes = 13;

  bool is_bounded() const { return bases_.size() < kMostBases && reaches_.size() < kMostReaches && work_ > 0; }
  void spend() { work_ -= work_ > 0 ? 1 : 0; }

  // True if here may stand the opcode of an instruction that takes an address.
  bool has_base(size_t at) const {
    const CodeBytes rest = source_.code.subspan(at);
    if (rest.size() > 1 && rest[0] == 0x8d && (rest[1] & 0xc7) == 0x05) return true;
    const bool is_long = rest[0] == 0xc7;
    if (!source_.is_fixed || (!is_long && (rest[0] & 0xf8) != 0xb8)) return false;
    uint64_t value = 0;
    uint32_t low = 0;
    const size_t begin = is_long ? 2 : 1;
    if (rest.size() >= begin + sizeof low) std::memcpy(&low, rest.data() + begin, sizeof low);
    if (rest.size() >= begin + sizeof value) std::memcpy(&value, rest.data() + begin, sizeof value);
    return is_loaded(low) || is_loaded(value) || is_loaded(static_cast<uint64_t>(int64_t{static_cast<int32_t>(low)}));
  }
  bool is_loaded(uint64_t address) const { return source_.is_code(address) || !source_.data(address).empty(); }

  // Bytes before the opcode may be its prefixes, or the end of the instruction before it.
  void look_at(size_t opcode, bool is_return) {
    const CodeBytes code = source_.code;
    for (size_t at = opcode;; at--) {
      if (!is_return || ends_with_push(code.first(at))) look_from(at);
      if (at == 0 || opcode - at == kMostPrefixes || !is_prefix(code[at - 1])) return;
    }
  }

  void look_from(size_t at) {
    Operated jump;
    spend();
    if (!jump.decode(source_.code.subspan(at))) return;
    const size_t begin = at - std::min(at, kBefore);
    Registers registers(source_.is_fixed, work_);
    uint64_t behind = source_.address + at;
    const std::vector<Operated>& before = instructions_before(source_.code.subspan(begin, at - begin));
    for (const Operated& one : before) behind -= one.instruction.length;
    for (const Operated& one : before) registers.run(one, behind += one.instruction.length);
    const Registers::Value value = registers.target(jump);
    if (!value.is_computed) return;
    const bool is_jump = jump.instruction.mnemonic == ZYDIS_MNEMONIC_JMP && is_any_register(jump.operands[0]);
    for (const uint64_t base : value.bases) {
      const bool is_own = is_jump && source_.lie_in_one_function(source_.address + at, base);
      const bool is_usual = value.tables.contains(base) || (!value.tables.empty() && !source_.is_code(base));
      if (!is_own && !is_usual && bases_.insert(base).second) add(base);
    }
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
  std::optional<size_t> base_at_;  // the last place that has_base()
  std::vector<Operated> before_;   // kept for its memory
  std::set<uint64_t> bases_;
  std::vector<JumpReach> reaches_;
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
