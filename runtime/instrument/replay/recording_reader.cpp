// Reads recordings, which may hold anything. Covered by tests/unit/instrument/recording_test.cpp and
// tests/fuzz/recording_fuzz.cpp.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/clock.h"
#include "common/file_bytes.h"
#include "common/hot.h"
#include "runtime/instrument/replay/recording.h"
#include "runtime/instrument/replay/recording_format.h"
#include "runtime/symbol/demangle.h"

namespace dvm::runtime {
namespace {

using namespace recording;

uint32_t crc_of(const void* bytes, size_t size) {
  return static_cast<uint32_t>(crc32(0, static_cast<const Bytef*>(bytes), static_cast<uInt>(size)));
}

bool take_text(Decoder& from, std::string& text) {
  uint16_t size = 0;
  std::span<const std::byte> bytes;
  if (!from.take(size) || !from.take_bytes(size, bytes)) return false;
  text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find('\0') == std::string::npos;  // names are C strings for D
}

bool set_site(const ProbeHead& head, Probe& probe) {
  uint64_t number = head.number_low | uint64_t{head.number_high} << 32;
  switch (head.site) {
    case entry_site:
    case return_site:
      probe.site = UprobeSite{"", number, head.site == return_site, head.pid};
      return true;
    case tick_site:
    case profile_site:
      probe.site = TimerSite{number, head.site == profile_site};
      return number > 0 && number <= INT64_MAX;
    case kernel_site:
      probe.site = TracepointSite{};
      return true;
    default:
      return false;
  }
}

// A probe was written under the name that the recording run printed. Here its function is the symbol, whichever that was, and all
// names that people write are further ones.
void use_symbol(Probe& probe) {
  for (std::string& other : probe.other_names)
    if (demangle_without_arguments(other) == probe.function) {
      std::swap(other, probe.function);
      break;
    }
  for (std::string& name : demangled_names(probe.function, true))
    if (std::find(probe.other_names.begin(), probe.other_names.end(), name) == probe.other_names.end())
      probe.other_names.push_back(std::move(name));
}

bool take_probe(Decoder& from, Probe& probe) {
  ProbeHead head{};
  if (!from.take(head) || head.id == 0 || head.id > kLargestId || !set_site(head, probe)) return false;
  probe.id = head.id;
  probe.in_program = (head.flags & kInProgram) != 0;
  probe.spell_provider = (head.flags & kSpellProvider) != 0;
  probe.spell_function = (head.flags & kSpellFunction) != 0;
  probe.spell_name = (head.flags & kSpellName) != 0;
  for (size_t n = 0; n < kArguments; n++)
    if ((head.unknown >> n & 1) != 0) probe.unknown_arguments.push_back({n, "and the recording does not have it"});
  std::string other_name;
  if (!take_text(from, probe.provider) || !take_text(from, probe.module) || !take_text(from, probe.function) ||
      !take_text(from, probe.name) || !take_text(from, probe.object) || !take_text(from, other_name))
    return false;
  for (size_t begin = 0; begin < other_name.size();) {
    const size_t end = std::min(other_name.find('\n', begin), other_name.size());
    probe.other_names.push_back(other_name.substr(begin, end - begin));
    begin = end + 1;
  }
  use_symbol(probe);
  return true;
}

bool take_memory(Decoder& from, vm::CapturedMemory& memory) {
  MemoryHead head{};
  if (!from.take(head) || head.kind > MemoryKind::file || !from.take_bytes(head.size, memory.bytes)) return false;
  memory.address = head.address;
  memory.is_string = head.kind == MemoryKind::string;
  memory.is_file = head.kind == MemoryKind::file;
  return true;
}

bool take_execname(Decoder& from, size_t size, std::string_view& execname) {
  execname = "";
  if (size == 0) return true;
  std::span<const std::byte> bytes;
  if (!from.take_bytes(size, bytes) || bytes.back() != std::byte{0}) return false;
  execname = reinterpret_cast<const char*>(bytes.data());  // up to its first NUL
  return true;
}

}  // namespace

Error RecordingReader::corrupt(size_t offset, const std::string& reason) const {
  return Error{fmt::format("recording '{}', byte {}: {}", path_, offset, reason)};
}

Result<std::unique_ptr<RecordingReader>> RecordingReader::open(const std::string& path) {
  std::unique_ptr<RecordingReader> reader(new RecordingReader);
  reader->path_ = path;
  reader->fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st {};
  if (reader->fd_ < 0 || fstat(reader->fd_, &st) != 0) {
    return Error{fmt::format("failed to open recording '{}': {}", path, std::strerror(errno))};
  }
  if (!S_ISREG(st.st_mode)) return Error{fmt::format("failed to open recording '{}': it is not a regular file", path)};
  reader->size_ = static_cast<size_t>(st.st_size);
  if (Status header = reader->read_header(); !header) return header.error();
  if (Status blocks = reader->check_blocks(); !blocks) return blocks.error();
  reader->next_block_ = sizeof(Header);
  for (const Probe& probe : reader->probes_)
    if (const auto* site = std::get_if<UprobeSite>(&probe.site)) reader->objects_.try_emplace(site->pid);
  for (auto& [pid, objects] : reader->objects_) reader->symbols_->use_recorded(pid, std::move(objects));
  return reader;
}

Result<std::unique_ptr<RecordingReader>> RecordingReader::again() const {
  std::unique_ptr<RecordingReader> reader(new RecordingReader);
  reader->fd_ = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
  if (reader->fd_ < 0) return Error{fmt::format("failed to open recording '{}': {}", path_, std::strerror(errno))};
  reader->path_ = path_, reader->size_ = size_;
  reader->target_pid_ = target_pid_, reader->events_ = events_, reader->drops_ = drops_, reader->pieces_ = pieces_;
  reader->probes_ = probes_, reader->ids_ = ids_, reader->processes_ = processes_, reader->symbols_ = symbols_;
  reader->next_block_ = sizeof(Header);
  return reader;
}

RecordingReader::~RecordingReader() {
  if (fd_ >= 0) close(fd_);
}

bool RecordingReader::read_at(size_t offset, void* to, size_t size) const {
  return dvm::read_at(fd_, offset, {static_cast<std::byte*>(to), size});
}

Status RecordingReader::read_header() {
  Header header{};
  if (!read_at(0, &header, std::min(size_, sizeof header))) return corrupt(0, std::strerror(errno));
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) return corrupt(0, "this is not a recording of dvm");
  if (size_ < sizeof header) return corrupt(size_, "the file is cut short in its header");
  if (header.crc != crc_of(&header, offsetof(Header, crc))) return corrupt(0, "the header is damaged (its checksum is wrong)");
  if (header.version != kVersion) {
    return corrupt(16, fmt::format("the format has version {}, this dvm reads {}", header.version, kVersion));
  }
  if (header.machine != kMachine) return corrupt(20, fmt::format("it is of another machine ({})", header.machine));
  target_pid_ = header.target;
  return {};
}

// Reads the block at the offset into block_ and moves the offset behind it. Returns its kind.
Result<uint32_t> RecordingReader::read_block(size_t& offset) {
  BlockHead head{};
  if (size_ - offset < sizeof head) return corrupt(size_, "the file is cut short: its trailer is missing");
  if (!read_at(offset, &head, sizeof head)) return corrupt(offset, "the file cannot be read");
  if (head.kind < recording::probes || head.kind > recording::kernel) {
    return corrupt(offset, fmt::format("unknown kind of block ({})", head.kind));
  }
  if (head.length > kLargestBlock) return corrupt(offset, fmt::format("a block of {} bytes is too large", head.length));
  size_t begin = offset + sizeof head;
  if (size_ - begin < head.length) return corrupt(size_, fmt::format("the file is cut short in the block at byte {}", offset));
  block_.resize(head.length);
  if (!read_at(begin, block_.data(), head.length)) return corrupt(begin, "the file cannot be read");
  block_count_ = head.count;
  at_ = 0;
  offset = begin + head.length;
  return head.kind;
}

Status RecordingReader::check_blocks() {
  for (size_t offset = sizeof(Header);;) {
    size_t begin = offset;
    auto kind = read_block(offset);
    if (!kind) return kind.error();
    BlockHead head{};
    if (!read_at(begin, &head, sizeof head) || head.crc != crc_of(block_.data(), block_.size())) {
      return corrupt(begin, "the block is damaged (its checksum is wrong)");
    }
    if (Status checked = check_block(*kind, begin + sizeof head); !checked) return checked;
    if (*kind != recording::trailer) continue;
    return offset == size_ ? Status() : corrupt(offset, "something follows the trailer");
  }
}

Status RecordingReader::check_block(uint32_t kind, size_t offset) {
  struct BlockParser {
    uint32_t kind;
    bool (RecordingReader::*parse)();
    const char* what;
  };
  static constexpr BlockParser kBlockParsers[] = {
      {recording::probes, &RecordingReader::parse_probes, "a probe is malformed"},
      {recording::events, &RecordingReader::parse_events, "an event is malformed"},
      {recording::processes, &RecordingReader::parse_processes, "a process is malformed"},
      {recording::objects, &RecordingReader::parse_objects, "a mapped file is malformed"},
      {recording::symbols, &RecordingReader::parse_symbols, "a symbol is malformed"},
      {recording::kernel, &RecordingReader::parse_kernel, "the name of the kernel is malformed"},
      {recording::trailer, &RecordingReader::parse_trailer, "the number of events is wrong"},
  };
  for (const BlockParser& parser : kBlockParsers) {
    if (parser.kind == kind && !(this->*parser.parse)()) return corrupt(offset + at_, parser.what);
  }
  return {};
}

// All entries of the block, each with its place in at_ should it be malformed.
template <class TakeOne>
bool RecordingReader::parse_entries(TakeOne take_one) {
  Decoder from(block_);
  for (uint32_t i = 0; i < block_count_; i++) {
    at_ = block_.size() - from.left();
    if (!take_one(from)) return false;
  }
  return from.left() == 0;
}

bool RecordingReader::parse_probes() {
  return parse_entries([this](Decoder& from) {
    Probe probe;
    if (!take_probe(from, probe) || !ids_.insert(probe.id).second) return false;
    probes_.push_back(std::move(probe));
    return true;
  });
}

bool RecordingReader::parse_events() {
  vm::Firing firing;
  for (uint32_t i = 0; i < block_count_; i++) {
    if (!decode(firing)) return false;
    pieces_ += firing.memory.size() + firing.late.size();
  }
  events_ += block_count_;
  return at_ == block_.size();
}

bool RecordingReader::parse_kernel() {
  return parse_entries([this](Decoder& from) { return take_text(from, kernel_); });
}

bool RecordingReader::parse_processes() {
  return parse_entries([this](Decoder& from) {
    ProcessHead head{};
    RecordedProcess process;
    if (!from.take(head) || !take_text(from, process.name) || !take_text(from, process.command_line)) return false;
    process.pid = head.pid;
    for_each_id(head, process.ids, [](const auto& field, auto& id) { id = field; });
    processes_.push_back(std::move(process));
    return true;
  });
}

bool RecordingReader::parse_objects() {
  return parse_entries([this](Decoder& from) {
    ObjectHead head{};
    MappedObject object;
    if (!from.take(head) || !take_text(from, object.name) || !take_text(from, object.path)) return false;
    object.open_path = object.path;
    object.is_program = (head.flags & kInProgram) != 0;
    object.address = head.address;
    object.offset = head.offset;
    objects_[head.pid].push_back(std::move(object));
    return true;
  });
}

bool RecordingReader::parse_symbols() {
  return parse_entries([this](Decoder& from) {
    SymbolHead head{};
    UserSymbol symbol;
    if (!from.take(head) || !take_text(from, symbol.module) || !take_text(from, symbol.function)) return false;
    symbol.address = head.function;
    symbol.module_address = head.module;
    symbols_->use_recorded(head.pid, head.at, std::move(symbol));
    return true;
  });
}

bool RecordingReader::parse_trailer() {
  Decoder from(block_);
  Trailer trailer{};
  if (block_count_ != 1 || !from.take(trailer) || from.left() != 0) return false;
  drops_ = trailer.drops;
  return trailer.events == events_;
}

// They lie anywhere in the block: a firing has them as words. Those of the kernel come first.
bool RecordingReader::take_frames(Decoder& from, size_t count, vm::Firing& firing) {
  for (size_t i = 0; i < count; i++) {
    if (!from.take(frames_[i])) return false;
  }
  const auto all = std::span<const uint64_t>(frames_).first(count);
  const auto user = std::find_if(all.begin(), all.end(), [](uint64_t address) { return address >> 63 == 0; });
  const auto of_kernel = static_cast<size_t>(user - all.begin());
  firing.kernel_stack = all.first(of_kernel), firing.stack = all.subspan(of_kernel);
  return firing.kernel_stack.size() <= kMostFrames && firing.stack.size() <= kMostFrames;
}

// Takes the event at at_; false, and nothing moved, if it is malformed.
DVM_HOT bool RecordingReader::decode(vm::Firing& firing) {
  std::span<const std::byte> bytes = std::span<const std::byte>(block_).subspan(at_);
  EventHead head{};
  if (!Decoder(bytes).take(head) || head.length < sizeof head || head.length > bytes.size()) return false;
  if (!ids_.contains(head.probe_id) || head.args >> firing.args.size() != 0) return false;
  if (head.frames > frames_.size() || head.late > LateReads::kMostPieces) return false;
  Decoder from(bytes.subspan(sizeof head, head.length - sizeof head));
  firing = vm::Firing{};
  for_each_field(head, firing, [](const auto& field, auto& of_firing) { of_firing = field; });
  for (size_t i = 0; i < firing.args.size(); i++) {
    if ((head.args >> i & 1) != 0 && !from.take(firing.args[i])) return false;
  }
  if (!take_execname(from, head.execname, firing.execname) || !take_frames(from, head.frames, firing)) return false;
  const std::span<vm::CapturedMemory> pieces = std::span(memory_).first(size_t{head.memory} + head.late);
  for (vm::CapturedMemory& piece : pieces) {
    if (!take_memory(from, piece)) return false;
  }
  firing.memory = pieces.first(head.memory);
  firing.late = pieces.subspan(head.memory);
  if (from.left() != 0) return false;
  at_ += head.length;
  return true;
}

Status RecordingReader::add_probes(Catalog& catalog) const {
  for (const Probe& probe : probes_) {
    if (!catalog.add_with_id(probe)) {
      return Error{fmt::format("recording '{}': probe {} ({}:{}:{}:{}) is there twice", path_, probe.id, probe.provider,
                               probe.module, probe.function, probe.name)};
    }
  }
  return {};
}

DVM_HOT Result<bool> RecordingReader::next(vm::Firing& firing) {
  while (left_ == 0) {
    const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    auto kind = read_block(next_block_);
    reading_ns_ += read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
    if (!kind) return kind.error();
    if (*kind == recording::trailer) {
      next_block_ -= sizeof(BlockHead) + block_.size();  // to find it again
      return false;
    }
    if (*kind == recording::events) left_ = block_count_;
  }
  left_--;
  // open() has seen it in order, but someone may have written to the file since.
  if (!decode(firing)) return corrupt(next_block_ - block_.size() + at_, "an event is malformed");
  return true;
}

}  // namespace dvm::runtime
