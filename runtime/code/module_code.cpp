// Maps a file and looks for jumps in it. Covered by tests/unit/code/module_code_test.cpp.

#include "runtime/code/module_code.h"

#include <sys/stat.h>

#include <algorithm>
#include <bitset>
#include <cstring>

#include "runtime/code/file_symbols.h"
#include "runtime/code/frame_index.h"
#include "runtime/code/jump_tables.h"
#include "runtime/code/known_tables.h"

namespace dvm::runtime {
namespace {

constexpr unsigned kCallBytes = 5;
constexpr uint64_t kNearReach = 128;  // of a jump with an offset of one byte

// The length of a jump, branch, call or xbegin with an offset of four bytes; 0: none begins here.
unsigned far_jump(const unsigned char* at) {
  if (at[0] == 0xe8 || at[0] == 0xe9) return 5;
  const bool is_branch = at[0] == 0x0f && (at[1] & 0xf0) == 0x80, is_transaction = at[0] == 0xc7 && at[1] == 0xf8;
  return is_branch || is_transaction ? 6 : 0;
}

// Its last four bytes say how far from its end.
uint64_t far_target(const unsigned char* code, uint64_t at, unsigned length) {
  int32_t by;
  std::memcpy(&by, code + length - sizeof by, sizeof by);
  return at + length + static_cast<uint64_t>(static_cast<int64_t>(by));
}

bool is_near_jump(unsigned char first) { return first == 0xeb || (first & 0xf0) == 0x70 || (first & 0xfc) == 0xe0; }

bool covers(const ModuleCode::Window& window, uint64_t target) {
  return target > window.function.offset && target <= window.last;
}

bool is_of(const FunctionExtent& function, uint64_t offset) {
  return offset >= function.offset && offset - function.offset < function.size;
}

// Windows may overlap.
class SortedWindows {
 public:
  explicit SortedWindows(std::vector<ModuleCode::Window>& windows) : windows_(windows) {
    std::ranges::sort(windows, {}, begin_of);
    for (const ModuleCode::Window& one : windows) {
      longest_ = std::max(longest_, one.last - one.function.offset);
      const uint64_t first = block_of(begin_of(one)), count = std::min(block_of(one.last) - first, kBlocks - 1) + 1;
      for (uint64_t i = 0; i < count; i++) touched_.set((first + i) % kBlocks);
    }
  }
  // By a jump at `from`, if that is known.
  void enter(uint64_t target, std::optional<uint64_t> from = {}) {
    if (!touched_[block_of(target) % kBlocks]) return;
    const uint64_t first = target - std::min(target, longest_);
    for (auto one = std::ranges::lower_bound(windows_, first, {}, begin_of); one != windows_.end() && begin_of(*one) < target;
         one++)
      if (covers(*one, target) && (!from || !is_of(one->function, *from))) one->is_entered = true;
  }

 private:
  static constexpr uint64_t kBlocks = 65536;
  static uint64_t begin_of(const ModuleCode::Window& window) { return window.function.offset; }
  static uint64_t block_of(uint64_t offset) { return offset / 256; }

  std::vector<ModuleCode::Window>& windows_;
  uint64_t longest_ = 0;
  std::bitset<kBlocks> touched_;  // blocks of bytes with a part of a window, so that most targets are not sought
};

}  // namespace

Result<std::unique_ptr<ModuleCode>> ModuleCode::open(const std::string& path) {
  const auto file = RegularFile::open(path);
  if (!file) return file.error();
  if (Status cost = check_cost(file->size(), file->bytes_on_disk()); !cost) return cost.error();
  auto mapped = MappedFile::map(*file);
  if (!mapped) return mapped.error();
  std::unique_ptr<ModuleCode> made(new ModuleCode(*std::move(mapped)));
  made->find_segments();
  return made;
}

void ModuleCode::find_segments() {
  Elf64_Ehdr header;
  if (file_.size() < sizeof header) return;
  std::memcpy(&header, file_.data(), sizeof header);
  is_fixed_ = header.e_type == ET_EXEC;
  uint64_t notes = file_.size();  // bytes of them that are read, however often segments overlap
  for (unsigned i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    const uint64_t at = header.e_phoff + i * sizeof segment;
    if (at > file_.size() || file_.size() - at < sizeof segment) return;
    std::memcpy(&segment, file_.data() + at, sizeof segment);
    if (segment.p_type == PT_NOTE && !is_go_) {
      const uint64_t size = std::min<uint64_t>(segment.p_filesz, notes);
      is_go_ = has_go_note(segment.p_offset, size);
      notes -= size;
    }
    if (segment.p_type == PT_GNU_EH_FRAME) frame_index_ = segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) dynamic_ = {segment.p_offset, segment.p_filesz, segment.p_vaddr};
    if (segment.p_type == PT_LOAD && segment.p_offset < file_.size()) add_segment(segment);
  }
}

void ModuleCode::add_segment(const Elf64_Phdr& segment) {
  constexpr size_t kMostSegments = 64;  // programs have five
  is_whole_ = is_whole_ && segments_.size() + data_.size() < kMostSegments;
  if (!is_whole_) return;
  const uint64_t size = std::min<uint64_t>(segment.p_filesz, file_.size() - segment.p_offset);
  const FileSegment made{segment.p_offset, size, segment.p_vaddr};
  if ((segment.p_flags & PF_X) != 0) return segments_.push_back(made);
  data_.push_back(made);
  if ((segment.p_flags & PF_W) == 0) constants_.push_back(made);
}

// Looks for Go's build id. If C's linker made the file, other notes lie before it.
bool ModuleCode::has_go_note(uint64_t offset, uint64_t size) const {
  constexpr char kGo[] = "Go\0";
  constexpr uint32_t kGoBuildId = 4;
  const auto padded = [](uint64_t length) { return (length + 3) / 4 * 4; };
  if (offset > file_.size()) return false;
  const uint64_t end = offset + std::min<uint64_t>(size, file_.size() - offset);
  Elf64_Nhdr note;
  for (uint64_t at = offset; at < end && end - at >= sizeof note + sizeof kGo;) {
    std::memcpy(&note, file_.data() + at, sizeof note);
    const bool is_named = note.n_namesz == sizeof kGo && std::memcmp(file_.data() + at + sizeof note, kGo, sizeof kGo) == 0;
    if (is_named && note.n_type == kGoBuildId) return true;
    at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
  }
  return false;
}

CodeBytes ModuleCode::bytes(uint64_t offset, uint64_t size) const {
  for (const FileSegment& segment : segments_) {
    if (offset < segment.offset || offset - segment.offset >= segment.size) continue;
    return file_.subspan(offset, std::min(size, segment.size - (offset - segment.offset)));
  }
  return {};
}

bool ModuleCode::has_code_in_pages(uint64_t offset, uint64_t size) const {
  constexpr uint64_t kPageBytes = 4096;
  for (uint64_t page = offset; page < offset + size; page += kPageBytes) {
    const auto has_part = [&](const FileSegment& one) {
      return one.size > 0 && one.offset < page + kPageBytes && one.offset + one.size > page;
    };
    if (std::ranges::none_of(segments_, has_part)) return false;
  }
  return true;
}

std::optional<FunctionExtent> ModuleCode::function_named(std::string_view name) const {
  const auto [known, is_new] = named_.try_emplace(std::string(name));
  if (!is_new) return known->second;
  const auto found = FileSymbols(file_).named(name);
  const auto offset = found ? offset_of_code(found->address) : std::nullopt;
  if (offset) known->second = {*offset, found->size, found->size};
  return known->second;
}

CodeBytes ModuleCode::constants(uint64_t address) const {
  for (const FileSegment& segment : constants_)
    if (segment.has_address(address)) return file_.subspan(segment.offset, segment.size).subspan(address - segment.address);
  return {};
}

CodeBytes ModuleCode::loaded(uint64_t address) const {
  if (const auto offset = offset_of_code(address)) return bytes(*offset, file_.size());
  for (const FileSegment& one : data_)
    if (one.has_address(address)) return file_.subspan(one.offset, one.size).subspan(address - one.address);
  return {};
}

std::optional<uint64_t> ModuleCode::offset_of_code(uint64_t address) const {
  for (const FileSegment& one : segments_)
    if (one.has_address(address)) return address - one.address + one.offset;
  return std::nullopt;
}

const FunctionCode& ModuleCode::decode(const FunctionExtent& function) const {
  const auto [decoded, is_new] = decoded_.try_emplace({function.offset, function.size});
  if (is_new) decoded->second = decode_anew(function);
  return decoded->second;
}

FunctionCode ModuleCode::decode_anew(const FunctionExtent& function) const {
  const CodeBytes code = bytes(function.offset, function.size);
  FunctionCode decoded = decode_function(code);
  const auto own = std::ranges::find_if(segments_, [&](const FileSegment& one) {
    return function.offset >= one.offset && function.offset - one.offset < one.size;
  });
  if (own == segments_.end()) return decoded;
  read_jump_tables(code, decoded,
                   {function.offset - own->offset + own->address, [&](uint64_t address) { return constants(address); },
                    [&](uint64_t address) { return offset_of_code(address).has_value(); }, is_fixed_});
  return decoded;
}

bool ModuleCode::has_call(uint64_t offset, uint64_t size, uint64_t to) const {
  constexpr unsigned char kCall = 0xe8;
  const CodeBytes code = bytes(offset, size);
  for (size_t at = 0; at + kCallBytes <= code.size(); at++)
    if (code[at] == kCall && far_target(code.data() + at, offset + at, kCallBytes) == to) return true;
  return false;
}

std::vector<uint64_t> ModuleCode::calls_of(uint64_t to) const {
  std::vector<uint64_t> found;
  for (const FileSegment& segment : segments_)
    for (uint64_t at = segment.offset; at < segment.offset + segment.size; at++)
      if (has_call(at, kCallBytes, to)) found.push_back(at);
  return found;
}

bool ModuleCode::is_entered(const Window& window) const {
  std::vector<Window> windows{window};
  find_entered(windows);
  return windows.front().is_entered;
}

void ModuleCode::find_entered(std::vector<Window>& windows) const {
  for (const FileSegment& segment : segments_) {
    look_far(segment, windows);
    for (Window& window : windows) look_near(segment, window);
  }
  look_by_names(windows);
  look_by_all_tables(windows);
}

void ModuleCode::look_far(const FileSegment& segment, std::vector<Window>& windows) const {
  constexpr uint64_t kLongest = 6;
  if (windows.empty() || segment.size < kLongest) return;
  SortedWindows sorted(windows);
  for (uint64_t at = segment.offset; at <= segment.offset + segment.size - kLongest; at++) {
    const unsigned length = far_jump(file_.data() + at);
    if (length != 0) sorted.enter(far_target(file_.data() + at, at, length), at);
  }
}

void ModuleCode::look_near(const FileSegment& segment, Window& window) const {
  const uint64_t end = segment.offset + segment.size;
  const uint64_t begin = window.function.offset;
  if (begin < segment.offset || begin >= end) return;
  const uint64_t from = begin - std::min(begin - segment.offset, kNearReach + 2);
  for (uint64_t at = from; at + 2 <= std::min(end, window.last + kNearReach); at++) {
    if (is_of(window.function, at) || !is_near_jump(file_[at])) continue;
    const auto by = static_cast<int8_t>(file_[at + 1]);
    if (!covers(window, at + 2 + static_cast<uint64_t>(static_cast<int64_t>(by)))) continue;
    if (!is_inside_instruction(segment, at)) window.is_entered = true;
  }
}

const NamedCode& ModuleCode::names() const {
  if (!names_) names_ = find_named_code(naming());
  return *names_;
}

const RestartableSequences& ModuleCode::restarts() const {
  if (!restarts_) restarts_ = find_restartable_sequences(naming());
  return *restarts_;
}

const std::vector<SystemCallSite>& ModuleCode::system_calls() const {
  const auto decode_at = [this](uint64_t offset, uint64_t size) { return decode_anew({offset, size, size}); };
  if (!system_calls_) system_calls_ = find_system_calls(naming(), decode_at);
  return *system_calls_;
}

// By addresses as the file has them.
bool ModuleCode::is_named(uint64_t begin, uint64_t last) const {
  return restarts().overlap(begin, last) || names().has_inside(begin, last);
}

// By segments with code.
const std::vector<std::vector<JumpReach>>& ModuleCode::computed() const {
  const auto is_code = [&](uint64_t address) { return offset_of_code(address).has_value(); };
  const auto are_together = [&](uint64_t jump, uint64_t base) {
    const auto function = framed_function(file_, jump);
    return function && base >= function->address && base - function->address < function->size;
  };
  const auto pointer = [&](uint64_t address) { return names().pointer_at(address); };
  const LoadedAddresses code(segments_), other(data_);
  const uint64_t first = std::min(code.first(), other.first()), last = std::max(code.last(), other.last());
  size_t work = kMostComputedWork;
  for (size_t i = computed_.size(); i < segments_.size(); i++)
    computed_.push_back(
        find_computed_jumps({file_.subspan(segments_[i].offset, segments_[i].size), segments_[i].address, is_fixed_, is_code,
                             [&](uint64_t address) { return loaded(address); }, are_together, pointer, first, last},
                            work));
  return computed_;
}

void ModuleCode::look_by_names(std::vector<Window>& windows) const {
  for (Window& window : windows) {
    if (!is_whole_) window.is_entered = true;
    for (const FileSegment& one : segments_) {
      const uint64_t offset = window.function.offset, begin = offset - one.offset + one.address;
      if (offset < one.offset || offset - one.offset >= one.size) continue;
      const uint64_t last = window.last - one.offset + one.address;
      const bool is_computed = std::ranges::any_of(
          computed(), [&](const std::vector<JumpReach>& reaches) { return is_reached(reaches, begin, last); });
      if (is_computed || is_named(begin, last)) window.is_entered = true;
    }
  }
}

const std::vector<uint64_t>& ModuleCode::known_tables() const {
  const auto decode_framed = [&](const FramedFunction& function) {
    const auto offset = offset_of_code(function.address);
    return offset ? decode_anew({*offset, function.size, function.size}) : FunctionCode{};
  };
  if (!known_tables_) known_tables_ = find_known_tables(file_, segments_, decode_framed);
  return *known_tables_;
}

// What is read beyond the end of a table may seem to lead anywhere. If it seems to lead into some window, tables are read again,
// up to the next table that is known.
void ModuleCode::look_by_all_tables(std::vector<Window>& windows) const {
  std::vector<Window> seen = windows;
  look_by_tables(seen, {});
  const auto entered = [](const std::vector<Window>& all) { return std::ranges::count(all, true, &Window::is_entered); };
  if (entered(seen) != entered(windows)) look_by_tables(windows, known_tables());
}

// All that code takes may be a table. Strings are among it, and functions, whose bytes would lead anywhere. Entries that are
// never used may have any value. `ends`: no table goes beyond the next one of these.
void ModuleCode::look_by_tables(std::vector<Window>& windows, std::span<const uint64_t> ends) const {
  constexpr size_t kMost = size_t{1} << 27, kMostUnused = 4;
  if (windows.empty()) return;
  size_t read = 0;
  SortedWindows sorted(windows);
  const auto enter = [&](uint64_t address) {
    const auto target = offset_of_code(address);
    if (target) sorted.enter(*target);
    return target.has_value();
  };
  for (const uint64_t address : names().taken) {
    const JumpTable table{address};
    const CodeBytes memory = loaded(address);
    const auto end = std::ranges::upper_bound(ends, address);
    const size_t room = end != ends.end() ? (*end - address) / table.entry_bytes() : SIZE_MAX;
    const size_t count = std::min(table.count(memory), room), most_unused = offset_of_code(address) ? 1 : kMostUnused;
    for (size_t i = 0, unused = 0; i < count && unused < most_unused && read <= kMost; i++, read++) {
      const uint64_t target = table.target(memory, i), distance = target - address;
      const bool is_used = enter(target), is_address = is_fixed_ && enter(distance);
      unused = is_used || is_address ? 0 : unused + 1;
    }
  }
  if (read <= kMost) return;
  for (Window& window : windows) window.is_entered = true;
}

// By the instructions from the beginning of the function around it, if that is known and all of it is code. The table of
// unwinders may give every function any size, so the work is bounded.
bool ModuleCode::is_inside_instruction(const FileSegment& segment, uint64_t offset) const {
  constexpr uint64_t kMostDecoded = 8;  // times the bytes of the file
  const auto function = framed_function(file_, offset - segment.offset + segment.address);
  if (!function || function->address < segment.address) return false;
  const FunctionExtent extent{function->address - segment.address + segment.offset, function->size, function->size};
  if (extent.offset != around_.offset || extent.size != around_.size) {
    const CodeBytes code = bytes(extent.offset, extent.size);
    if (code.size() > kMostDecoded * file_.size() - around_bytes_) return false;
    around_bytes_ += code.size();
    around_ = extent, around_code_ = decode_function(code);
  }
  return around_code_.is_complete && around_code_.at(offset - extent.offset) == nullptr;
}

bool ModuleCode::is_named_inside(const FunctionExtent& function) const {
  for (const FileSegment& one : segments_)
    if (function.offset >= one.offset && function.offset - one.offset < one.size && function.size > 0) {
      const uint64_t begin = function.offset - one.offset + one.address;
      return is_named(begin, begin + function.size - 1);
    }
  return false;
}

bool ModuleCode::is_restartable(uint64_t offset) const {
  return std::ranges::any_of(segments_, [&](const FileSegment& one) {
    const uint64_t address = offset - one.offset + one.address;
    return offset >= one.offset && offset - one.offset < one.size && restarts().overlap(address, address);
  });
}

std::shared_ptr<const ModuleCode> ModuleCodes::open(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return nullptr;
  const auto whole = [](auto number) { return static_cast<uint64_t>(number); };
  const Identity version{whole(status.st_dev),         whole(status.st_ino),          whole(status.st_size),
                         whole(status.st_mtim.tv_sec), whole(status.st_mtim.tv_nsec), whole(status.st_ctim.tv_sec),
                         whole(status.st_ctim.tv_nsec)};
  if (auto known = files_.find(version)) return known;
  auto opened = ModuleCode::open(path);  // one that fails may succeed the next time
  return opened ? files_.add(version, std::move(*opened)) : nullptr;
}

}  // namespace dvm::runtime
