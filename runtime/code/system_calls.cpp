// Covered by tests/unit/code/system_call_finder_test.cpp.

#include "runtime/code/system_calls.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <set>
#include <utility>

#include "runtime/code/constant_flow.h"
#include "runtime/code/dead_ends.h"
#include "runtime/code/file_symbols.h"
#include "runtime/code/frame_index.h"
#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kOpcodeBytes = 2, kMostFunctionBytes = uint64_t{1} << 20;
constexpr uint64_t kMostSwept = 8;  // times the bytes of the file
constexpr uint64_t kMoveBytes = 5;
constexpr unsigned char kSignalReturnNumber = 15;
constexpr std::array<std::array<unsigned char, kOpcodeBytes>, 3> kOpcodes = {{{0x0f, 0x05}, {0x0f, 0x34}, {0xcd, 0x80}}};

// Bit n: an opcode may begin at byte n. Reads kLanes bytes and one more.
constexpr size_t kLanes = 16;
unsigned opcodes_in(const unsigned char* code) {
  const auto load = [](const unsigned char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); };
  const auto are = [](__m128i bytes, unsigned char what) {
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(static_cast<char>(what)));
  };
  const __m128i first = load(code), second = load(code + 1);
  __m128i found = _mm_setzero_si128();
  for (const auto& opcode : kOpcodes) found = _mm_or_si128(found, _mm_and_si128(are(first, opcode[0]), are(second, opcode[1])));
  return static_cast<unsigned>(_mm_movemask_epi8(found));
}

// Ascending offsets.
std::vector<uint64_t> offsets_of_opcodes(CodeBytes code) {
  std::vector<uint64_t> offsets;
  size_t at = 0;
  for (; code.size() - at > kLanes; at += kLanes)
    for (unsigned found = opcodes_in(code.data() + at); found != 0; found &= found - 1)
      offsets.push_back(at + static_cast<unsigned>(std::countr_zero(found)));
  for (; at < code.size(); at++)
    if (begins_system_call(code.subspan(at))) offsets.push_back(at);
  return offsets;
}

bool is_system_call(const Operated& one) {
  const ZydisMnemonic mnemonic = one.instruction.mnemonic;
  const bool is_interrupt = mnemonic == ZYDIS_MNEMONIC_INT && one.operands[0].imm.value.u == 0x80;
  return mnemonic == ZYDIS_MNEMONIC_SYSCALL || mnemonic == ZYDIS_MNEMONIC_SYSENTER || is_interrupt;
}

// A function that makes system calls.
class CallingFunction {
 public:
  CallingFunction(uint64_t offset, CodeBytes bytes, FunctionCode code) : offset_(offset), bytes_(bytes), code_(std::move(code)) {
    for (const MachineInstruction& one : code_.instructions)
      if (one.target) targets_.insert(*one.target);
    targets_.insert(code_.table_targets.begin(), code_.table_targets.end());
  }
  CallingFunction(const CallingFunction&) = delete;
  CallingFunction& operator=(const CallingFunction&) = delete;

  bool is_at(uint64_t offset, size_t size) const { return offset_ == offset && bytes_.size() == size; }
  std::optional<uint32_t> number_at(uint64_t call) {
    uint32_t number = 0;
    if (!is_beside(call)) {
      if (!constants_) constants_.emplace(bytes_, code_);
      return constants_->at(call, ZYDIS_REGISTER_RAX);
    }
    load_value(bytes_, call - sizeof number, number);
    return number;
  }
  bool is_beside(uint64_t call) const {
    constexpr unsigned char kMoveToEax = 0xb8;
    const MachineInstruction* before = call < kMoveBytes ? nullptr : code_.at(call - kMoveBytes);
    return before != nullptr && before->length == kMoveBytes && bytes_[before->offset] == kMoveToEax &&
           !targets_.contains(static_cast<int64_t>(call));
  }

 private:
  uint64_t offset_;
  CodeBytes bytes_;
  FunctionCode code_;
  std::optional<ConstantFlow> constants_{};
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
      : from_(from), decode_(decode), work_(kMostSwept * from.file.size()) {}

  std::vector<SystemCallSite> find() {
    for (const FileSegment& segment : from_.code) find_in(segment);
    std::ranges::sort(found_, {}, &SystemCallSite::offset);
    return std::move(found_);
  }

 private:
  void find_in(const FileSegment& segment) {
    for (const uint64_t one : offsets_of_opcodes(from_.bytes_of(segment))) look_at(segment, segment.offset + one);
  }

  void look_at(const FileSegment& segment, uint64_t offset) {
    const uint64_t address = offset - segment.offset + segment.address;
    if (is_signal_return(offset)) return add_signal_return(offset);
    const bool is_in_function = enter_function(segment, address);
    std::optional<uint64_t> begin;
    if (is_in_function || enter_gap(segment, address)) begin = covering(offset);
    Operated one;
    if (!begin || !one.decode(sweep_->code().subspan(*begin))) return add_unknown(offset, address);
    if (!is_system_call(one)) return;
    is_in_function ? describe(*begin, one) : add_unknown(offset, address);
  }

  std::optional<uint64_t> covering(uint64_t offset) {
    const uint64_t decoded = sweep_->decoded();
    const auto begin = sweep_->covering(offset - sweep_->offset());
    spend(sweep_->decoded() - decoded);
    return begin;
  }
  const FileSymbols& symbols() {
    if (!symbols_) symbols_.emplace(from_.file);
    return *symbols_;
  }
  void spend(uint64_t work) { work_ -= std::min(work_, work); }

  // It may be data that lies among code.
  void add_unknown(uint64_t offset, uint64_t address) {
    const CodeAt code_at = [this](uint64_t at) { return code_from(at); };
    if (!symbols().may_be_code(address) || is_dead_end(code_at, address + kOpcodeBytes)) return;
    found_.push_back({.offset = offset, .behind = offset + kOpcodeBytes});
  }

  CodeBytes code_from(uint64_t address) const {
    for (const FileSegment& one : from_.code)
      if (one.has_address(address)) return from_.bytes_of(one).subspan(address - one.address);
    return {};
  }

  // The function that returns from signal handlers begins one byte early in the table of unwinders, so it cannot be decoded.
  bool is_signal_return(uint64_t offset) const {
    constexpr unsigned char kSignalReturn[] = {0x48, 0xc7, 0xc0, kSignalReturnNumber, 0, 0, 0, 0x0f, 0x05};
    constexpr uint64_t kBefore = sizeof kSignalReturn - kOpcodeBytes;
    return offset >= kBefore && std::memcmp(from_.file.data() + offset - kBefore, kSignalReturn, sizeof kSignalReturn) == 0;
  }
  void add_signal_return(uint64_t offset) {
    found_.push_back({.offset = offset, .behind = offset + kOpcodeBytes, .number = kSignalReturnNumber});
  }

  // False: none is known there, or too much was decoded. The same of the next two.
  bool enter_function(const FileSegment& segment, uint64_t address) {
    auto function = framed_function(from_.file, address);
    if (!function) function = symbols().before(address);
    const bool is_inside = function && address - function->address < function->size;
    return is_inside && enter(segment, function->address, function->size);
  }
  // Where no function is known, instructions follow one another from the end of the function before, or from the beginning of the
  // section.
  bool enter_gap(const FileSegment& segment, uint64_t address) {
    const auto framed = framed_before(from_.file, address), named = symbols().before(address);
    const auto section = symbols().section_of(address);
    if (!framed || !section) return false;
    uint64_t begin = std::max(framed->address + framed->size, section->address);
    if (named) begin = std::max(begin, named->address + named->size);
    return begin <= address && enter(segment, begin, segment.size);
  }
  bool enter(const FileSegment& segment, uint64_t address, uint64_t size) {
    if (work_ == 0 || !segment.has_address(address)) return false;
    const uint64_t offset = address - segment.address + segment.offset;
    const CodeBytes code = from_.file.subspan(offset, std::min(size, segment.size - (offset - segment.offset)));
    if (!sweep_ || sweep_->offset() != offset || sweep_->code().size() != code.size()) sweep_ = FunctionSweep(offset, code);
    return true;
  }

  void describe(uint64_t begin, const Operated& call) {
    const uint64_t offset = sweep_->offset() + begin;
    SystemCallSite made{.offset = offset, .behind = offset + call.instruction.length};
    made.is_of_32_bits = call.instruction.mnemonic != ZYDIS_MNEMONIC_SYSCALL;
    const size_t size = sweep_->code().size();
    if (!function_ || !function_->is_at(sweep_->offset(), size)) {
      spend(size);
      if (work_ == 0 || size > kMostFunctionBytes) return found_.push_back(made);
      function_.emplace(sweep_->offset(), sweep_->code(), decode_(sweep_->offset(), size));
    }
    made.number = function_->number_at(begin);
    made.is_beside = function_->is_beside(begin);
    found_.push_back(made);
  }

  const NamingFile& from_;
  const DecodeFunction& decode_;
  std::optional<FileSymbols> symbols_;  // large files have many, and seldom need them
  std::vector<SystemCallSite> found_;
  std::optional<FunctionSweep> sweep_;
  std::optional<CallingFunction> function_;
  uint64_t work_;  // bytes that may still be decoded
};

}  // namespace

bool begins_system_call(CodeBytes code) {
  return std::ranges::any_of(kOpcodes, [&](const auto& opcode) {
    return code.size() >= opcode.size() && std::equal(opcode.begin(), opcode.end(), code.begin());
  });
}

std::vector<SystemCallSite> find_system_calls(const NamingFile& file, const DecodeFunction& decode) {
  return SystemCallFinder(file, decode).find();
}

}  // namespace dvm::runtime
