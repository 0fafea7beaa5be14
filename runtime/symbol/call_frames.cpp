// Call frame information through libdw. Covered by tests/unit/instrument/unwinder_test.cpp.

#include "runtime/symbol/call_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <span>
#include <string_view>

#include "runtime/symbol/frame_program.h"
#include "runtime/symbol/open_elf.h"

namespace dvm::runtime {
namespace {

constexpr size_t kSets = 128;       // of kept rules, by the address modulo this
constexpr size_t kRulesInASet = 8;  // the latest first

struct FreeFrame {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

using Ops = std::span<const Dwarf_Op>;

bool fits(int64_t value) { return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max(); }

// "register + constant"; nothing for any other expression.
struct Sum {
  uint8_t base = 0;
  int32_t offset = 0;
};
std::optional<Sum> sum_of(const Dwarf_Op& op) {
  const bool is_short = op.atom >= DW_OP_breg0 && op.atom < DW_OP_breg0 + kReturnAddress;
  const bool is_long = op.atom == DW_OP_bregx && op.number < kReturnAddress;
  const auto offset = static_cast<int64_t>(is_short ? op.number : op.number2);
  if ((!is_short && !is_long) || !fits(offset)) return std::nullopt;
  return Sum{static_cast<uint8_t>(is_short ? op.atom - DW_OP_breg0 : op.number), static_cast<int32_t>(offset)};
}

bool read_cfa(Ops ops, FrameRule& rule) {
  rule.cfa_is_loaded = ops.size() == 2 && ops[1].atom == DW_OP_deref;
  const auto sum = ops.size() == 1 || rule.cfa_is_loaded ? sum_of(ops[0]) : std::nullopt;
  if (sum) rule.cfa_base = sum->base, rule.cfa_offset = sum->offset;
  return sum.has_value();
}

// "CFA + constant", which libdw writes in one way or the other; nothing for any other expression.
std::optional<int32_t> cfa_offset(Ops ops) {
  if (ops[0].atom != DW_OP_call_frame_cfa || ops.size() > 3) return std::nullopt;
  if (ops.size() == 1) return 0;
  const auto offset = static_cast<int64_t>(ops[1].number);
  const bool is_sum = ops.size() == 2 ? ops[1].atom == DW_OP_plus_uconst : ops[2].atom == DW_OP_plus;
  return is_sum && fits(offset) ? std::optional(static_cast<int32_t>(offset)) : std::nullopt;
}

// libdw: no operations and no room for them: the register is as it was; no operations: it is lost. An expression starts with the
// CFA, whether it has a use for it or not.
std::optional<FrameRule::SavedRegister> read_place(Ops ops, bool is_same) {
  using Kept = FrameRule::Kept;
  if (ops.empty()) return FrameRule::SavedRegister{is_same ? Kept::same : Kept::undefined, 0, 0};
  if (const auto offset = cfa_offset(ops)) return FrameRule::SavedRegister{Kept::at_cfa, 0, *offset};
  const auto sum = ops.size() <= 2 ? sum_of(ops.back()) : std::nullopt;
  const bool is_alone = ops.size() == 1 || ops[0].atom == DW_OP_call_frame_cfa;
  if (!sum || !is_alone) return std::nullopt;
  return FrameRule::SavedRegister{Kept::at_register, sum->base, sum->offset};
}

bool read_places(Dwarf_Frame* frame, FrameRule& rule) {
  for (unsigned number = 0; number < kFrameRegisters; number++) {
    Dwarf_Op room[3];
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_frame_register(frame, static_cast<int>(number), room, &ops, &count) != 0) return false;
    const auto place = read_place({ops, count}, ops == nullptr);
    if (place) rule.places[number] = *place;
    if (!place && number == kReturnAddress) return false;
    if (!place) rule.places[number].kept = FrameRule::Kept::undefined;
  }
  return true;
}

Elf_Data* eh_frame(Elf* elf) {
  Elf_Scn* section = find_section(elf, ".eh_frame");
  return section == nullptr ? nullptr : elf_getdata(section, nullptr);
}

// Bytes of a pointer by how it is encoded (DW_EH_PE_...); 0: that varies, or there is none.
size_t pointer_bytes(uint8_t encoding) {
  constexpr uint8_t kSize = 0x07, kAbsolute = 0x00, kOfTwo = 0x02, kOfFour = 0x03, kOfEight = 0x04;
  const uint8_t size = encoding & kSize;
  return size == kAbsolute || size == kOfEight ? 8 : size == kOfFour ? 4 : size == kOfTwo ? 2 : 0;
}

// Of the addresses in descriptions that refer to this entry; 0: its augmentation is of another form than compilers write.
size_t address_bytes(const Dwarf_CIE& cie) {
  std::span<const uint8_t> data(cie.augmentation_data, cie.augmentation_data_size);
  if (cie.augmentation[0] != 'z') return 0;
  for (const char kind : std::string_view(cie.augmentation + 1)) {
    if (kind == 'S' || kind == 'B') continue;  // without data
    if ((kind != 'R' && kind != 'L' && kind != 'P') || data.empty()) return 0;
    const size_t bytes = pointer_bytes(data[0]);
    if (kind == 'R') return bytes;
    const size_t taken = 1 + (kind == 'P' ? bytes : 0);
    if (taken > data.size() || (kind == 'P' && bytes == 0)) return 0;
    data = data.subspan(taken);
  }
  return sizeof(uint64_t);
}

// The instructions of a description, behind the addresses and the augmentation: | begin | size | length | ... | instructions |
std::optional<std::span<const uint8_t>> instructions(std::span<const uint8_t> description, size_t address) {
  if (address == 0 || description.size() <= 2 * address) return std::nullopt;
  const size_t length = description[2 * address];
  const size_t begin = 2 * address + 1 + length;
  if (length >= 0x80 || begin > description.size()) return std::nullopt;
  return description.subspan(begin);
}

bool all_keep_frame_pointers(Elf* elf) {
  Elf_Data* data = eh_frame(elf);
  const auto* ident = reinterpret_cast<const unsigned char*>(elf_getident(elf, nullptr));
  if (data == nullptr || data->d_buf == nullptr || ident == nullptr) return true;
  Dwarf_CFI_Entry entry;
  std::map<Dwarf_Off, size_t> addresses;  // bytes, by where the common entry lies
  for (Dwarf_Off at = 0, next = 0; dwarf_next_cfi(ident, data, true, at, &next, &entry) == 0; at = next) {
    if (dwarf_cfi_cie_p(&entry)) {
      addresses[at] = address_bytes(entry.cie);
      continue;
    }
    const auto program = instructions({entry.fde.start, entry.fde.end}, addresses[entry.fde.CIE_pointer]);
    if (!program || hides_caller(*program)) return false;
  }
  return true;
}

}  // namespace

struct CallFrames::File {
  explicit File(const std::string& path) : elf(path) {
    if (elf.get() != nullptr) cfi = dwarf_getcfi_elf(elf.get()), segments = code_segments(elf.get());
  }
  ~File() {
    if (cfi != nullptr) dwarf_cfi_end(cfi);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  OpenElf elf;
  Dwarf_CFI* cfi = nullptr;
  std::vector<LoadSegment> segments;
  std::optional<bool> keeps_frame_pointers;
};

CallFrames::CallFrames(std::unique_ptr<File> file) : file_(std::move(file)), rules_(kSets * kRulesInASet) {}
CallFrames::~CallFrames() = default;

std::unique_ptr<CallFrames> CallFrames::open(const std::string& path) {
  auto file = std::make_unique<File>(path);
  return file->cfi == nullptr ? nullptr : std::unique_ptr<CallFrames>(new CallFrames(std::move(file)));
}

std::optional<uint64_t> CallFrames::address_of(uint64_t offset) const {
  for (const LoadSegment& segment : file_->segments)
    if (offset >= segment.offset && offset - segment.offset < segment.size) return offset - segment.offset + segment.address;
  return std::nullopt;
}

const FrameRule& CallFrames::at(uint64_t address) {
  const auto set = std::span(rules_).subspan(address % kSets * kRulesInASet, kRulesInASet);
  const auto known = std::find_if(set.begin(), set.end(), [&](const FrameRule& rule) {  //
    return address >= rule.begin && address < rule.end;
  });
  if (known != set.end()) return *known;
  std::move_backward(set.begin(), set.end() - 1, set.end());
  return set.front() = look_up(address);
}

bool CallFrames::follows_call(uint64_t offset) const {
  constexpr size_t kLongest = 7;
  constexpr unsigned char kDirect = 0xe8, kIndirect = 0xff, kOpcode = 0x38, kIsCall = 0x10;
  std::array<unsigned char, kLongest + 1> code{};
  if (offset < kLongest || pread(file_->elf.fd(), code.data(), kLongest, static_cast<off_t>(offset - kLongest)) != kLongest)
    return false;
  if (code[kLongest - 5] == kDirect) return true;
  constexpr size_t kLengths[] = {2, 3, 4, 6, 7};  // by how the address is given
  return std::any_of(std::begin(kLengths), std::end(kLengths), [&](size_t length) {
    return code[kLongest - length] == kIndirect && (code[kLongest - length + 1] & kOpcode) == kIsCall;
  });
}

FrameRule CallFrames::look_up(uint64_t address) const {
  FrameRule rule{.begin = address, .end = address + 1, .places = {}};
  Dwarf_Frame* found = nullptr;
  if (dwarf_cfi_addrframe(file_->cfi, address, &found) != 0) return rule;
  const std::unique_ptr<Dwarf_Frame, FreeFrame> frame(found);
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  Dwarf_Addr begin = 0, end = 0;
  if (dwarf_frame_cfa(found, &ops, &count) != 0 || !read_cfa({ops, count}, rule)) return rule;
  if (dwarf_frame_info(found, &begin, &end, &rule.is_signal) != static_cast<int>(kReturnAddress)) return rule;
  if (begin <= address && address < end) rule.begin = begin, rule.end = end;
  rule.is_known = read_places(found, rule);
  return rule;
}

bool CallFrames::keeps_frame_pointers() {
  if (!file_->keeps_frame_pointers) file_->keeps_frame_pointers = all_keep_frame_pointers(file_->elf.get());
  return *file_->keeps_frame_pointers;
}

std::shared_ptr<CallFrames> CallFramesCache::open(const std::string& path) {
  const auto key = FileKey::of(path);
  return key ? open(*key, {path}) : nullptr;
}

std::shared_ptr<CallFrames> CallFramesCache::open(const FileKey& key, std::initializer_list<std::string_view> paths) {
  auto opened = files_.find(key);
  for (auto path = paths.begin(); path != paths.end() && !opened; path++) {
    const std::string name(*path);
    if (const auto found = FileKey::of(name); found && found->looks_like(key))
      opened = files_.add(key, std::make_shared<CachedFrames>(CachedFrames{CallFrames::open(name)}));
  }
  return opened && opened->frames ? std::shared_ptr<CallFrames>(opened, opened->frames.get()) : nullptr;
}

}  // namespace dvm::runtime
