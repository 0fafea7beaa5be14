// Covered by tests/unit/code/jump_tables_test.cpp.

#include "runtime/code/jump_tables.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostTables = 256, kMostSteps = 100'000;

bool is_register(const ZydisDecodedOperand& operand) { return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size == 64; }

// An entry of four bytes: (%rB,%rI,4).
bool is_entry(const ZydisDecodedOperand& operand, unsigned scale) {
  const auto& memory = operand.mem;
  return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && memory.index != ZYDIS_REGISTER_NONE && memory.scale == scale &&
         memory.segment != ZYDIS_REGISTER_FS && memory.segment != ZYDIS_REGISTER_GS;
}

bool writes(const Operated& one, ZydisRegister reg) {
  return std::any_of(one.all().begin(), one.all().end(), [&](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_write(operand) && whole(operand.reg.value) == reg;
  });
}

bool outlives_calls(ZydisRegister reg) {
  return reg == ZYDIS_REGISTER_RBX || reg == ZYDIS_REGISTER_RBP || (reg >= ZYDIS_REGISTER_R12 && reg <= ZYDIS_REGISTER_R15);
}

class TableReader {
 public:
  TableReader(CodeBytes code, FunctionCode& function, const TableSource& source)
      : code_(code), function_(function), all_(function.instructions), source_(source) {}

  bool read() {
    if (takes_own_address()) return false;
    find_ways();
    // With more targets there are more paths, and so perhaps more tables.
    for (size_t known = 0;; known = tables_.size()) {
      steps_ = 0;
      if (!std::all_of(jumps_.begin(), jumps_.end(), [&](size_t jump) { return find(jump); })) return false;
      if (tables_.size() == known) return known > 0;
      if (tables_.size() > kMostTables || !read_tables()) return false;
    }
  }
  std::vector<int64_t> targets() const { return {targets_.begin(), targets_.end()}; }
  std::vector<uint64_t> tables() const { return own_; }

 private:
  // Code that is written by hand may compute its targets from that.
  bool takes_own_address() const {
    const std::vector<int64_t> taken = addresses_taken(code_);
    return std::any_of(taken.begin(), taken.end(), [&](int64_t one) { return one > 0 && is_inside(one); });
  }
  bool is_inside(int64_t offset) const { return offset >= 0 && static_cast<uint64_t>(offset) < code_.size(); }

  // From where each instruction is jumped to.
  void find_ways() {
    for (size_t i = 0; i < all_.size(); i++) {
      if (all_[i].target) ways_[*all_[i].target].push_back(i);
      if (all_[i].is_table_jump) jumps_.push_back(i);
    }
  }
  bool is_jumped_to(size_t number) const { return ways_.contains(all_[number].offset) || targets_.contains(all_[number].offset); }

  bool decode(size_t number, Operated& one) const { return one.decode(code_.subspan(all_[number].offset)); }
  uint64_t address_behind(size_t number) const { return source_.function + all_[number].offset + all_[number].length; }

  // The tables of one jump.
  bool find(size_t jump) {
    Operated one;
    if (!decode(jump, one)) return false;
    const ZydisDecodedOperand& to = one.operands[0];
    if (!is_register(to)) return add_absolute(to);
    return find_loaded(jump, to.reg.value) || find_unoptimised(jump, to.reg.value) || find_sum(jump, to.reg.value);
  }

  bool add_absolute(const ZydisDecodedOperand& entry) {
    if (!source_.is_fixed || entry.size != 64 || !is_entry(entry, 8) || entry.mem.base != ZYDIS_REGISTER_NONE) return false;
    if (entry.mem.disp.value <= 0) return false;
    tables_.insert({static_cast<uint64_t>(entry.mem.disp.value), true});
    return true;
  }

  bool find_loaded(size_t jump, ZydisRegister reg) {
    Operated load;
    return follows_previous(jump) && decode(jump - 1, load) && load.instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
           is_register(load.operands[0]) && load.operands[0].reg.value == reg && add_absolute(load.operands[1]);
  }

  // The sum without optimisation: six instructions before the jump.
  bool find_unoptimised(size_t jump, ZydisRegister sum) {
    enum { kScale, kBase, kLoad, kExtend, kBaseAgain, kAdd, kCount };
    std::array<Operated, kCount> all;
    for (size_t i = 0; i < kCount; i++)
      if (!follows_previous(jump - i) || !decode(jump - i - 1, all[kCount - 1 - i])) return false;
    const auto address = address_taken(all[kBase], jump - kCount + kBase);
    const ZydisDecodedOperand &scaled = all[kScale].operands[1], &entry = all[kLoad].operands[1];
    const ZydisRegister index = all[kScale].operands[0].reg.value, base = all[kBaseAgain].operands[0].reg.value;
    const bool is_scaled = all[kScale].instruction.mnemonic == ZYDIS_MNEMONIC_LEA && is_entry(scaled, 4) &&
                           scaled.mem.base == ZYDIS_REGISTER_NONE && scaled.mem.disp.value == 0 && index != sum;
    const bool is_load = all[kLoad].instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
                         all[kLoad].operands[0].reg.value == ZYDIS_REGISTER_EAX && is_entry(entry, 1) &&
                         entry.mem.disp.value == 0 && std::minmax(entry.mem.base, entry.mem.index) == std::minmax(index, sum);
    const bool is_sum = all[kAdd].instruction.mnemonic == ZYDIS_MNEMONIC_ADD && is_register(all[kAdd].operands[1]) &&
                        all[kAdd].operands[0].reg.value == sum && all[kAdd].operands[1].reg.value == base && base != sum;
    if (sum != ZYDIS_REGISTER_RAX || !address || all[kBase].operands[0].reg.value != sum || !is_scaled || !is_load || !is_sum ||
        all[kExtend].instruction.mnemonic != ZYDIS_MNEMONIC_CDQE ||
        address_taken(all[kBaseAgain], jump - kCount + kBaseAgain) != address)
      return false;
    tables_.insert({*address, false});
    return true;
  }

  // By `lea x(%rip)`.
  std::optional<uint64_t> address_taken(const Operated& one, size_t number) const {
    const ZydisDecodedOperand& from = one.operands[1];
    if (one.instruction.mnemonic != ZYDIS_MNEMONIC_LEA || !is_register(one.operands[0])) return std::nullopt;
    if (from.mem.base != ZYDIS_REGISTER_RIP) return std::nullopt;
    return address_behind(number) + static_cast<uint64_t>(from.mem.disp.value);
  }

  // jump: what follows `add %rB, %rX`. Before that there is an instruction that loads the entry.
  bool find_sum(size_t jump, ZydisRegister sum) {
    Operated add;
    if (!follows_previous(jump) || !decode(jump - 1, add) || add.instruction.mnemonic != ZYDIS_MNEMONIC_ADD) return false;
    if (!is_register(add.operands[0]) || !is_register(add.operands[1]) || add.operands[0].reg.value != sum) return false;
    const ZydisRegister other = add.operands[1].reg.value;
    for (size_t at = jump - 1; follows_previous(at); at--) {
      Operated one;
      if (!decode(at - 1, one) || all_[at - 1].flow == Flow::call) return false;
      const bool writes_sum = writes(one, sum), writes_other = writes(one, other);
      if (!writes_sum && !writes_other) continue;
      const ZydisDecodedOperand& entry = one.operands[1];
      const ZydisRegister base = writes_sum ? other : sum, loaded = writes_sum ? sum : other;
      const bool is_load = one.instruction.mnemonic == ZYDIS_MNEMONIC_MOVSXD && is_register(one.operands[0]) &&
                           one.operands[0].reg.value == loaded && base != loaded;
      return is_load && is_entry(entry, 4) && entry.mem.base == base && entry.mem.disp.value == 0 && find_bases(at - 1, base);
    }
    return false;
  }

  // Control reaches the instruction only from the one before it.
  bool follows_previous(size_t number) const { return number > 0 && !is_jumped_to(number) && falls_to(number); }
  // Control may reach it from the one before it.
  bool falls_to(size_t number) const {
    const Flow flow = all_[number - 1].flow;
    return flow != Flow::jump && flow != Flow::return_;
  }

  // A register before an instruction.
  using RegisterBefore = std::pair<size_t, ZydisRegister>;

  // Where the register is set, on all paths that lead to the instruction.
  bool find_bases(size_t use, ZydisRegister base) {
    open_ = {{use, base}};
    seen_.clear();
    while (!open_.empty()) {
      const auto [at, reg] = open_.back();
      open_.pop_back();
      if (!seen_.insert({at, reg}).second) continue;
      if (at == 0 || ++steps_ > kMostSteps) return false;  // it is set before the function begins
      const bool falls = falls_to(at), is_unknown = !falls && !ways_.contains(all_[at].offset);
      if (falls && !look_at(at - 1, reg)) return false;
      if (const auto from = ways_.find(all_[at].offset); from != ways_.end())
        for (const size_t jump : from->second) open_.emplace_back(jump, reg);
      const bool by_table = targets_.contains(all_[at].offset);
      if (is_unknown && !by_table && are_read_) {
        if (!is_padding(at)) return false;
        continue;
      }
      if ((is_unknown || by_table) && seen_.insert({all_.size(), reg}).second)
        for (const size_t jump : jumps_) open_.emplace_back(jump, reg);
    }
    return true;
  }

  // Behind a jump, before what is aligned.
  bool is_padding(size_t at) const {
    Operated one;
    return decode(at, one) && one.instruction.mnemonic == ZYDIS_MNEMONIC_NOP;
  }

  bool look_at(size_t at, ZydisRegister reg) {
    Operated one;
    if (!decode(at, one)) return false;
    if (!writes(one, reg)) {
      open_.emplace_back(at, reg);
      return all_[at].flow != Flow::call || outlives_calls(reg);
    }
    const ZydisDecodedOperand& from = one.operands[1];
    if (!is_register(one.operands[0]) || one.operands[0].reg.value != reg) return false;
    if (one.instruction.mnemonic == ZYDIS_MNEMONIC_MOV && is_register(from)) {
      open_.emplace_back(at, from.reg.value);
      return true;
    }
    const auto address = address_taken(one, at);
    if (address) tables_.insert({*address, false});
    return address.has_value();
  }

  bool read_tables() {
    are_read_ = true;
    return std::all_of(tables_.begin(), tables_.end(),
                       [&](const JumpTable& one) { return !read_.insert(one).second || read(one); });
  }

  // False: it is no table, or one without an end.
  bool read(const JumpTable& table) {
    const CodeBytes memory = source_.constants(table.address);
    const size_t count = table.count(memory);
    bool leads_to_code = true;
    for (size_t i = 0; i < count; i++) {
      const uint64_t target = table.target(memory, i);
      const auto offset = static_cast<int64_t>(target - source_.function);
      const bool inside = is_inside(offset);
      leads_to_code = leads_to_code && (inside || source_.is_code(target));
      if (i == 0 && (!leads_to_code || (inside && function_.at(static_cast<uint64_t>(offset)) == nullptr))) return false;
      if (i == 0 && inside && !table.is_absolute) own_.push_back(table.address);
      if (inside) targets_.insert(offset);
    }
    return count > 0 && !(leads_to_code && count == JumpTable::kMostEntries);
  }

  CodeBytes code_;
  FunctionCode& function_;
  const std::vector<MachineInstruction>& all_;
  const TableSource& source_;
  std::map<int64_t, std::vector<size_t>> ways_;  // by offset
  std::vector<size_t> jumps_;                    // that use tables
  std::set<JumpTable> tables_, read_;
  std::set<int64_t> targets_;
  std::vector<uint64_t> own_;  // those whose first entry leads into the function
  bool are_read_ = false;      // before that, all that is not jumped to may be a target
  std::vector<RegisterBefore> open_;
  std::set<RegisterBefore> seen_;
  size_t steps_ = 0;
};

}  // namespace

size_t JumpTable::count(CodeBytes memory) const { return std::min(memory.size() / entry_bytes(), kMostEntries); }

uint64_t JumpTable::target(CodeBytes memory, size_t entry) const {
  const unsigned char* bytes = memory.data() + entry * entry_bytes();
  uint64_t there = 0;
  int32_t distance = 0;
  if (is_absolute)
    std::memcpy(&there, bytes, sizeof there);
  else
    std::memcpy(&distance, bytes, sizeof distance);
  return is_absolute ? there : address + static_cast<uint64_t>(int64_t{distance});
}

void read_jump_tables(CodeBytes code, FunctionCode& function, const TableSource& source) {
  function.table_targets.clear();
  function.tables.clear();
  function.knows_tables = false;
  if (!function.is_complete || !function.has_table_jump()) return;
  TableReader reader(code, function, source);
  function.knows_tables = reader.read();
  if (function.knows_tables) function.table_targets = reader.targets(), function.tables = reader.tables();
}

}  // namespace dvm::runtime
