// Covered by tests/unit/code/computed_jumps_test.cpp.

#include "runtime/code/computed_jumps.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr size_t kBefore = 192, kJustBefore = 24;             // bytes before a jump that are read
constexpr uint64_t kBehindBase = 65535, kBeforeBase = 32768;  // the reach of entries of two bytes
constexpr size_t kMostReaches = size_t{1} << 20, kMostBases = 4096, kMostDecoded = size_t{1} << 25;

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

// Where the instructions begin that end where the jump begins. It is not known where the first one begins, but decoders soon
// agree on that.
class InstructionsBefore {
 public:
  InstructionsBefore() {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisDecoderEnableMode(&decoder_, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
  }
  // Valid until the next call.
  const std::vector<size_t>& find(CodeBytes code) {
    for (size_t begin = 0; begin < code.size(); begin++) {
      starts_.clear();
      size_t at = begin;
      for (ZydisDecodedInstruction one; at < code.size(); at += one.length) {
        decoded_++;
        if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, nullptr, code.data() + at, code.size() - at, &one))) break;
        starts_.push_back(at);
      }
      if (at == code.size()) return starts_;
    }
    starts_.clear();
    return starts_;
  }
  size_t decoded() const { return decoded_; }

 private:
  ZydisDecoder decoder_;
  std::vector<size_t> starts_;
  size_t decoded_ = 0;
};

bool reads_memory(const Operated& one) {
  return std::any_of(one.all().begin(), one.all().end(),
                     [](const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_MEMORY; });
}

// What registers hold, by the instructions that lead to a jump.
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

  explicit Registers(bool is_fixed) : is_fixed_(is_fixed) {}

  void run(const Operated& one, uint64_t behind) {
    const ZydisDecodedOperand& to = one.operands[0];
    const auto mnemonic = one.instruction.mnemonic;
    if (one.instruction.meta.category == ZYDIS_CATEGORY_CALL) return values_.clear();
    const bool is_lea = mnemonic == ZYDIS_MNEMONIC_LEA, loads = !is_lea && reads_memory(one);
    Value made;
    if (one.operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY && is_lea && one.operands[1].mem.base == ZYDIS_REGISTER_RIP)
      made.bases.insert(behind + static_cast<uint64_t>(one.operands[1].mem.disp.value));
    else if (is_fixed_ && mnemonic == ZYDIS_MNEMONIC_MOV && one.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
      made.bases.insert(one.operands[1].imm.value.u);
    else if (computes(mnemonic) || mnemonic == ZYDIS_MNEMONIC_MOV || one.instruction.meta.category == ZYDIS_CATEGORY_CMOV)
      made = sum(one);
    if (loads && !computes(mnemonic)) made = {};
    if (loads && mnemonic == ZYDIS_MNEMONIC_MOVSXD) made.tables = sum(one).bases;
    for (const ZydisDecodedOperand& operand : one.all())
      if (is_any_register(operand) && is_write(operand)) values_[whole(operand.reg.value)] = &operand == &to ? made : Value{};
  }
  Value at(ZydisRegister reg) const {
    const auto known = values_.find(reg);
    return known == values_.end() ? Value{} : known->second;
  }

 private:
  // Of what the instruction reads.
  Value sum(const Operated& one) const {
    const bool is_copy = !computes(one.instruction.mnemonic);  // mov, or cmov
    Value made;
    made.is_computed = computes(one.instruction.mnemonic);
    for (const ZydisDecodedOperand& operand : one.all()) {
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        made.add(at(whole(operand.mem.base))), made.add(at(whole(operand.mem.index)));
      } else if (is_any_register(operand) && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) {
        const Value known = at(whole(operand.reg.value));
        made.add(known);
        made.is_computed |= !is_copy || known.is_computed;
      }
    }
    return made;
  }

  std::map<ZydisRegister, Value> values_;
  bool is_fixed_;
};

class ComputedFinder {
 public:
  explicit ComputedFinder(const ComputedSource& source) : source_(source) {}

  std::vector<JumpReach> find() {
    const CodeBytes code = source_.code;
    for (size_t at = 0; at + 2 <= code.size() && is_bounded(); at++) {
      const bool is_jump = code[at] == 0xff && ((code[at + 1] & 0xf8) == 0xe0 || (code[at + 1] & 0xf8) == 0xd0);
      if (is_jump) look_at(at);
    }
    if (!is_bounded()) return {{0, UINT64_MAX}};
    return merged();
  }

 private:
  bool is_bounded() const {
    return bases_.size() < kMostBases && reaches_.size() < kMostReaches && before_.decoded() < kMostDecoded;
  }

  void look_at(size_t at) {
    const bool is_high = at > 0 && source_.code[at - 1] == 0x41;
    const size_t end = at - (is_high ? 1 : 0);
    const auto reg = static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + (source_.code[at + 1] & 7) + (is_high ? 8 : 0));
    const CodeBytes code = bytes_before(end, kBefore);
    if (!takes_address(code) || !may_be_computed(bytes_before(end, kJustBefore), reg)) return;
    Registers registers(source_.is_fixed);
    const uint64_t begin = source_.address + end - code.size();
    for (const size_t start : before_.find(code))
      if (Operated one; one.decode(code.subspan(start))) registers.run(one, begin + start + one.instruction.length);
    const Registers::Value value = registers.at(reg);
    if (!value.is_computed) return;
    const bool is_jump = (source_.code[at + 1] & 0xf8) == 0xe0;
    for (const uint64_t base : value.bases) {
      const bool is_own = is_jump && source_.lie_in_one_function(source_.address + at, base);
      const bool is_usual = value.tables.contains(base) || (!value.tables.empty() && !source_.is_code(base));
      if (!is_own && !is_usual && bases_.insert(base).second) add(base);
    }
  }

  CodeBytes bytes_before(size_t end, size_t most) const {
    return source_.code.subspan(end - std::min(end, most), std::min(end, most));
  }

  // By bytes that may be a lea of an address.
  bool takes_address(CodeBytes code) const {
    for (size_t at = 1; !source_.is_fixed && at < code.size(); at++)
      if (code[at - 1] == 0x8d && (code[at] & 0xc7) == 0x05) return true;
    return source_.is_fixed;
  }

  // By the instruction that sets the register, which is most often a load. False: Registers would say the same.
  bool may_be_computed(CodeBytes code, ZydisRegister reg) {
    const std::vector<size_t>& starts = before_.find(code);
    for (auto start = starts.rbegin(); start != starts.rend(); start++) {
      Operated one;
      if (!one.decode(code.subspan(*start))) return true;
      if (one.instruction.meta.category == ZYDIS_CATEGORY_CALL) return false;
      const bool sets = std::any_of(one.all().begin(), one.all().end(), [&](const ZydisDecodedOperand& operand) {
        return is_any_register(operand) && is_write(operand) && whole(operand.reg.value) == reg;
      });
      if (!sets) continue;
      const bool is_copy = one.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && is_any_register(one.operands[1]);
      if (!is_copy) return computes(one.instruction.mnemonic) || one.instruction.meta.category == ZYDIS_CATEGORY_CMOV;
      reg = whole(one.operands[1].reg.value);
    }
    return true;
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
  InstructionsBefore before_;
  std::set<uint64_t> bases_;
  std::vector<JumpReach> reaches_;
};

}  // namespace

bool is_reached(std::span<const JumpReach> reaches, uint64_t begin, uint64_t last) {
  const auto next = std::ranges::upper_bound(reaches, begin, {}, &JumpReach::last);
  return next != reaches.end() && next->first <= last;
}

std::vector<JumpReach> find_computed_jumps(const ComputedSource& source) { return ComputedFinder(source).find(); }

}  // namespace dvm::runtime
