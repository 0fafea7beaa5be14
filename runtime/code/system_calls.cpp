// Covered by tests/unit/code/system_call_finder_test.cpp.

#include "runtime/code/system_calls.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "runtime/code/file_symbols.h"
#include "runtime/code/frame_index.h"
#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kOpcodeBytes = 2, kMostDecoded = 8;  // times the bytes of the file
constexpr unsigned char kSignalReturnNumber = 15;
constexpr std::array<std::array<unsigned char, kOpcodeBytes>, 3> kOpcodes = {{{0x0f, 0x05}, {0x0f, 0x34}, {0xcd, 0x80}}};

bool is_system_call(const Operated& one) {
  const ZydisMnemonic mnemonic = one.instruction.mnemonic;
  const bool is_interrupt = mnemonic == ZYDIS_MNEMONIC_INT && one.operands[0].imm.value.u == 0x80;
  return mnemonic == ZYDIS_MNEMONIC_SYSCALL || mnemonic == ZYDIS_MNEMONIC_SYSENTER || is_interrupt;
}

// Constants in registers, over instructions that run one behind the other.
class RegisterConstants {
 public:
  void run(const Operated& one) {
    const std::optional<uint32_t> made = made_by(one);
    if (one.instruction.meta.category == ZYDIS_CATEGORY_CALL) values_.clear();
    if (is_system_call(one)) values_.erase(ZYDIS_REGISTER_RAX);
    if (one.instruction.mnemonic == ZYDIS_MNEMONIC_PUSH && one.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
      pushed_ = static_cast<uint32_t>(one.operands[0].imm.value.u);
    else
      pushed_.reset();
    for (const ZydisDecodedOperand& operand : one.all())
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_write(operand)) values_.erase(whole(operand.reg.value));
    if (made) values_[whole(one.operands[0].reg.value)] = *made;
  }
  std::optional<uint32_t> at(ZydisRegister reg) const {
    const auto found = values_.find(whole(reg));
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  // The lower half of its first operand.
  std::optional<uint32_t> made_by(const Operated& one) const {
    const auto& [to, from] = std::tie(one.operands[0], one.operands[1]);
    if (to.type != ZYDIS_OPERAND_TYPE_REGISTER || to.size < 32) return std::nullopt;
    const bool is_of_register = from.type == ZYDIS_OPERAND_TYPE_REGISTER;
    switch (one.instruction.mnemonic) {
      case ZYDIS_MNEMONIC_MOV:
        if (from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return static_cast<uint32_t>(from.imm.value.u);
        return is_of_register ? at(from.reg.value) : std::nullopt;
      case ZYDIS_MNEMONIC_XOR:
        return is_of_register && from.reg.value == to.reg.value ? std::optional(0U) : std::nullopt;
      case ZYDIS_MNEMONIC_POP:
        return pushed_;
      default:
        return std::nullopt;
    }
  }

  std::map<ZydisRegister, uint32_t> values_;
  std::optional<uint32_t> pushed_;  // by the instruction before
};

// A function with the places that its jumps lead to.
class TargetedFunction {
 public:
  TargetedFunction() = default;
  TargetedFunction(uint64_t offset, uint64_t size, FunctionCode code) : offset_(offset), size_(size), code_(std::move(code)) {
    for (const MachineInstruction& one : code_.instructions)
      if (one.target && one.flow != Flow::call) targets_.insert(*one.target);
    targets_.insert(code_.table_targets.begin(), code_.table_targets.end());
  }
  bool is_at(uint64_t offset, uint64_t size) const { return size_ == size && offset_ == offset; }

  // The instructions that run one behind the other, up to the one at `end`. Jumps lead to the first of them at most, and none
  // to the one at `end`.
  std::vector<MachineInstruction> block_before(uint32_t end) const {
    std::vector<MachineInstruction> block;
    for (const MachineInstruction& one : code_.instructions) {
      if (targets_.contains(one.offset)) block.clear();
      if (one.offset >= end) break;
      block.push_back(one);
      if (one.flow == Flow::jump || one.flow == Flow::return_) block.clear();
    }
    return block;
  }

 private:
  uint64_t offset_ = 0, size_ = 0;
  FunctionCode code_;
  std::set<int64_t> targets_;
};

// The instructions of a function, up to the last byte asked for.
class FunctionSweep {
 public:
  FunctionSweep(uint64_t offset, CodeBytes code) : offset_(offset), code_(code) {}

  uint64_t offset() const { return offset_; }
  CodeBytes code() const { return code_; }
  // The offset in the function of the instruction that covers a byte of it. Bytes must be asked for in ascending order. Nothing:
  // an instruction before it is invalid.
  std::optional<uint64_t> covering(uint64_t byte) {
    while (next_ <= byte) {
      const auto one = decode_instruction(code_, static_cast<uint32_t>(next_));
      if (!one) return std::nullopt;
      begin_ = next_, next_ += one->length;
    }
    return begin_;
  }
  uint64_t decoded() const { return next_; }

 private:
  uint64_t offset_;
  CodeBytes code_;
  uint64_t begin_ = 0, next_ = 0;  // of the last instruction, and behind it
};

class SystemCallFinder {
 public:
  SystemCallFinder(const NamingFile& from, const DecodeFunction& decode)
      : from_(from), decode_(decode), symbols_(from.file), work_(kMostDecoded * from.file.size()) {}

  std::vector<SystemCallSite> find() {
    for (const FileSegment& segment : from_.code) find_in(segment);
    std::ranges::sort(found_, {}, &SystemCallSite::offset);
    return std::move(found_);
  }

 private:
  void find_in(const FileSegment& segment) {
    const CodeBytes bytes = from_.bytes_of(segment);
    std::vector<uint64_t> candidates;
    for (const auto& opcode : kOpcodes)
      for (size_t at = 0; at < bytes.size(); at++) {
        const void* next = memmem(bytes.data() + at, bytes.size() - at, opcode.data(), opcode.size());
        if (next == nullptr) break;
        at = static_cast<size_t>(static_cast<const unsigned char*>(next) - bytes.data());
        candidates.push_back(segment.offset + at);
      }
    std::ranges::sort(candidates);
    for (const uint64_t one : candidates) look_at(segment, one);
  }

  void look_at(const FileSegment& segment, uint64_t offset) {
    const uint64_t address = offset - segment.offset + segment.address;
    if (is_signal_return(offset)) return add_signal_return(offset);
    const SystemCallSite unknown{.offset = offset, .behind = offset + kOpcodeBytes};
    if (!enter_function(segment, address)) {
      if (symbols_.may_be_code(address)) found_.push_back(unknown);
      return;
    }
    const uint64_t decoded = sweep_->decoded(), byte = offset - sweep_->offset();
    const auto begin = sweep_->covering(byte);
    work_ -= std::min(work_, sweep_->decoded() - decoded);
    if (!begin) return found_.push_back(unknown);
    Operated one;
    if (one.decode(sweep_->code().subspan(*begin)) && is_system_call(one)) describe(*begin, one);
  }

  // The function that returns from signal handlers begins one byte early in the table of unwinders, so it cannot be decoded.
  bool is_signal_return(uint64_t offset) const {
    constexpr unsigned char kSignalReturn[] = {0x48, 0xc7, 0xc0, kSignalReturnNumber, 0, 0, 0, 0x0f, 0x05};
    constexpr uint64_t kMoveBytes = sizeof kSignalReturn - kOpcodeBytes;
    return offset >= kMoveBytes && std::memcmp(from_.file.data() + offset - kMoveBytes, kSignalReturn, sizeof kSignalReturn) == 0;
  }
  void add_signal_return(uint64_t offset) {
    found_.push_back({.offset = offset, .behind = offset + kOpcodeBytes, .number = kSignalReturnNumber});
  }

  // False: none is known there, or too much was decoded.
  bool enter_function(const FileSegment& segment, uint64_t address) {
    auto function = framed_function(from_.file, address);
    if (!function) function = symbols_.around(address);
    if (work_ == 0 || !function || !segment.has_address(function->address)) return false;
    const uint64_t offset = function->address - segment.address + segment.offset;
    const uint64_t size = std::min(function->size, segment.size - (offset - segment.offset));
    const bool is_same = sweep_ && sweep_->offset() == offset && sweep_->code().size() == size;
    if (!is_same) sweep_ = FunctionSweep(offset, from_.file.subspan(offset, size));
    return true;
  }

  void describe(uint64_t begin, const Operated& call) {
    const uint64_t offset = sweep_->offset() + begin;
    SystemCallSite made{.offset = offset, .behind = offset + call.instruction.length};
    made.is_of_32_bits = call.instruction.mnemonic != ZYDIS_MNEMONIC_SYSCALL;
    const uint64_t size = sweep_->code().size();
    if (!function_.is_at(sweep_->offset(), size)) function_ = {sweep_->offset(), size, decode_(sweep_->offset(), size)};
    const std::vector<MachineInstruction> block = function_.block_before(static_cast<uint32_t>(begin));
    RegisterConstants registers;
    for (const MachineInstruction& one : block) {
      Operated its;
      if (its.decode(sweep_->code().subspan(one.offset))) registers.run(its);
    }
    made.number = registers.at(ZYDIS_REGISTER_RAX);
    made.is_beside = !block.empty() && is_move_of_constant(sweep_->code().subspan(block.back().offset, block.back().length));
    found_.push_back(made);
  }

  static bool is_move_of_constant(CodeBytes instruction) {
    constexpr unsigned char kMoveToEax = 0xb8;
    return instruction.size() == 5 && instruction[0] == kMoveToEax;
  }

  const NamingFile& from_;
  const DecodeFunction& decode_;
  FileSymbols symbols_;
  std::vector<SystemCallSite> found_;
  std::optional<FunctionSweep> sweep_;
  TargetedFunction function_;
  uint64_t work_;  // bytes that may still be decoded
};

}  // namespace

std::vector<SystemCallSite> find_system_calls(const NamingFile& file, const DecodeFunction& decode) {
  return SystemCallFinder(file, decode).find();
}

}  // namespace dvm::runtime
