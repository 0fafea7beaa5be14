#pragma once
// A recording from anywhere: what the reader admits is replayed to its end.

#include <unistd.h>
#include <zlib.h>

#include <cstring>

#include "runtime/instrument/replay/recording.h"
#include "runtime/instrument/replay/recording_format.h"
#include "runtime/instrument/replay/replay.h"
#include "tests/fuzz/fuzz_support.h"

namespace dvm::fuzz {

// Reads every byte that a firing refers to.
class TouchingSink : public runtime::EventSink {
 public:
  bool fire(vm::Firing& firing) noexcept override {
    fired++;
    for (const auto& pieces : {firing.memory, firing.late})
      for (const vm::CapturedMemory& memory : pieces)
        for (std::byte byte : memory.bytes) sum += static_cast<uint64_t>(byte);
    for (uint64_t frame : firing.stack) sum += frame;
    sum += std::strlen(firing.execname.data());
    return true;
  }
  uint64_t fired = 0, sum = 0;
};

// Puts right checksums on every block that is where a block should be.
inline void seal(std::string& bytes) {
  using runtime::recording::BlockHead, runtime::recording::Header;
  auto crc = [&](size_t at, size_t size) {
    return static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + at), static_cast<uInt>(size)));
  };
  if (bytes.size() < sizeof(Header)) return;
  uint32_t header = crc(0, offsetof(Header, crc));
  std::memcpy(bytes.data() + offsetof(Header, crc), &header, sizeof header);
  for (size_t at = sizeof(Header); bytes.size() - at >= sizeof(BlockHead);) {
    BlockHead head{};
    std::memcpy(&head, bytes.data() + at, sizeof head);
    if (head.length > bytes.size() - at - sizeof head) return;
    head.crc = crc(at + sizeof head, head.length);
    std::memcpy(bytes.data() + at, &head, sizeof head);
    at += sizeof head + head.length;
  }
}

// True when the recording was replayed, false when it was refused.
inline bool replay(MemoryFile& file, std::string_view bytes) {
  require(file.write(bytes), "the input can be written to memory");
  auto reader = runtime::RecordingReader::open(file.path());
  if (!reader) {
    require(reader.error().message.find("byte ") != std::string::npos, "an error names the byte");
    return false;
  }
  runtime::Catalog catalog;
  if (!(*reader)->add_probes(catalog)) return false;
  std::vector<runtime::EnabledProbe> enabled;
  for (const runtime::Probe& each : catalog.probes()) enabled.push_back({&each, {}});
  const uint64_t events = (*reader)->events();
  auto instrument = runtime::make_replay_instrument(std::move(*reader));
  std::vector<runtime::Refused> refused;
  require(!!instrument->enable(enabled, refused), "the probes of a recording can be enabled");
  TouchingSink sink;
  while (!instrument->finished()) require(!!instrument->poll(sink), "what was checked can be read");
  require(sink.fired == events, "every event fires");
  return true;
}

}  // namespace dvm::fuzz
