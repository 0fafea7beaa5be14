// Covered by tests/unit/code/computed_jumps_test.cpp.

#include "runtime/code/computed_jumps.h"

#include <algorithm>
#include <cstring>
#include <map>
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

// The instructions that end where the jump begins. It is not known where the first one begins, but decoders soon agree on that.
std::vector<Operated> instructions_before(CodeBytes code) {
  std::vector<Operated> found;
  for (size_t begin = 0; begin < code.size(); begin++) {
    found.clear();
    size_t at = begin;
    for (Operated one; at < code.size() && one.decode(code.subspan(at)); at += one.instruction.length) found.push_back(one);
    if (at == code.size()) return found;
  }
  return {};
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
    for (size_t at = 0; at + 2 <= code.size() && bases_.size() < kMostBases; at++) {
      const bool is_jump = code[at] == 0xff && ((code[at + 1] & 0xf8) == 0xe0 || (code[at + 1] & 0xf8) == 0xd0);
      if (is_jump) look_at(at);
    }
    if (bases_.size() >= kMostBases || reaches_.size() >= kMostReaches) return {{0, UINT64_MAX}};
    return std::move(reaches_);
  }

 private:
  void look_at(size_t at) {
    const bool is_high = at > 0 && source_.code[at - 1] == 0x41;
    const size_t end = at - (is_high ? 1 : 0), begin = end - std::min(end, kBefore);
    Registers registers(source_.is_fixed);
    uint64_t behind = source_.address + end;
    const std::vector<Operated> before = instructions_before(source_.code.subspan(begin, end - begin));
    for (const Operated& one : before) behind -= one.instruction.length;
    for (const Operated& one : before) registers.run(one, behind += one.instruction.length);
    const auto reg = static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + (source_.code[at + 1] & 7) + (is_high ? 8 : 0));
    const Registers::Value value = registers.at(reg);
    if (!value.is_computed) return;
    const bool is_jump = (source_.code[at + 1] & 0xf8) == 0xe0;
    for (const uint64_t base : value.bases) {
      const bool is_own = is_jump && source_.lie_in_one_function(source_.address + at, base);
      const bool is_usual = value.tables.contains(base) || (!value.tables.empty() && !source_.is_code(base));
      if (!is_own && !is_usual && bases_.insert(base).second) add(base);
    }
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

  const ComputedSource& source_;
  std::set<uint64_t> bases_;
  std::vector<JumpReach> reaches_;
};

}  // namespace

std::vector<JumpReach> find_computed_jumps(const ComputedSource& source) { return ComputedFinder(source).find(); }

}  // namespace dvm::runtime
