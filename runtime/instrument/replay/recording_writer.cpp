// Writes recordings. Covered by tests/unit/instrument/recording_test.cpp.

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "common/kernel_address.h"
#include "common/output_file.h"
#include "runtime/instrument/replay/recording.h"
#include "runtime/instrument/replay/recording_format.h"
#include "runtime/process/captured_numbers.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

using namespace recording;

uint32_t crc_of(const void* bytes, size_t size) {
  return static_cast<uint32_t>(crc32(0, static_cast<const Bytef*>(bytes), static_cast<uInt>(size)));
}

// Writes into a fixed space; once something did not fit, ok() is false.
class EventEncoder {
 public:
  explicit EventEncoder(std::span<std::byte> space) : space_(space) {}
  void put_bytes(const void* bytes, size_t size) noexcept {
    ok_ = ok_ && size <= space_.size() - used_;
    if (!ok_ || size == 0) return;
    std::memcpy(space_.data() + used_, bytes, size);
    used_ += size;
  }
  template <class T>
  void put(const T& value) noexcept {
    put_bytes(&value, sizeof(T));
  }
  size_t used() const noexcept { return used_; }
  bool ok() const noexcept { return ok_; }

 private:
  std::span<std::byte> space_;
  size_t used_ = 0;
  bool ok_ = true;
};

MemoryKind kind_of(const vm::CapturedMemory& memory) noexcept {
  if (memory.is_file) return MemoryKind::file;
  return memory.is_string ? MemoryKind::string : MemoryKind::bytes;
}

void put_pieces(EventEncoder& out, std::span<const vm::CapturedMemory> pieces) noexcept {
  for (const vm::CapturedMemory& memory : pieces) {
    out.put(MemoryHead{memory.address, static_cast<uint32_t>(memory.bytes.size()), kind_of(memory)});
    out.put_bytes(memory.bytes.data(), memory.bytes.size());
  }
}

void append(std::vector<std::byte>& out, const void* bytes, size_t size) {
  const auto* from = static_cast<const std::byte*>(bytes);
  out.insert(out.end(), from, from + size);
}

void append_text(std::vector<std::byte>& out, std::string_view text) {
  auto size = static_cast<uint16_t>(std::min<size_t>(text.size(), UINT16_MAX));
  append(out, &size, sizeof size);
  append(out, text.data(), size);
}

bool describe_site(const Probe& probe, ProbeHead& head) {
  uint64_t number = 0;
  if (const auto* uprobe = std::get_if<UprobeSite>(&probe.site)) {
    head.site = uprobe->is_return ? return_site : entry_site;
    head.pid = uprobe->pid;
    number = uprobe->offset;
  } else if (const auto* timer = std::get_if<TimerSite>(&probe.site)) {
    head.site = timer->every_cpu ? profile_site : tick_site;
    number = timer->period_ns;
  } else if (std::holds_alternative<TracepointSite>(probe.site)) {
    head.site = kernel_site;
  } else {
    return false;
  }
  head.number_low = static_cast<uint32_t>(number);
  head.number_high = static_cast<uint32_t>(number >> 32);
  return true;
}

}  // namespace

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::open(const std::string& path, int32_t target_pid) {
  auto output = open_output(path);
  if (!output) return output.error();
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter);
  writer->fd_ = output->fd;
  writer->path_ = path;
  writer->temporary_ = output->temporary;
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.machine = kMachine;
  header.wall = static_cast<int64_t>(read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC));
  header.target = target_pid;
  header.crc = crc_of(&header, offsetof(Header, crc));
  writer->write_all(&header, sizeof header);
  if (Status status = writer->status(); !status) return status.error();
  return writer;
}

RecordingWriter::RecordingWriter() {
  new_processes_.reserve(kProcesses);
  addresses_.make_room();
}

RecordingWriter::~RecordingWriter() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void RecordingWriter::write_all(const void* bytes, size_t size) noexcept {
  const auto* from = static_cast<const std::byte*>(bytes);
  while (size > 0 && error_ == 0) {
    ssize_t written = ::write(fd_, from, size);
    if (written < 0) {
      error_ = errno == EINTR ? 0 : errno;
      continue;
    }
    from += written;
    size -= static_cast<size_t>(written);
  }
}

void RecordingWriter::write_block(uint32_t kind, uint32_t count, std::span<const std::byte> payload) noexcept {
  BlockHead head{kind, static_cast<uint32_t>(payload.size()), crc_of(payload.data(), payload.size()), count};
  write_all(&head, sizeof head);
  write_all(payload.data(), payload.size());
}

void RecordingWriter::flush() noexcept {
  if (buffered_ > 0) write_block(recording::events, buffered_, std::span(buffer_).first(used_));
  used_ = 0;
  buffered_ = 0;
}

void RecordingWriter::add_probe(const Probe& probe, uint16_t unknown) {
  ProbeHead head{};
  head.unknown = unknown;
  for (const UnknownArgument& one : probe.unknown_arguments) head.unknown |= static_cast<uint16_t>(1U << one.number);
  head.id = probe.id;
  head.flags = static_cast<uint8_t>((probe.in_program ? kInProgram : 0) | (probe.spell_provider ? kSpellProvider : 0) |
                                    (probe.spell_function ? kSpellFunction : 0) | (probe.spell_name ? kSpellName : 0));
  if (probe.id > kLargestId || !describe_site(probe, head)) return;
  if (probe.id >= probes_.size()) probes_.resize(probe.id + 1);
  if (probes_[probe.id]) return;
  probes_[probe.id] = true;
  if (const auto* site = std::get_if<UprobeSite>(&probe.site)) note_placed(site->pid);
  std::vector<std::byte> payload;
  append(payload, &head, sizeof head);
  const std::string other_name = fmt::format("{}", fmt::join(probe.other_names, "\n"));  // of a function: no name has a newline
  for (const std::string* text : {&probe.provider, &probe.module, &probe.function, &probe.name, &probe.object, &other_name})
    append_text(payload, *text);
  write_block(recording::probes, 1, payload);
}

bool RecordingWriter::encode(const vm::Firing& firing) noexcept {
  EventHead head{};
  for_each_field(head, firing, [](auto& field, const auto& of_firing) { field = of_firing; });
  const auto memory = firing.memory.first(std::min<size_t>(firing.memory.size(), UINT8_MAX - changed_count_));
  head.memory = static_cast<uint8_t>(memory.size() + changed_count_);
  head.late = static_cast<uint16_t>(std::min(firing.late.size(), LateReads::kMostPieces));
  const auto kernel_stack = firing.kernel_stack.first(std::min<size_t>(firing.kernel_stack.size(), kMostFrames));
  const auto whole = firing.user_stack(), stack = whole.first(std::min<size_t>(whole.size(), kMostFrames));
  head.frames = static_cast<uint16_t>(kernel_stack.size() + stack.size());
  std::string_view execname = firing.execname.substr(0, UINT8_MAX - 1);
  head.execname = static_cast<uint8_t>(execname.empty() ? 0 : execname.size() + 1);
  for (size_t i = 0; i < firing.args.size(); i++) head.args |= static_cast<uint16_t>((firing.args[i] != 0) << i);

  EventEncoder out{std::span<std::byte>(buffer_).subspan(used_)};
  out.put(head);
  for (uint64_t arg : firing.args) {
    if (arg != 0) out.put(arg);
  }
  out.put_bytes(execname.data(), execname.size());
  if (head.execname > 0) out.put('\0');
  out.put_bytes(kernel_stack.data(), kernel_stack.size_bytes());
  out.put_bytes(stack.data(), stack.size_bytes());
  put_pieces(out, memory);
  put_pieces(out, std::span(changed_).first(changed_count_));
  put_pieces(out, firing.late.first(head.late));
  if (!out.ok()) return false;
  auto length = static_cast<uint32_t>(out.used());
  std::memcpy(buffer_.data() + used_, &length, sizeof length);
  used_ += out.used();
  return true;
}

void RecordingWriter::empty_buffer() noexcept {
  if (used_ > kBuffer / 2) flush();
}

bool RecordingWriter::write(const vm::Firing& firing) noexcept {
  if (firing.probe_id >= probes_.size() || !probes_[firing.probe_id]) return true;
  note_process(firing);
  find_changed(firing);
  if (!encode(firing)) {
    flush();
    if (!encode(firing)) {
      lost_++;
      return true;
    }
  }
  buffered_++;
  events_++;
  note_stack(firing);
  return used_ <= kBuffer / 2;
}

namespace {

// Slot of an entry, or a free slot for it. Nothing if the entry is new and there is no room: a quarter stays free so that a
// search ends soon.
template <class Entry, class IsFree, class IsIt>
std::optional<uint32_t> find_place(const std::vector<Entry>& table, uint64_t hash, size_t used, IsFree is_free, IsIt is_it) {
  size_t place = hash % table.size();
  while (!is_free(table[place]) && !is_it(table[place])) place = (place + 1) % table.size();
  if (is_free(table[place]) && used > table.size() / 4 * 3) return std::nullopt;
  return static_cast<uint32_t>(place);
}

}  // namespace

void RecordingWriter::note_placed(int32_t pid) {
  if (pid <= 0 || placed_.contains(pid)) return;
  SeenProcess& process = placed_[pid];
  std::array<char, kCommandLine> line;
  read_process_ids(pid, process.ids);
  process.command_line.assign(line.data(), read_command_line(pid, line));
  status_field(pid, "Name:").copy(process.name.data(), process.name.size() - 1);
}

// Processes beyond the available room have no ids in a replay.
void RecordingWriter::note_process(const vm::Firing& firing) noexcept {
  if (firing.pid == noted_pid_) return;
  noted_pid_ = firing.pid, noted_ = nullptr;
  if (firing.pid <= 0) return;
  const auto place = find_place(
      processes_, static_cast<uint32_t>(firing.pid), process_count_, [](const SeenProcess& p) { return p.pid == 0; },
      [&](const SeenProcess& p) { return p.pid == firing.pid; });
  if (!place) return;
  noted_ = &processes_[*place];
  if (noted_->pid != 0) return;
  SeenProcess& process = processes_[*place];
  process.pid = firing.pid;
  process_count_++;
  new_processes_.push_back(*place);
  const auto placed = placed_.find(firing.pid);
  if (!read_process_ids(firing.pid, process.ids) && placed != placed_.end()) process.ids = placed->second.ids;
  if (firing.uid >= 0) process.ids.uid = firing.uid, process.ids.gid = firing.gid;
  if (firing.ppid >= 0) process.ids.ppid = firing.ppid;
  firing.execname.copy(process.name.data(), process.name.size() - 1);  // the rest of the name is 0 already
}

void RecordingWriter::find_changed(const vm::Firing& firing) noexcept {
  const ProcessIds first = noted_ != nullptr ? noted_->ids : ProcessIds{};
  changed_count_ = 0;
  const auto check = [&](unsigned number, int64_t now, int64_t before) {
    if (now < 0 || now == before) return;
    int64_t& value = changed_values_[changed_count_] = now;
    changed_[changed_count_++] = {static_cast<uint64_t>(vm::CapturedMemory::kProcessNumber) + number,
                                  std::as_bytes(std::span(&value, 1)), false, true};
  };
  check(process_number::uid, firing.uid, first.uid);
  check(process_number::gid, firing.gid, first.gid);
  check(process_number::ppid, firing.ppid, first.ppid);
}

void RecordingWriter::note_stack(const vm::Firing& firing) noexcept {
  for (const uint64_t address : firing.user_stack()) addresses_.note(firing.pid, address);
  for (const uint64_t address : firing.kernel_stack) addresses_.note(kKernelPid, address);
}

void RecordingWriter::learn() {
  for (const uint32_t place : new_processes_) {
    std::array<char, kCommandLine> line;
    SeenProcess& process = processes_[place];
    process.command_line.assign(line.data(), read_command_line(process.pid, line));
    const auto placed = placed_.find(process.pid);
    const bool runs_same =
        placed != placed_.end() && placed->second.name == process.name;  // it may have executed another program
    if (process.command_line.empty() && runs_same) process.command_line = placed->second.command_line;
  }
  new_processes_.clear();
  addresses_.take_added([this](const SeenAddresses::SeenAddress& one) { symbols_->meet(one.pid, one.address); });
  symbols_->meet_again();
}

// Each entry's bytes, in as many blocks as they need.
template <class Entries, class Append>
void RecordingWriter::write_entries(uint32_t kind, const Entries& entries, Append append) {
  std::vector<std::byte> payload;
  uint32_t count = 0;
  for (const auto& entry : entries) {
    count += append(payload, entry);
    if (payload.size() < kBuffer) continue;
    write_block(kind, count, payload);
    payload.clear();
    count = 0;
  }
  if (count > 0) write_block(kind, count, payload);
}

namespace {

bool append_symbol(std::vector<std::byte>& out, const UserSymbols::Answers::value_type& entry) {
  const auto& [key, symbol] = entry;
  const SymbolHead head{key.first, 0, key.second, symbol.address, symbol.module_address};
  append(out, &head, sizeof head);
  append_text(out, symbol.module);
  append_text(out, symbol.function);
  return true;
}

void append_object(std::vector<std::byte>& out, int32_t pid, const MappedObject& object) {
  const ObjectHead head{pid, object.is_program ? kInProgram : 0u, object.address, object.offset};
  append(out, &head, sizeof head);
  append_text(out, object.name);
  append_text(out, object.path);
}

}  // namespace

void RecordingWriter::write_processes() {
  write_entries(recording::processes, processes_, [](std::vector<std::byte>& out, const SeenProcess& process) {
    if (process.pid == 0) return false;
    ProcessHead head{};
    head.pid = process.pid;
    for_each_id(head, process.ids, [](auto& field, const auto& id) { field = id; });
    append(out, &head, sizeof head);
    append_text(out, process.name.data());
    append_text(out, process.command_line);
    return true;
  });
}

void RecordingWriter::write_symbols() {
  for (const int32_t pid : symbols_->pids())
    write_entries(recording::objects, symbols_->objects(pid), [pid](std::vector<std::byte>& out, const MappedObject& object) {
      append_object(out, pid, object);
      return true;
    });
  write_entries(recording::symbols, symbols_->answers(), append_symbol);
}

void RecordingWriter::write_kernel() {
  std::vector<std::byte> payload;
  append_text(payload, this_kernel());
  write_block(recording::kernel, 1, payload);
}

std::string this_kernel() {
  utsname names{};
  return uname(&names) == 0 ? fmt::format("{} {}", names.release, names.version) : "";
}

Status RecordingWriter::status() const { return error_ == 0 ? Status() : cannot_write(path_, error_); }

Status RecordingWriter::finish(uint64_t drops) {
  if (fd_ < 0) return status();
  flush();
  learn();
  write_processes();
  write_symbols();
  write_kernel();
  Trailer trailer{events_, drops + lost_};
  write_block(recording::trailer, 1, std::as_bytes(std::span(&trailer, 1)));
  if (close(fd_) != 0 && error_ == 0) error_ = errno;
  fd_ = -1;
  if (error_ != 0) return status();
  return keep_output(path_, std::exchange(temporary_, {}));
}

}  // namespace dvm::runtime
