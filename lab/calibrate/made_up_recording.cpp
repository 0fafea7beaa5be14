// Covered by tests/unit/lab/calibrate_test.cpp.

#include "lab/calibrate/made_up_recording.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <tuple>

#include "lab/calibrate/script_cases.h"

namespace dvm::runtime {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kProbe = 100;  // its id
constexpr uint64_t kPointer = 0x1000, kFunction = 64;
constexpr int32_t kProcess = 1000;

vm::Firing made_up_firing(const std::string& execname) {
  vm::Firing firing;
  firing.probe_id = kProbe;
  firing.timestamp = 1'000'000'000;
  firing.pid = firing.tid = kProcess;
  firing.args = {1, 42, kPointer};
  firing.execname = execname;
  return firing;
}

// From kPointer on, one after the other.
std::vector<uint64_t> made_up_stack(unsigned frames) {
  std::vector<uint64_t> stack;
  for (unsigned i = 0; i < frames; i++) stack.push_back(kPointer + i * kFunction);
  return stack;
}

void name_functions(UserSymbols& symbols, unsigned frames) {
  for (unsigned i = 0; i < std::max(frames, 1u); i++) {
    const uint64_t address = kPointer + i * kFunction;
    symbols.use_recorded(kProcess, address, {"libmadeup.so.1", fmt::format("made_up_function_{}", i), address - 8, kPointer - 8});
  }
}

}  // namespace

Result<std::shared_ptr<const MadeUpRecording>> MadeUpRecording::of(uint64_t firings, unsigned memory, unsigned frames) {
  static std::map<std::tuple<uint64_t, unsigned, unsigned>, std::shared_ptr<const MadeUpRecording>> made;
  auto& known = made[{firings, memory, frames}];
  if (known) return known;
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return Error{fmt::format("there is no folder for temporary files: {}", error.message())};
  const std::string path = (folder / fmt::format("dvm-made-up-{}", getpid())).string();
  std::shared_ptr<MadeUpRecording> recording(new MadeUpRecording);
  const Status written = recording->write(path, firings, memory, frames);
  unlink(path.c_str());
  if (!written) return written.error();
  known = recording;
  return known;
}

Status MadeUpRecording::write(const std::string& path, uint64_t firings, unsigned memory, unsigned frames) {
  auto writer = RecordingWriter::open(path, 0);
  if (!writer) return writer.error();
  (*writer)->add_probe({.id = kProbe, .provider = "replay", .name = "firing", .site = UprobeSite{"", 1, false, kProcess}});
  const std::string execname(kExecnameBytes - 1, 'x'), text(memory, 'a');
  const vm::CapturedMemory captured{kPointer, std::as_bytes(std::span(text.c_str(), text.size() + 1)), true};
  const std::vector<uint64_t> stack = made_up_stack(frames);
  name_functions(*(*writer)->symbols(), frames);
  vm::Firing firing = made_up_firing(execname);
  firing.stack = stack;
  if (memory != 0) firing.memory = std::span(&captured, 1);
  for (uint64_t i = 0; i < firings; i++, firing.timestamp += 1000) (*writer)->write(firing);
  if (Status finished = (*writer)->finish(0); !finished) return finished;
  auto reader = RecordingReader::open(path);
  if (!reader) return reader.error();
  reader_ = std::move(*reader);
  event_bytes_ = static_cast<double>(reader_->size()) / static_cast<double>(firings);
  return {};
}

}  // namespace dvm::runtime
