// Recordings written and read back; files that are damaged, cut short or cannot be written.

#include "runtime/instrument/replay/recording.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/instrument/replay/recording_format.h"
#include "runtime/process/captured_numbers.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::runtime {
namespace {

using testing::HasSubstr;

Probe uprobe(uint32_t id, const std::string& function, bool is_return) {
  Probe probe;
  probe.id = id;
  probe.provider = "pid42";
  probe.module = "libc.so.6";
  probe.function = function;
  probe.name = is_return ? "return" : "entry";
  probe.site = UprobeSite{"/proc/42/root/libc.so.6", 0x123456789abc, is_return, 42};
  probe.object = "/usr/lib/libc.so.6";
  return probe;
}

Probe tick(uint32_t id) {
  Probe probe;
  probe.id = id;
  probe.provider = "profile";
  probe.name = "tick-1s";
  probe.site = TimerSite{1'000'000'000, false};
  return probe;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_end(RecordingReader& reader) {
  vm::Firing firing;
  const auto goes_on = reader.next(firing);
  ASSERT_TRUE(goes_on);
  EXPECT_FALSE(*goes_on);
}

class Recording : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + fmt::format("recording-{}", getpid());
    std::filesystem::create_directory(folder_);
    path_ = folder_ + "/file.dvm";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  size_t files() const {
    auto all = std::filesystem::directory_iterator(folder_);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  // Two probes and `count` firings of them by turns, with strings, args and names.
  void write_sample(uint64_t count, uint64_t drops = 0) {
    auto writer = RecordingWriter::open(path_, 42);
    ASSERT_TRUE(writer) << writer.error().message;
    (*writer)->add_probe(uprobe(5, "malloc", false));
    (*writer)->add_probe(uprobe(9, "malloc", true));
    for (uint64_t i = 0; i < count; i++) write_firing(**writer, i);
    EXPECT_EQ((*writer)->events(), count);
    ASSERT_TRUE((*writer)->finish(drops));
  }

  static void write_firing(RecordingWriter& writer, uint64_t i) {
    std::string text = fmt::format("string {}", i);
    vm::CapturedMemory memory[] = {{0x1000 + i, std::as_bytes(std::span(text.c_str(), text.size() + 1)), true},
                                   {0x2000, std::as_bytes(std::span(&i, 1)), false}};
    vm::Firing firing;
    firing.probe_id = i % 2 == 0 ? 5 : 9;
    firing.timestamp = 1000 + i;
    firing.walltimestamp = 5000 + i;
    firing.vtimestamp = 7 * i;
    firing.pid = getpid();
    firing.tid = getpid() + static_cast<int32_t>(i % 3);
    firing.cpu = static_cast<int32_t>(i % 2);
    firing.error_number = 2;
    firing.args = {0x1000 + i, 0, i, 0, 0, 0, 0, 0, 0, ~i};
    firing.execname = "sample";
    firing.memory = memory;
    const std::array<uint64_t, 2> stack = {0x3000 + i, 0x4000};
    firing.stack = stack;
    vm::CapturedMemory late{0x5000, std::as_bytes(std::span("late", 4)), false};
    firing.late = std::span(&late, i % 2);
    writer.write(firing);
  }

  std::string open_error() {
    auto reader = RecordingReader::open(path_);
    return reader ? std::string("opened") : reader.error().message;
  }

  void overwrite(std::string_view bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  std::string folder_, path_;
};

TEST_F(Recording, KeepsAllThatAFiringHas) {
  write_sample(10, 3);
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->events(), 10U);
  EXPECT_EQ((*reader)->pieces(), 25U);  // of memory: two each, and one that was read late of every second
  EXPECT_EQ((*reader)->drops(), 3U);
  EXPECT_EQ((*reader)->target_pid(), 42);
  vm::Firing firing;
  for (uint64_t i = 0; i < 10; i++) {
    auto found = (*reader)->next(firing);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(firing.probe_id, i % 2 == 0 ? 5U : 9U);
    EXPECT_EQ(firing.timestamp, 1000 + i);
    EXPECT_EQ(firing.walltimestamp, 5000 + i);
    EXPECT_EQ(firing.vtimestamp, 7 * i);
    EXPECT_EQ(firing.pid, getpid());
    EXPECT_EQ(firing.tid, getpid() + static_cast<int32_t>(i % 3));
    EXPECT_EQ(firing.cpu, static_cast<int32_t>(i % 2));
    EXPECT_EQ(firing.error_number, 2);
    EXPECT_EQ(firing.args, (decltype(vm::Firing::args){0x1000 + i, 0, i, 0, 0, 0, 0, 0, 0, ~i}));
    EXPECT_EQ(firing.execname, "sample");
    EXPECT_EQ(firing.execname.data()[firing.execname.size()], '\0');
    ASSERT_EQ(firing.memory.size(), 2U);
    EXPECT_EQ(firing.memory[0].address, 0x1000 + i);
    EXPECT_TRUE(firing.memory[0].is_string);
    EXPECT_STREQ(reinterpret_cast<const char*>(firing.memory[0].bytes.data()), fmt::format("string {}", i).c_str());
    EXPECT_FALSE(firing.memory[1].is_string);
    EXPECT_EQ(firing.memory[1].bytes.size(), 8U);
    EXPECT_EQ(std::memcmp(firing.memory[1].bytes.data(), &i, 8), 0);
    EXPECT_THAT(firing.stack, testing::ElementsAre(0x3000 + i, 0x4000));
    ASSERT_EQ(firing.late.size(), i % 2);
    for (const vm::CapturedMemory& late : firing.late) EXPECT_EQ(std::memcmp(late.bytes.data(), "late", 4), 0);
  }
  expect_end(**reader);
  expect_end(**reader);
}

TEST_F(Recording, KeepsProbesAndProcesses) {
  auto writer = RecordingWriter::open(path_, 0);
  ASSERT_TRUE(writer);
  Probe program = uprobe(7, "_Z1fi", false);
  program.in_program = true;
  program.other_names = {"f"};
  program.spell_name = true;
  program.unknown_arguments = {{3, "since it is a long double"}};
  (*writer)->add_probe(program, 1U << 9);
  (*writer)->add_probe(program);
  (*writer)->add_probe(tick(8));
  Probe begin;
  begin.id = 1;
  begin.name = "BEGIN";
  (*writer)->add_probe(begin);
  vm::Firing firing;
  firing.probe_id = 7;
  firing.pid = getpid();
  firing.execname = "a-name";
  (*writer)->write(firing);
  firing.probe_id = 1;  // BEGIN: not recorded
  (*writer)->write(firing);
  firing.probe_id = 4000;
  (*writer)->write(firing);
  ASSERT_TRUE((*writer)->finish(0));

  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->events(), 1U);
  Catalog catalog;
  ASSERT_TRUE((*reader)->add_probes(catalog));
  ASSERT_EQ(catalog.size(), 2U);
  const Probe* probe = catalog.match({"pid42", "a.out", "f", "entry"}).at(0);
  EXPECT_EQ(probe->id, 7U);
  EXPECT_EQ(probe->object, "/usr/lib/libc.so.6");
  EXPECT_TRUE(probe->spell_name && !probe->spell_function);
  ASSERT_EQ(probe->unknown_arguments.size(), 2U);
  EXPECT_EQ(probe->unknown_arguments[0].number, 3U);
  EXPECT_EQ(probe->unknown_arguments[1].number, 9U);
  EXPECT_EQ(std::get<UprobeSite>(probe->site).offset, 0x123456789abcU);
  EXPECT_EQ(std::get<UprobeSite>(probe->site).pid, 42);
  EXPECT_EQ(std::get<TimerSite>(catalog.find(8)->site).period_ns, 1'000'000'000U);
  ASSERT_EQ((*reader)->processes().size(), 1U);
  const RecordedProcess& process = (*reader)->processes()[0];
  EXPECT_EQ(process.pid, getpid());
  EXPECT_EQ(process.ids.ppid, getppid());
  EXPECT_EQ(process.ids.uid, getuid());
  EXPECT_EQ(process.ids.sid, getsid(0));
  EXPECT_EQ(process.ids.egid, getegid());
  EXPECT_EQ(process.name, "a-name");
  EXPECT_THAT(process.command_line, HasSubstr("recording_test"));
  EXPECT_FALSE((*reader)->add_probes(catalog));  // they are there already
}

TEST_F(Recording, KeepsTheIdsThatAProcessHasChanged) {
  auto writer = RecordingWriter::open(path_, 0);
  ASSERT_TRUE(writer);
  (*writer)->add_probe(tick(8));
  vm::Firing firing;
  firing.probe_id = 8, firing.pid = getpid();
  firing.uid = 5, firing.gid = 6, firing.ppid = 7;
  (*writer)->write(firing);
  firing.uid = 50, firing.ppid = 70;
  (*writer)->write(firing);
  firing.uid = firing.gid = firing.ppid = -1;  // not captured
  (*writer)->write(firing);
  ASSERT_TRUE((*writer)->finish(0));

  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->processes().at(0).ids.uid, 5);
  const auto changed = [&](unsigned number) { return captured_number(firing.memory, number).value_or(0); };
  ASSERT_TRUE((*reader)->next(firing));
  EXPECT_TRUE(firing.memory.empty());
  ASSERT_TRUE((*reader)->next(firing));
  EXPECT_EQ(changed(process_number::uid), 50);
  EXPECT_EQ(changed(process_number::gid), 0);
  EXPECT_EQ(changed(process_number::ppid), 70);
  ASSERT_TRUE((*reader)->next(firing));
  EXPECT_TRUE(firing.memory.empty());
}

TEST_F(Recording, KeepsTheNamesOfWhatIsOnAStackAndOfWhatWasAskedFor) {
  auto writer = RecordingWriter::open(path_, 0);
  ASSERT_TRUE(writer);
  (*writer)->add_probe(uprobe(5, "malloc", false));
  (*writer)->symbols()->use_recorded(9, 0x10, {"module", "function", 0x8, 0x4});
  vm::Firing firing;
  firing.probe_id = 5;
  firing.pid = 8;
  const std::array<uint64_t, 3> stack = {0x10001020, 0x10001020, 0x77};
  firing.stack = stack;
  MappedObject here = UserSymbols().objects(getpid()).front();
  here.address = 0x10001000;
  (*writer)->symbols()->use_recorded(8, {here});
  (*writer)->write(firing);
  (*writer)->learn();
  ASSERT_TRUE((*writer)->finish(0));

  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  UserSymbols& symbols = *(*reader)->symbols();
  EXPECT_EQ(symbols.find(9, 0x10)->function, "function");
  EXPECT_EQ(symbols.find(9, 0x10)->module_address, 0x4U);
  EXPECT_EQ(symbols.find(8, 0x10001020)->module, here.name);
  EXPECT_FALSE(symbols.find(8, 0x77));
  ASSERT_EQ(symbols.objects(8).size(), 1U);
  EXPECT_EQ(symbols.objects(8)[0].path, here.path);
  EXPECT_EQ(symbols.objects(8)[0].offset, here.offset);
  EXPECT_TRUE(symbols.objects(8)[0].is_program);
}

TEST_F(Recording, OfManyBlocksIsWhole) {
  write_sample(50'000);
  EXPECT_GT(bytes_of(path_).size(), 4'000'000U);
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  vm::Firing firing;
  for (uint64_t i = 0; i < 50'000; i++) {
    auto found = (*reader)->next(firing);
    ASSERT_TRUE(found && *found);
    ASSERT_EQ(firing.args[2], i);
  }
}

TEST_F(Recording, ReadAgainIsTheSameFromItsBeginning) {
  write_sample(3);
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  vm::Firing firing;
  ASSERT_TRUE((*reader)->next(firing));
  auto again = (*reader)->again();
  ASSERT_TRUE(again) << again.error().message;
  reader->reset();
  EXPECT_EQ((*again)->events(), 3U);
  EXPECT_EQ((*again)->probes().size(), 2U);
  for (uint64_t i = 0; i < 3; i++) {
    auto found = (*again)->next(firing);
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(firing.args[2], i);
  }
  expect_end(**again);
}

TEST_F(Recording, WithoutAFiringIsARecordingToo) {
  write_sample(0);
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->probes().size(), 2U);
  expect_end(**reader);
}

TEST_F(Recording, AFiringTooLargeToKeepIsADrop) {
  auto writer = RecordingWriter::open(path_, 0);
  ASSERT_TRUE(writer);
  (*writer)->add_probe(uprobe(5, "f", false));
  std::vector<std::byte> much(300'000);
  vm::CapturedMemory memory{0, much, false};
  vm::Firing firing;
  firing.probe_id = 5;
  firing.memory = std::span(&memory, 1);
  (*writer)->write(firing);
  ASSERT_TRUE((*writer)->finish(2));
  auto reader = RecordingReader::open(path_);
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->events(), 0U);
  EXPECT_EQ((*reader)->drops(), 3U);
}

TEST_F(Recording, UnfinishedLeavesNothingBehind) {
  overwrite("what was there");
  {
    auto writer = RecordingWriter::open(path_, 0);
    ASSERT_TRUE(writer);
    (*writer)->add_probe(uprobe(5, "f", false));
    EXPECT_EQ(files(), 2U);
  }
  EXPECT_EQ(files(), 1U);
  EXPECT_EQ(bytes_of(path_), "what was there");
}

TEST_F(Recording, FinishedTakesTheNameAndKeepsTheMode) {
  overwrite("what was there");
  std::filesystem::permissions(path_, std::filesystem::perms(0640));
  std::filesystem::create_symlink("file.dvm", folder_ + "/link");
  path_ = folder_ + "/link";
  write_sample(1);
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
  EXPECT_EQ(open_error(), "opened");
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(files(), 2U);
}

TEST_F(Recording, ADeviceIsWrittenAndStaysADevice) {
  path_ = "/dev/null";
  write_sample(10);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  path_ = "/dev/full";
  auto writer = RecordingWriter::open(path_, 0);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().message, "failed to write '/dev/full': No space left on device");
}

TEST_F(Recording, WhatCannotBeWrittenIsAnError) {
  for (const std::string& path : {folder_ + "/none/file", folder_, std::string(), std::string("/proc/nofile")}) {
    auto writer = RecordingWriter::open(path, 0);
    ASSERT_FALSE(writer) << path;
    EXPECT_THAT(writer.error().message, HasSubstr("failed to write '" + path + "'"));
  }
  EXPECT_EQ(files(), 0U);
}

TEST_F(Recording, AFullDiskIsAnErrorAndLeavesNothingBehind) {
  auto writer = RecordingWriter::open(path_, 0);
  ASSERT_TRUE(writer);
  (*writer)->add_probe(uprobe(5, "f", false));
  (*writer)->add_probe(uprobe(9, "f", true));
  signal(SIGXFSZ, SIG_IGN);
  rlimit old{}, small{100'000, RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &old);
  small.rlim_max = old.rlim_max;
  setrlimit(RLIMIT_FSIZE, &small);
  for (uint64_t i = 0; i < 10'000; i++) write_firing(**writer, i);
  EXPECT_FALSE((*writer)->status());
  Status finished = (*writer)->finish(0);
  setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(finished);
  EXPECT_THAT(finished.error().message, HasSubstr("File too large"));
  writer->reset();
  EXPECT_EQ(files(), 0U);
}

TEST_F(Recording, CutShortAnywhereIsAnError) {
  write_sample(3);
  std::string whole = bytes_of(path_);
  fuzz::MemoryFile file;  // written often
  path_ = file.path();
  for (size_t size = 0; size < whole.size(); size++) {
    overwrite(std::string_view(whole).substr(0, size));
    EXPECT_THAT(open_error(), HasSubstr(fmt::format("recording '{}', byte ", path_))) << size;
  }
  overwrite(std::string_view(whole).substr(0, whole.size() - 5));
  EXPECT_THAT(open_error(), HasSubstr(fmt::format("byte {}: the file is cut short", whole.size() - 5)));
  overwrite(whole + "x");
  EXPECT_THAT(open_error(), HasSubstr(fmt::format("byte {}: something follows the trailer", whole.size())));
}

TEST_F(Recording, AnyChangedByteIsAnError) {
  write_sample(3);
  std::string whole = bytes_of(path_);
  fuzz::MemoryFile file;  // written often
  path_ = file.path();
  for (size_t at = 0; at < whole.size(); at++) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x21);
    overwrite(changed);
    EXPECT_THAT(open_error(), HasSubstr("byte ")) << at;
  }
}

TEST_F(Recording, OtherFilesAreNamedAsSuch) {
  overwrite("#!/usr/bin/dvm\n");
  EXPECT_THAT(open_error(), HasSubstr("byte 0: this is not a recording of dvm"));
  overwrite("");
  EXPECT_THAT(open_error(), HasSubstr("not a recording"));
  path_ = folder_ + "/none";
  EXPECT_THAT(open_error(), HasSubstr("No such file"));
  path_ = folder_;
  EXPECT_THAT(open_error(), HasSubstr("not a regular file"));
  path_ = "/dev/zero";
  EXPECT_THAT(open_error(), HasSubstr("not a regular file"));
}

// Recordings whose checksums are right and whose contents are not.
class ForgedRecording : public Recording {
 protected:
  void SetUp() override {
    Recording::SetUp();
    write_sample(1);
    whole_ = bytes_of(path_);
  }

  // Offset of the payload of the nth block of a kind.
  size_t payload_of(uint32_t kind) const {
    for (size_t at = sizeof(recording::Header);;) {
      recording::BlockHead head{};
      std::memcpy(&head, whole_.data() + at, sizeof head);
      if (head.kind == kind) return at + sizeof head;
      at += sizeof head + head.length;
    }
  }

  template <class T>
  std::string error_with(uint32_t kind, size_t offset, T value) {
    std::string forged = whole_;
    size_t payload = payload_of(kind);
    std::memcpy(forged.data() + payload + offset, &value, sizeof value);
    recording::BlockHead head{};
    std::memcpy(&head, forged.data() + payload - sizeof head, sizeof head);
    head.crc = static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(forged.data() + payload), head.length));
    std::memcpy(forged.data() + payload - sizeof head, &head, sizeof head);
    overwrite(forged);
    return open_error();
  }

  std::string whole_;
};

TEST_F(ForgedRecording, EventsAreChecked) {
  using recording::EventHead;
  const uint32_t kind = recording::events;
  EXPECT_THAT(error_with(kind, offsetof(EventHead, length), uint32_t{0}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, length), UINT32_MAX), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, probe_id), uint32_t{6}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, args), uint16_t{0xffff}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, args), uint16_t{0}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, execname), uint8_t{255}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, memory), uint8_t{255}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, frames), uint16_t{3}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, frames), uint16_t{0xffff}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, late), uint16_t{1}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, offsetof(EventHead, late), uint16_t{0xffff}), HasSubstr("an event is malformed"));
  EXPECT_THAT(error_with(kind, sizeof(EventHead) + 16 + 7 + 16 + 8, UINT32_MAX), HasSubstr("an event is malformed"));
}

TEST_F(ForgedRecording, ProbesProcessesAndCountsAreChecked) {
  using recording::ProbeHead;
  EXPECT_THAT(error_with(recording::probes, offsetof(ProbeHead, site), uint8_t{9}), HasSubstr("a probe is malformed"));
  EXPECT_THAT(error_with(recording::probes, offsetof(ProbeHead, id), UINT32_MAX), HasSubstr("a probe is malformed"));
  EXPECT_THAT(error_with(recording::probes, offsetof(ProbeHead, id), uint32_t{9}), HasSubstr("a probe is malformed"));  // twice
  EXPECT_THAT(error_with(recording::probes, sizeof(ProbeHead), uint16_t{0xffff}), HasSubstr("a probe is malformed"));
  EXPECT_THAT(error_with(recording::probes, sizeof(ProbeHead) + 2, '\0'), HasSubstr("a probe is malformed"));
  EXPECT_THAT(error_with(recording::processes, sizeof(recording::ProcessHead), uint16_t{500}),
              HasSubstr("a process is malformed"));
  EXPECT_THAT(error_with(recording::trailer, 0, uint64_t{2}), HasSubstr("the number of events is wrong"));
}

}  // namespace
}  // namespace dvm::runtime
