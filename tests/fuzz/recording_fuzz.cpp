// Damaged recordings, with and without a right checksum: reading them must end with an error, or with firings of probes that are
// in the recording and of memory that is there.

#include <gtest/gtest.h>

#include "tests/fuzz/replay.h"
#include "tests/fuzz/run_recording.h"

namespace dvm::runtime {
namespace {

class RecordingFuzz : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + fmt::format("recording-fuzz-{}", getpid());
    auto writer = RecordingWriter::open(path, 1);
    ASSERT_TRUE(writer) << writer.error().message;
    for (uint32_t id : {4, 5, 6}) (*writer)->add_probe(probe(id));
    (*writer)->symbols()->use_recorded(1, {MappedObject{"a", "/a", "/a", true, 0x10, 0}});
    (*writer)->symbols()->use_recorded(1, 0x10, {"a", "f", 0x8, 0x8});
    for (uint64_t i = 0; i < 12; i++) write(**writer, i);
    ASSERT_TRUE((*writer)->finish(0));
    whole_ = fuzz::read_file(path);
    unlink(path.c_str());
  }

  static Probe probe(uint32_t id) {
    Probe probe;
    probe.id = id;
    probe.provider = "pid1";
    probe.module = "module";
    probe.function = fmt::format("f{}", id);
    probe.name = "entry";
    probe.site = UprobeSite{"", id, false, 1};
    if (id == 6) probe.site = TimerSite{1'000'000, true};
    return probe;
  }

  static void write(RecordingWriter& writer, uint64_t i) {
    std::string text(i * 3, 't');
    vm::CapturedMemory memory{i, std::as_bytes(std::span(text.c_str(), text.size() + 1)), true};
    vm::Firing firing;
    firing.probe_id = static_cast<uint32_t>(4 + i % 3);
    firing.timestamp = i * 1000;
    firing.pid = 1 + static_cast<int32_t>(i);
    firing.args = {i, 0, i};
    firing.execname = "fuzz";
    firing.memory = std::span(&memory, i % 2);
    firing.late = std::span(&memory, i % 3 == 0 ? 1 : 0);
    const std::array<uint64_t, 2> stack = {0x10, i};
    firing.stack = std::span(stack).first(i % 3);
    writer.write(firing);
  }

  void replay(const std::string& bytes) {
    const bool is_sound = fuzz::replay(file_, bytes);
    (is_sound ? replayed_ : refused_)++;
    if (is_sound) fuzz::run_recording(file_, bytes);
  }

  void run(unsigned seed, bool sealed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 4000 && !HasFatalFailure(); i++) {
      std::string bytes = fuzz::damage(whole_, random, 0, whole_.size());
      if (sealed) fuzz::seal(bytes);
      replay(bytes);
    }
    RecordProperty("replayed", replayed_);
    RecordProperty("refused", refused_);
  }

  fuzz::MemoryFile file_;
  std::string whole_;
  int replayed_ = 0, refused_ = 0;
};

TEST_F(RecordingFuzz, Damaged) {
  run(1, false);
  EXPECT_GT(refused_, 3500);
}

TEST_F(RecordingFuzz, DamagedBehindRightChecksums) {
  run(2, true);
  EXPECT_GT(refused_, 1000);
  EXPECT_GT(replayed_, 100);
}

TEST_F(RecordingFuzz, Junk) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; i++) {
    std::string bytes(random() % 2048, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (bytes.size() > 40) std::memcpy(bytes.data(), whole_.data(), 40);
    if (i % 2 == 0) fuzz::seal(bytes);
    replay(bytes);
  }
  EXPECT_EQ(replayed_, 0);
}

}  // namespace
}  // namespace dvm::runtime
